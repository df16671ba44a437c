package lesson

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

var ignoreCompiled = cmpopts.IgnoreUnexported(Lesson{})

const whole = `---
title: Rows of 32 words conflict
symptom: bank_conflict_pct > 10 and l1_pct >= 60
class: memory
cause: >-
  All lanes of a warp
  meet in one bank.
fix: "pad: one element a row"
fix_id: bank-conflicts/1
gpus: [sm_89, 'sm_9*']
kernels: [matmul]
source:
  - run 01J0
  - session 20261115T201530Z-00aabb
author: Ada
state: proposed
claim: 0.15
written: 2026-11-15
tests:
  - {name: a column, want: speaks, gpu: sm_89, kernel: sgemm, facts: {bank_conflict_pct: 88, l1_pct: 92}}
  - {want: silent, gpu: sm_75, kernel: sgemm, facts: {bank_conflict_pct: 88, l1_pct: 92}}
---

What else is known.
`

func TestParse(t *testing.T) {
	got, err := Parse("a.md", []byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	claim := 0.15
	facts := map[string]float64{"bank_conflict_pct": 88, "l1_pct": 92}
	want := &Lesson{
		Title: "Rows of 32 words conflict", Symptom: "bank_conflict_pct > 10 and l1_pct >= 60", Class: "memory",
		Cause: "All lanes of a warp meet in one bank.", Fix: "pad: one element a row", FixID: "bank-conflicts/1",
		GPUs: []string{"sm_89", "sm_9*"}, Kernels: []string{"matmul"}, Source: []string{"run 01J0", "session 20261115T201530Z-00aabb"},
		Author: "Ada", State: Proposed, Claim: &claim, Written: time.Date(2026, 11, 15, 0, 0, 0, 0, time.UTC),
		Tests: []Test{{"a column", true, "sm_89", "sgemm", facts}, {"", false, "sm_75", "sgemm", facts}},
		Body:  "What else is known.",
	}
	if diff := cmp.Diff(want, got, ignoreCompiled); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	windows, err := Parse("a.md", []byte(strings.ReplaceAll(whole, "\n", "\r\n")))
	if diff := cmp.Diff(want, windows, ignoreCompiled); diff != "" || err != nil {
		t.Errorf("with the line ends of Windows: %v (-want +got):\n%s", err, diff)
	}
}

// Each mistake is told at its place, with what to do.
func TestParseMistakes(t *testing.T) {
	front := func(lines ...string) string {
		return "---\ntitle: T\nclass: memory\ncause: C\nfix: F\nsource: [S]\n" + strings.Join(lines, "\n") + "\n---\n"
	}
	for name, test := range map[string]struct{ text, want string }{
		"empty":                      {"", "x.md:1:1: a lesson begins with a line of --- (title, symptom, class, cause, fix and source stand between two lines of ---)"},
		"no end":                     {"---\ntitle: T\n", "x.md:1:1: the front matter has no end: a second line of --- is missing"},
		"nothing in it":              {"---\n---\n", "x.md:1:1: the front matter is empty"},
		"no mapping":                 {"---\n- a\n---\n", "x.md:2:1: a lesson: want a mapping"},
		"not YAML":                   {front("symptom: a: b"), "x.md:7:1: not YAML: mapping values are not allowed in this context (put text with a colon in quotes, or on lines of its own under >-)"},
		"missing":                    {front(), "x.md:2:1: a lesson needs symptom"},
		"unknown key":                {front("symptom: changed > 1", "sympton: x"), `x.md:8:1: a lesson has no key "sympton" (did you mean "symptom"?)`},
		"twice":                      {front("symptom: changed > 1", "fix: G"), `x.md:8:1: a lesson has the key "fix" twice`},
		"unknown fact":               {front("symptom: changed > 1 and bank_conflicts_pct > 0"), `x.md:7:26: symptom: there is no fact "bank_conflicts_pct" (did you mean "bank_conflict_pct"?)`},
		"in quotes":                  {front("symptom: 'bank_conflicts_pct > 0'"), `x.md:7:11: symptom: there is no fact "bank_conflicts_pct" (did you mean "bank_conflict_pct"?)`},
		"no condition":               {front("symptom: changed"), "x.md:7:10: symptom: expected true or false, got a number (compare it with a value)"},
		"always":                     {front("symptom: 1 < 2"), "x.md:7:10: symptom: it asks for no fact (a lesson that always speaks says nothing)"},
		"class":                      {front("symptom: changed > 1", "state: maybe"), `x.md:8:8: state: "maybe" is none (one of proposed, confirmed, refuted)`},
		"claim of all":               {front("symptom: changed > 1", "claim: 1"), "x.md:8:8: claim: want a share of the time that is saved, above 0 and below 1 (0.2 is a fifth of the time)"},
		"claim in words":             {front("symptom: changed > 1", "claim: .nan"), "x.md:8:8: claim: want a number"},
		"fix id":                     {front("symptom: changed > 1", "fix_id: ../x"), `x.md:8:9: fix_id: not "../x" (a rule and the number of its fix: bank-conflicts/1)`},
		"gpu":                        {front("symptom: changed > 1", "gpus: L4"), `x.md:8:7: gpus: not "L4" (sm_89, sm_9* or cpu)`},
		"time":                       {front("symptom: changed > 1", "written: soon"), `x.md:8:10: written: "soon" is no time (2026-01-31, or 2026-01-31T12:00:00Z)`},
		"alias":                      {front("symptom: changed > 1", "author: &a A", "body: *a"), `x.md:9:1: a lesson has no key "body" (there are author, cause, claim, class, fix, fix_id, gpus, kernels, source, state, symptom, tests, title, written)`},
		"an alias for text":          {"---\ntitle: &a T\nsymptom: changed > 1\nclass: memory\ncause: *a\nfix: F\nsource: [S]\n---\n", "x.md:5:8: cause: want text"},
		"an escape that is not seen": {front("symptom: changed > 1", `author: "a\u202eb"`), "x.md:8:9: author: there is a character in it that nobody sees"},
		"a character not seen":       {front("symptom: changed > 1", "author: a\u202eb"), "x.md:8:10: there is a character that nobody sees, U+202E (remove it)"},
		"an escape sequence":         {front("symptom: changed > 1") + "\x1b[2J", "x.md:9:1: there is a character that nobody sees, U+001B (remove it)"},
		"test without facts":         {front("symptom: changed > 1", "tests: [{want: speaks}]"), "x.md:8:9: a test needs want (speaks or silent) and facts"},
		"test that fails":            {front("symptom: changed > 1", "tests:", "  - {want: speaks, facts: {changed: 1}}"), "x.md:9:5: the lesson is silent here, and the test says that it speaks"},
		"test of an unknown fact":    {front("symptom: changed > 1", "tests:", "  - {want: silent, facts: {chnged: 1}}"), `x.md:9:28: facts: there is no fact "chnged" (did you mean "changed"?)`},
		"too large":                  {strings.Repeat("x", MaxFile+1), "x.md:1:1: the file has more than 65536 bytes"},
		"too long":                   {front("symptom: changed > 1", "author: "+strings.Repeat("x", 121)), "x.md:8:9: author: more than 120 characters"},
		"no UTF-8":                   {"---\n\xff", "x.md:1:1: the file is not UTF-8 text"},
		"several": {
			"---\ntitle: T\nclass: fast\n---\n",
			"x.md:2:1: a lesson needs symptom\nx.md:2:1: a lesson needs cause\nx.md:2:1: a lesson needs fix\nx.md:2:1: a lesson needs source\n" +
				`x.md:3:8: class: "fast" is none (one of memory, compute, latency, launch, occupancy, balanced, build, correctness, environment, measurement, method)`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse("x.md", []byte(test.text))
			if err == nil {
				t.Fatal("no error")
			}
			if diff := cmp.Diff(test.want, err.Error()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// anyText is text as people and programs write it, with what means something in YAML and
// Markdown.
var anyText = rapid.Map(rapid.SliceOfN(rapid.OneOf(
	rapid.SampledFrom([]string{"a", "no", "---", "- x", ": ", "#", "\"", "'", "\\", "{", "]", "%", "@", "|", ">", "&x", "*y", "!t", "null", "12", "~", "é", "…", "\n", "\t", "  ", "x: y", "`", "<b>"}),
	rapid.StringMatching(`[a-zA-Z0-9 .,:;_-]{1,20}`),
), 1, 12), func(parts []string) string { return "w" + strings.Join(parts, " ") })

var anyLesson = rapid.Custom(func(t *rapid.T) *Lesson {
	text := func(name string) string { return paragraph(anyText.Draw(t, name)) }
	l := &Lesson{
		Title: cut(text("title"), maxTitle), Class: rapid.SampledFrom(Classes()).Draw(t, "class"), Cause: text("cause"), Fix: text("fix"),
		Symptom: rapid.SampledFrom([]string{"changed > 1", "block_size % 32 != 0", "dram_pct < 50 and (sm_pct < 20 or l1_pct > 3)"}).Draw(t, "symptom"),
		State:   State(rapid.SampledFrom(states).Draw(t, "state")), Source: []string{text("source")},
		Body: strings.Trim(strings.ReplaceAll(anyText.Draw(t, "body"), "\r", ""), "\n"),
	}
	if rapid.Bool().Draw(t, "more") {
		claim := rapid.Float64Range(0.001, 0.999).Draw(t, "claim")
		l.Claim, l.FixID, l.Author = &claim, "narrow-loads/1", cut(text("author"), maxName)
		l.GPUs, l.Kernels = []string{"sm_9*", "cpu"}, []string{"attention"}
		l.Source = append(l.Source, text("second source"))
		l.Written = time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "written"), 0).UTC()
		l.Tests = []Test{{Name: cut(text("test"), maxTitle), GPU: "sm_75", Facts: map[string]float64{"changed": rapid.Float64Range(-1e9, 1e9).Draw(t, "fact")}}}
	}
	return l
})

// What Write gives, Parse reads, whatever the texts are.
func TestWriteParses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := anyLesson.Draw(t, "lesson")
		text, err := Write(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Parse("x.md", text)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, ignoreCompiled); diff != "" {
			t.Fatalf("%s(-want +got):\n%s", text, diff)
		}
	})
}

func TestWriteRefuses(t *testing.T) {
	l := Lesson{Title: "T\x1b[2J", Symptom: "changed > 1", Class: "memory", Cause: "C", Fix: "F", Source: []string{"S"}}
	if _, err := Write(&l); err == nil {
		t.Error("an escape sequence was written")
	}
	l.Title, l.Symptom = "T", "nothing > 1"
	if _, err := Write(&l); err == nil {
		t.Error("a symptom of an unknown fact was written")
	}
}

func TestName(t *testing.T) {
	for title, want := range map[string]string{
		"Rows of 32 words: a conflict!":  "rows-of-32-words-a-conflict-",
		"…":                              "lesson-",
		strings.Repeat("long words ", 9): "long-words-long-words-long-words-long-words-",
	} {
		got := Name(title, []byte("x"))
		if !strings.HasPrefix(got, want) || len(got) != len(want)+6 || !nameForm.MatchString(got) {
			t.Errorf("%q is named %s, want %s and a digest", title, got, want)
		}
	}
}

// Whatever is read does not panic, and what can be read can be written and read again.
func FuzzParse(f *testing.F) {
	f.Add([]byte(whole))
	f.Add([]byte("---\n---\n"))
	f.Add([]byte("---\ntitle: [\n---"))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := Parse("x.md", data)
		if err != nil {
			return
		}
		text, err := Write(l)
		if err != nil {
			t.Fatalf("cannot be written again: %v", err)
		}
		again, err := Parse("x.md", text)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(l, again, ignoreCompiled, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("(-first +again):\n%s", diff)
		}
	})
}

func FuzzParseReview(f *testing.F) {
	f.Add([]byte(`{"lesson":"a-000000","state":"refuted","reason":"r","by":"b","time":"2026-01-01T00:00:00Z"}`))
	f.Fuzz(func(_ *testing.T, data []byte) { _, _ = ParseReview(data) })
}
