package sections

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/goatnote-inc/pawl/internal/forge"
)

var sameSections = cmp.AllowUnexported(section{})

func anySection(t *rapid.T) section {
	return newSection(forge.Section{
		Key:  rapid.StringMatching(`[a-z0-9]{1,3}(/[a-z0-9]{1,4})?`).Draw(t, "key"),
		Body: strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 12).Draw(t, "body"), ""),
	})
}

// pieces are what breaks parsers of comments.
var pieces = []string{
	"text", "\n", "\r\n", " ", "<!-- pawl:report -->", "<!-- pawl:section a sha256=", strings.Repeat("0", 64), " -->", "-->",
	"<!-- /pawl:section a -->", "<!--", "```\n", "<details>", "</details>", "\x00", "\xff", "\U0001F600", "| a | b |\n", "&lt;!-- pawl:",
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var sections []section
		for range rapid.IntRange(0, 6).Draw(t, "sections") {
			sections = put(sections, anySection(t))
		}
		got, ok := parse(render(sections))
		if d := cmp.Diff(sections, got, sameSections, cmpopts.EquateEmpty()); d != "" || !ok {
			t.Fatal(d, ok)
		}
	})
}

func TestPutLeavesOthersAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var sections []section
		for range rapid.IntRange(0, 6).Draw(t, "sections") {
			sections = put(sections, anySection(t))
		}
		s := anySection(t)
		after := put(sections, s)
		if !slices.Contains(after, s) {
			t.Fatal("not there")
		}
		other := func(all []section) []section {
			return slices.DeleteFunc(slices.Clone(all), func(o section) bool { return o.key == s.key })
		}
		if d := cmp.Diff(other(sections), other(after), sameSections, cmpopts.EquateEmpty()); d != "" {
			t.Fatal(d)
		}
	})
}

func TestTooMuchIsShortened(t *testing.T) {
	short := newSection(forge.Section{Key: "a", Body: "short"})
	long := newSection(forge.Section{Key: "b", Body: strings.Repeat("a line of the report\n", 5000)})
	folded := newSection(forge.Section{Key: "c", Body: "<details><summary>all</summary>\n\n```text\n" + strings.Repeat("\U0001F600 row\n", 9000) + "```\n</details>"})
	for _, tc := range []struct {
		name     string
		sections []section
	}{
		{"one", []section{long}},
		{"beside a short one", []section{short, long}},
		{"two", []section{short, long, folded}},
		{"in a line", []section{newSection(forge.Section{Key: "x", Body: strings.Repeat("x", 200_000)})}},
		{"all there can be", func() (all []section) {
			for i := range maxSections {
				key := fmt.Sprintf("%02d/%s", i, strings.Repeat("k", keyLimit-3))
				all = append(all, newSection(forge.Section{Key: key, Body: strings.Repeat("line\n", 5000)}))
			}
			return all
		}()},
	} {
		t.Run(tc.name, func(t *testing.T) {
			body := render(tc.sections)
			if n := length(body); n > commentLimit {
				t.Errorf("%d characters", n)
			}
			got, ok := parse(body)
			if !ok || len(got) != len(tc.sections) {
				t.Fatalf("%d sections of %d", len(got), len(tc.sections))
			}
			for i, s := range got {
				want := tc.sections[i]
				if s.digest != want.digest {
					t.Errorf("section %s has another digest: it would be written again and again", s.key)
				}
				if whole := s.text == want.text; whole == strings.Contains(s.text, cutNote) {
					t.Errorf("section %s: whole %v, and says the opposite:\n%.100s", s.key, whole, s.text)
				}
				text, _, _ := strings.Cut(s.text, cutNote)
				if open := closing(text); open != "" {
					t.Errorf("section %s leaves %q open", s.key, open)
				}
			}
			if tc.name != "in a line" && tc.name != "all there can be" && length(body) < commentLimit*9/10 {
				t.Errorf("only %d characters: too much was cut", length(body))
			}
			if render(got) != body {
				t.Error("what is shortened is shortened again")
			}
		})
	}
	if got, _ := parse(render([]section{short, long})); got[0] != short {
		t.Error("the short one was cut for the long one")
	}
}

func TestWriterDecides(t *testing.T) {
	mine := newSection(forge.Section{Key: "m", Body: "mine"})
	old := newSection(forge.Section{Key: "m", Body: "before"})
	newer := newSection(forge.Section{Key: "m", Body: "of a later run"})
	other := newSection(forge.Section{Key: "o", Body: "other"})
	comment := func(id int64, s ...section) Note { return Note{ID: id, Body: render(s), URL: "u"} }
	for _, tc := range []struct {
		name  string
		quiet bool
		looks [][]Note // the writer writes after the first
		want  Action
	}{
		{"nothing there", false, [][]Note{nil}, Action{Kind: Create, Body: render([]section{mine})}},
		{"nothing there, quiet", true, [][]Note{nil}, Action{}},
		{"there", false, [][]Note{{comment(1, mine)}}, Action{url: "u"}},
		{"old one there", false, [][]Note{{comment(1, old, other)}}, Action{Kind: Edit, ID: 1, Body: render([]section{mine, other})}},
		{"undone by a slow writer", false, [][]Note{{comment(1, old)}, {comment(1, old, other)}}, Action{Kind: Edit, ID: 1, Body: render([]section{mine, other})}},
		{"gone", false, [][]Note{{comment(1, old)}, {comment(1, other)}}, Action{Kind: Edit, ID: 1, Body: render([]section{mine, other})}},
		{"overtaken", false, [][]Note{{comment(1, old)}, {comment(1, newer)}}, Action{url: "u"}},
		{"two, not merged", false, [][]Note{{comment(1, other), comment(2, mine)}}, Action{Kind: Edit, ID: 1, Body: render([]section{mine, other})}},
		{"two, merged", false, [][]Note{{comment(1, mine, other), comment(2, mine)}}, Action{Kind: Remove, ID: 2}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := &writer{mine: mine, quiet: tc.quiet}
			var got Action
			for _, look := range tc.looks {
				got = w.next(look)
				w.wrote = true
			}
			if got != tc.want {
				t.Errorf("got %+v, want %+v", got, tc.want)
			}
		})
	}
}

func TestTooManySections(t *testing.T) {
	var all []section
	for i := range maxSections {
		all = put(all, newSection(forge.Section{Key: fmt.Sprint("k", i), Body: "x"}))
	}
	w := &writer{mine: newSection(forge.Section{Key: "one-more", Body: "x"})}
	if got := w.next([]Note{{ID: 1, Body: render(all)}}); got.Kind != full {
		t.Errorf("%+v", got)
	}
}

// Anybody may have edited the comment that is read.
func FuzzParse(f *testing.F) {
	good := render([]section{newSection(forge.Section{Key: "a/b", Body: "x\n\ny"}), newSection(forge.Section{Key: "c", Body: "```\n"})})
	f.Add(good)
	f.Add(strings.Replace(good, "<!-- /pawl:section a/b -->", "", 1))
	f.Add(good + good)
	f.Add(strings.ReplaceAll(good, "\n", "\r\n"))
	f.Add(reportMark + "\n<!-- pawl:section a--b sha256=" + strings.Repeat("0", 64) + " -->\n")
	f.Fuzz(func(t *testing.T, body string) {
		sections, ok := parse(body)
		if !ok && sections != nil {
			t.Fatal("sections of what is no report")
		}
		for i, s := range sections {
			if !validKey(s.key) || i > 0 && sections[i-1].key >= s.key {
				t.Fatalf("keys %q", s.key)
			}
		}
		text := render(sections)
		if length(text) > commentLimit {
			t.Fatalf("%d characters", length(text))
		}
		again, ok := parse(text)
		if !ok || len(again) != len(sections) || render(again) != text {
			t.Fatalf("it does not stay:\n%q\n%q", text, render(again))
		}
	})
}
