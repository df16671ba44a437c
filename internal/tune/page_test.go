package tune_test

import (
	"bytes"
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/base/golden"
	"github.com/goatnote-inc/pawl/internal/tune"
	"github.com/goatnote-inc/pawl/internal/tune/space"
)

func pageOf(t testing.TB, r *tune.Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := tune.NewSuggestions(r).HTML(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

var (
	styles = regexp.MustCompile(`(?s)<style>.*?</style>`)
	tags   = regexp.MustCompile(`<[^>]*>`)
	blanks = regexp.MustCompile(`\s*\n\s*`)
)

// What a person reads on the page, without how it looks.
func TestPageText(t *testing.T) {
	text := strings.ReplaceAll(styles.ReplaceAllString(pageOf(t, proven(matmul(), tune.Faster, 2.31)), ""), "</text>", "\n")
	got := strings.TrimSpace(blanks.ReplaceAllString(html.UnescapeString(tags.ReplaceAllString(text, "\n")), "\n")) + "\n"
	golden.Check(t, "page-faster.txt", got)
}

// The page loads nothing, runs nothing, and stays in one piece whatever a name is.
func TestPageOfHostileNames(t *testing.T) {
	plain, hostile := pageOf(t, proven(matmul(), tune.Faster, 1.5)), pageOf(t, hostile())
	for _, page := range []string{plain, hostile} {
		if !strings.Contains(page, "default-src &#39;none&#39;") || !strings.Contains(page, "script-src &#39;none&#39;") {
			t.Error("the policy lets something run")
		}
		for _, no := range []string{"<img", "<script", "src=\"", "://", "url(", " style=\"", "\u202e", "ZgotmplZ"} {
			if at := strings.Index(page, no); at >= 0 {
				t.Errorf("%q in the page: %.120q", no, page[max(at-40, 0):])
			}
		}
	}
	// A name adds no element.
	count := func(page, tag string) int { return strings.Count(page, "<"+tag) }
	for _, tag := range []string{"section", "h1", "h2", "table", "main"} {
		if got, want := count(hostile, tag), count(plain, tag); got != want {
			t.Errorf("%d <%s>, want %d", got, tag, want)
		}
	}
}

// Searches of any size have a page: with nothing, with one evaluation, with failures only.
func TestPageOfLittle(t *testing.T) {
	whole := matmul()
	for name, cut := range map[string]func(*tune.Report){
		"nothing": func(r *tune.Report) { r.Evaluations, r.Default = nil, tune.Evaluation{} },
		"one":     func(r *tune.Report) { r.Evaluations = r.Evaluations[:1] },
		"six":     func(r *tune.Report) { r.Evaluations = r.Evaluations[:6] },
		"failed": func(r *tune.Report) {
			r.Evaluations = []tune.Evaluation{{Point: r.Default.Point, Status: tune.Timeout}}
		},
		"no space":     func(r *tune.Report) { r.Header.Space = tune.Space{} },
		"one value":    func(r *tune.Report) { r.Header.Space.Parameters = r.Header.Space.Parameters[:1] },
		"empty proof":  func(r *tune.Report) { r.Proof = &tune.Proof{Winner: -1, Answer: tune.Same} },
		"odd winner":   func(r *tune.Report) { r.Proof = &tune.Proof{Winner: 7, Answer: tune.Faster} },
		"other values": func(r *tune.Report) { r.Header.Space.Parameters[0].Values = []any{"none"} },
		"no values":    func(r *tune.Report) { r.Header.Space.Parameters[0].Values = nil },
	} {
		r := *whole
		r.Header.Space.Parameters = append([]space.Parameter(nil), whole.Header.Space.Parameters...)
		cut(&r)
		_, s := rendered(t, &r)
		if s.Headline == "" && r.Proof == nil {
			t.Errorf("%s: nothing is said", name)
		}
		var b bytes.Buffer
		if err := s.HTML(&b); err != nil || !strings.Contains(b.String(), "</html>") {
			t.Errorf("%s: the page has no end: %v", name, err)
		}
	}
}
