package lesson

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/base/strictyaml"
	"github.com/goatnote-inc/pawl/internal/explain/diagnose"
)

// Bounds of what a lesson may say: far beyond any that somebody wants to read.
const (
	MaxFile = 64 << 10 // bytes

	maxTitle   = 120 // characters
	maxText    = 2000
	maxSymptom = 1000
	maxName    = 120
	maxList    = 20
	maxTests   = 20
	maxFacts   = 60
)

// Classes lists what a lesson may be about: the bottlenecks of a diagnosis, and what goes
// wrong before and beside them.
func Classes() []string {
	var list []string
	for _, b := range []diagnose.Bottleneck{diagnose.Memory, diagnose.Compute, diagnose.Latency, diagnose.Launch, diagnose.Occupancy, diagnose.Balanced} {
		list = append(list, string(b))
	}
	return append(list, "build", "correctness", "environment", "measurement", "method")
}

const fence = "---"

var (
	fixIDForm  = lazyregexp.New(`^([a-z0-9][a-z0-9-]{0,79}/[1-9]|lesson/[a-z0-9][a-z0-9-]{0,79})$`)
	gpuForm    = lazyregexp.New(`^(cpu|sm_[0-9]{1,3}[a-z]?|sm_[0-9]{0,2}\*)$`)
	familyForm = lazyregexp.New(`^[a-z0-9][a-z0-9_-]{0,39}$`)
)

// Parse reads the text of a lesson; file is what mistakes are told by. Texts of the front
// matter are one paragraph each: any white space between two words is one space. The name is
// not in the text. An error is a strictyaml.Errors.
func Parse(file string, data []byte) (*Lesson, error) {
	r := &reader{Walker: strictyaml.Walker{Problems: &strictyaml.Problems{}, File: file}}
	front, body, ok := r.split(data)
	if !ok {
		return nil, r.Err()
	}
	l := &Lesson{State: Proposed, Body: body}
	if root := r.parse(front); root != nil {
		r.lesson(root, l)
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	return l, nil
}

// split takes front matter and body apart, and refuses what cannot be shown as it is.
func (r *reader) split(data []byte) (front []byte, body string, ok bool) {
	if len(data) > MaxFile {
		r.note(1, 1, "", "the file has more than %d bytes", MaxFile)
		return nil, "", false
	}
	if !utf8.Valid(data) {
		r.note(1, 1, "", "the file is not UTF-8 text")
		return nil, "", false
	}
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	line, col := 1, 1
	for _, c := range string(data) {
		if hidden(c) {
			r.note(line, col, "remove it", "there is a character that nobody sees, U+%04X", c)
			return nil, "", false
		}
		if col++; c == '\n' {
			line, col = line+1, 1
		}
	}
	rest, found := strings.CutPrefix(string(data), fence+"\n")
	if !found {
		r.note(1, 1, "title, symptom, class, cause, fix and source stand between two lines of ---", "a lesson begins with a line of ---")
		return nil, "", false
	}
	end := strings.Index("\n"+rest+"\n", "\n"+fence+"\n")
	if end < 0 {
		r.note(1, 1, "", "the front matter has no end: a second line of --- is missing")
		return nil, "", false
	}
	body = ""
	if after := end + len(fence) + 1; after <= len(rest) {
		body = rest[after:]
	}
	return []byte(rest[:end]), strings.Trim(body, "\n"), true
}

// hidden tells of characters that a reader does not see.
func hidden(c rune) bool {
	if c >= ' ' && c <= '~' || c == '\n' || c == '\t' { // nearly all that there is
		return false
	}
	return unicode.In(c, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// lesson reads the front matter.
func (r *reader) lesson(root *yaml.Node, l *Lesson) {
	seen := r.mapping(root, "a lesson", map[string]func(*yaml.Node){
		"title":   func(n *yaml.Node) { l.Title = r.text(n, "title", maxTitle) },
		"symptom": func(n *yaml.Node) { r.symptom(n, l) },
		"class":   func(n *yaml.Node) { l.Class = r.word(n, "class", Classes()) },
		"cause":   func(n *yaml.Node) { l.Cause = r.text(n, "cause", maxText) },
		"fix":     func(n *yaml.Node) { l.Fix = r.text(n, "fix", maxText) },
		"fix_id": func(n *yaml.Node) {
			l.FixID = r.formed(n, "fix_id", fixIDForm, "a rule and the number of its fix: bank-conflicts/1")
		},
		"gpus": func(n *yaml.Node) {
			l.GPUs = r.list(n, "gpus", func(n *yaml.Node) string { return r.formed(n, "gpus", gpuForm, "sm_89, sm_9* or cpu") })
		},
		"kernels": func(n *yaml.Node) {
			l.Kernels = r.list(n, "kernels", func(n *yaml.Node) string {
				return r.formed(n, "kernels", familyForm, "a family in small letters: attention")
			})
		},
		"source": func(n *yaml.Node) {
			l.Source = r.list(n, "source", func(n *yaml.Node) string { return r.text(n, "source", maxText) })
		},
		"author":  func(n *yaml.Node) { l.Author = r.text(n, "author", maxName) },
		"state":   func(n *yaml.Node) { l.State = State(r.word(n, "state", states)) },
		"claim":   func(n *yaml.Node) { l.Claim = r.claim(n) },
		"written": func(n *yaml.Node) { l.Written = r.time(n) },
		"tests":   func(n *yaml.Node) { r.tests(n, l) },
	})
	for _, key := range []string{"title", "symptom", "class", "cause", "fix", "source"} {
		if seen != nil && !seen[key] {
			r.Fail(root, "", "a lesson needs %s", key)
		}
	}
	if r.Found == 0 {
		r.hold(l)
	}
}

var states = []string{string(Proposed), string(Confirmed), string(Refuted)}

// symptom reads the expression, and tells mistakes at their place inside of it.
func (r *reader) symptom(n *yaml.Node, l *Lesson) {
	l.Symptom = r.text(n, "symptom", maxSymptom)
	if l.Symptom == "" {
		return
	}
	bound, err := compile(l.Symptom)
	if err == nil {
		l.speaks = bound
		return
	}
	pos, msg, hint := position(err)
	at := r.At(n)
	switch {
	case strings.Contains(n.Value, "\n"), n.Style&(yaml.FoldedStyle|yaml.LiteralStyle) != 0, n.Value != l.Symptom:
	case n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0:
		at.Col += pos + 1
	default:
		at.Col += pos
	}
	r.AddAt(at, hint, "symptom: %s", msg)
}

// claim reads a share of the time.
func (r *reader) claim(n *yaml.Node) *float64 {
	x, ok := r.number(n, "claim")
	if ok && (x <= 0 || x >= 1) {
		r.Fail(n, "0.2 is a fifth of the time", "claim: want a share of the time that is saved, above 0 and below 1")
		ok = false
	}
	if !ok {
		return nil
	}
	return &x
}

// time reads a day or a moment.
func (r *reader) time(n *yaml.Node) time.Time {
	s := r.text(n, "written", maxName)
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(layout, s); err == nil && t.Year() > 0 {
			return t.UTC().Truncate(time.Second)
		}
	}
	if s != "" {
		r.Fail(n, "2026-01-31, or 2026-01-31T12:00:00Z", "written: %.40q is no time", s)
	}
	return time.Time{}
}

// tests reads the examples.
func (r *reader) tests(n *yaml.Node, l *Lesson) {
	if n.Kind != yaml.SequenceNode || len(n.Content) > maxTests {
		r.Fail(n, "", "tests: want a list of at most %d", maxTests)
		return
	}
	for _, item := range n.Content {
		var t Test
		seen := r.mapping(item, "a test", map[string]func(*yaml.Node){
			"name":   func(n *yaml.Node) { t.Name = r.text(n, "name", maxTitle) },
			"want":   func(n *yaml.Node) { t.Speaks = r.word(n, "want", []string{"speaks", "silent"}) == "speaks" },
			"gpu":    func(n *yaml.Node) { t.GPU = r.text(n, "gpu", maxName) },
			"kernel": func(n *yaml.Node) { t.Kernel = r.text(n, "kernel", maxName) },
			"facts":  func(n *yaml.Node) { t.Facts = r.facts(n) },
		})
		if seen != nil && (!seen["want"] || !seen["facts"]) {
			r.Fail(item, "", "a test needs want (speaks or silent) and facts")
		}
		l.Tests = append(l.Tests, t)
		r.places = append(r.places, item)
	}
}

// facts reads numbers under the names of facts.
func (r *reader) facts(n *yaml.Node) map[string]float64 {
	facts := map[string]float64{}
	if n.Kind != yaml.MappingNode || len(n.Content) > 2*maxFacts {
		r.Fail(n, "", "facts: want a mapping of at most %d", maxFacts)
		return facts
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		_, twice := facts[key.Value]
		if _, ok := known().slots[key.Value]; !ok {
			r.Fail(key, near(key.Value), "facts: there is no fact %.40q", key.Value)
		} else if twice {
			r.Fail(key, "", "facts: %s is there twice", key.Value)
		} else if x, ok := r.number(n.Content[i+1], key.Value); ok {
			facts[key.Value] = x
		}
	}
	return facts
}

// hold refuses a lesson that does not do what its own examples say.
func (r *reader) hold(l *Lesson) {
	for i, t := range l.Tests {
		if got := l.Speaks(Facts{Numbers: t.Facts, GPU: t.GPU, Kernel: t.Kernel}); got != t.Speaks {
			word := map[bool]string{true: "speaks", false: "is silent"}
			r.Fail(r.places[i], "", "the lesson %s here, and the test says that it %s", word[got], word[t.Speaks])
		}
	}
}

// number reads a finite number.
func (r *reader) number(n *yaml.Node, what string) (float64, bool) {
	x, err := strconv.ParseFloat(n.Value, 64)
	if n.Kind != yaml.ScalarNode || n.Style != 0 || err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		r.Fail(n, "", "%s: want a number", what)
		return 0, false
	}
	return x, true
}

// word reads one of a few.
func (r *reader) word(n *yaml.Node, what string, words []string) string {
	s := r.text(n, what, maxName)
	if s != "" && !slices.Contains(words, s) {
		r.Fail(n, "one of "+strings.Join(words, ", "), "%s: %.40q is none", what, s)
		return ""
	}
	return s
}

// formed reads a text that looks like something.
func (r *reader) formed(n *yaml.Node, what string, form *lazyregexp.Regexp, example string) string {
	s := r.text(n, what, maxName)
	if s != "" && !form.MatchString(s) {
		r.Fail(n, example, "%s: not %.60q", what, s)
		return ""
	}
	return s
}

func (r *reader) note(line, col int, hint, format string, args ...any) {
	r.AddAt(strictyaml.Position{File: r.File, Line: line, Col: col}, hint, format, args...)
}
