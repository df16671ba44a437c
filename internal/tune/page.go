package tune

import (
	"bufio"
	_ "embed" // embeds the parts of the page
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/chart"
	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/report"
)

// The page is one file with inline style. The policy in its head blocks all other loads and
// all scripts, whatever a parameter is named.
var (
	//go:embed page/tuning.html
	pageText string
	//go:embed page/style.css
	pageOwn string

	page = template.Must(template.New("tuning").Funcs(template.FuncMap{
		"clean": words.Sanitize, "value": func(v any) string { return words.Sanitize(valueText(v)) }, "percent": words.Percent, "interval": interval,
		"time":   func(ns float64) string { return words.Quantity(ns, "ns") },
		"answer": func(c Comparison) string { return strings.Trim(answer(c.Answer, string(c.Verdict)), "*") },
	}).Parse(pageText))
)

// HTML writes the suggestions with figures as one page that needs no network:
// tuning/report.html.
func (s *Suggestions) HTML(w io.Writer) error {
	b := bufio.NewWriterSize(w, 1<<16)
	if err := page.Execute(b, newPageView(s)); err != nil {
		return fmt.Errorf("cannot write the page of a search: %w", err)
	}
	return b.Flush()
}

// pageView is the suggestions as the template sees them. The template sanitizes text of a suite, a journal or a device with clean;
// template.HTML fields are drawn by pawl.
type pageView struct {
	*Suggestions
	Policy           string
	Style            template.CSS
	Badge, Title     string
	Facts            []factView
	Progress, Strips []chart.Figure
	Bars, Parallel   *chart.Figure
	Choices          []Choice
	About, Method    string
}

type factView struct{ Label, Text string }

func newPageView(s *Suggestions) pageView {
	style := report.PageStyle() + pageOwn
	v := pageView{
		Suggestions: s, Policy: report.PagePolicy(style), Style: template.CSS(style), //nolint:gosec // both are ours
		Badge: badges[s.Advice], Facts: s.facts(), Choices: s.choices(), About: s.about(words.Sanitize, words.Sanitize),
	}
	if s.point != nil {
		v.Title = titles[s.Advice]
	}
	if s.Importance.Unknown == "" {
		v.Method = s.Importance.method()
	}
	v.draw(s)
	return v
}

// Diff lists how a point differs from the defaults.
func (v pageView) Diff(point map[string]any) string { return v.diffFromDefaults(point) }

// ChoiceText formats the point of a config in one line.
func (v pageView) ChoiceText(c Choice) string { return v.choiceText(c) }

// Failure says how many points failed, and their message.
func (v pageView) Failure(f Failure) string { return f.sentence(len(v.Evaluations)) }

var (
	badges = map[Advice]string{Change: "faster", Optional: "little gain", Unproven: "not proven", Keep: "keep"}
	titles = map[Advice]string{Change: "What to change", Optional: "What could be changed", Unproven: "What was best in the search"}
)

// facts describes the search.
func (s *Suggestions) facts() []factView {
	h := s.Header
	failed := 0
	for _, e := range s.Evaluations {
		if e.Status != OK {
			failed++
		}
	}
	list := []factView{{"device", h.Device.Name}, {"commit", h.Commit[:min(len(h.Commit), 12)]}, {"strategy", h.Strategy}, {"seed", fmt.Sprint(h.Seed)}}
	count := fmt.Sprint(len(s.Evaluations))
	if h.Space.Points > 0 {
		count += fmt.Sprintf(" of %d points", h.Space.Points)
	}
	list = append(list, factView{"evaluations", count}, factView{"failed", fmt.Sprint(failed)}, factView{"took", span(s.Seconds)})
	if s.Proof != nil && s.Proof.Rounds > 0 {
		list = append(list, factView{"proof", span(s.Proof.Seconds)})
	}
	if d := s.Default; d.Status == OK {
		list = append(list, factView{"default", words.Quantity(d.Value, "ns")})
	}
	if best, ok := Best(s.Evaluations); ok {
		list = append(list, factView{"best", words.Quantity(best.Value, "ns")})
	}
	var out []factView
	for _, f := range list {
		if f.Text = words.Sanitize(f.Text); f.Text != "" {
			out = append(out, f)
		}
	}
	return out
}
