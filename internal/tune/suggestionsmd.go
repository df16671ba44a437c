package tune

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/tune/space"
)

// Markdown writes the suggestions for people: tuning/suggestions.md.
func (s *Suggestions) Markdown(w io.Writer) error {
	m := &markdown{}
	m.line("# Tuning %s", text(s.Header.Case))
	m.line("**%s**", text(s.Headline))
	m.line("%s", s.about(text, name))
	for _, n := range s.Notes {
		m.line("> %s", text(n))
	}
	m.suggestion(s)
	m.proof(s)
	m.configs(s)
	m.line("## What mattered")
	m.items(s.Mattered)
	if s.Importance.Unknown == "" {
		m.line("%s", text(s.Importance.method()))
	}
	if len(s.Alternatives) > 0 {
		m.line("## Nearly as fast")
		m.line("Within %.0f %% of the best time in the search. Differences of this size may be noise.", 100*nearOptimal)
		m.row("evaluation", "time", "over the best", "what is different")
		m.row("---:", "---:", "---:", "---")
		for _, a := range s.Alternatives {
			m.row(fmt.Sprint(a.N), words.Quantity(a.Value, "ns"), words.Percent(a.Over), text(a.Differs))
		}
		m.b.WriteByte('\n')
		if s.Common != "" {
			m.line("%s", text(s.Common))
		}
	}
	m.failures(s)
	m.line("## Not explored")
	m.items(s.Unexplored)
	m.line("## What it took")
	m.items(s.Cost)
	m.line("Every evaluation is in %s. To repeat the search:", name(s.Journal))
	m.fence("sh", words.Sanitize(s.Command))
	if m.b.Len() > 0 {
		if _, err := io.WriteString(w, strings.TrimRight(m.b.String(), "\n")+"\n"); err != nil {
			return fmt.Errorf("cannot write suggestions: %w", err)
		}
	}
	return nil
}

// about says on which device and how the search ran. Code formats text to be copied, word
// everything else.
func (s *Suggestions) about(word, code func(string) string) string {
	h := s.Header
	list := []string{"Searched"}
	if h.Device.Name != "" {
		list = append(list, "on "+word(h.Device.Name))
	}
	if h.Commit != "" {
		list = append(list, "at commit "+code(h.Commit[:min(len(h.Commit), 12)]))
		if h.Dirty {
			list = append(list, "with changes")
		}
	}
	if h.Strategy != "" {
		list = append(list, "using the strategy "+word(h.Strategy))
	}
	list = append(list, fmt.Sprintf("with seed %d", h.Seed))
	if !s.Created.IsZero() {
		list = append(list, "on "+s.Created.UTC().Format("2006-01-02 15:04 UTC"))
	}
	return strings.Join(list, " ") + "."
}

// method says how importance was computed, and its limits.
func (m Importance) method() string {
	return fmt.Sprintf("Shares of the variance of the logarithm of the time over the whole space, with 90 %% intervals: "+
		"boosted trees were trained on %d evaluations, and predict %.0f %% of the differences between evaluations that they have not seen. "+
		"A search mostly tries fast points: the shares do not cover slow regions that it did not visit.", m.Evaluations, 100*m.Fit)
}

func (m *markdown) suggestion(s *Suggestions) {
	if s.point == nil {
		return
	}
	m.line("## %s", titles[s.Advice])
	m.row("parameter", "default", "suggested", "share of the differences")
	m.row("---", "---:", "---:", "---")
	for _, x := range s.Settings {
		value := name(valueText(x.Value))
		if x.Changed {
			value = "**" + value + "**"
		}
		m.row(name(x.Name), name(valueText(x.Default)), value, x.Matters)
	}
	m.b.WriteByte('\n')
	m.line("Apply it in one of these ways:")
	for _, f := range s.Forms {
		m.form(f)
	}
}

func (m *markdown) proof(s *Suggestions) {
	if s.Proof == nil || len(s.Proof.Finalists) == 0 {
		return
	}
	m.line("## The proof")
	m.line("The best points of the search were measured again in fresh processes, alternating with the defaults, and judged: %d rounds per side. Every sample is in %s.", s.Proof.Rounds, name(s.Proof.Record))
	m.row("point", "case", "speed-up", "95 % interval", "answer")
	m.row("---", "---", "---:", "---", "---")
	for _, f := range s.Proof.Finalists {
		label := text(s.diffFromDefaults(f.Point))
		for _, c := range f.Cases {
			if c.Excluded != "" {
				m.row(label, text(c.Case), "-", "-", "not allowed for this case: "+text(c.Excluded))
			} else {
				m.row(label, text(c.Case), fmt.Sprintf("%.2fx", c.Speedup), interval(c.Low, c.High), answer(c.Answer, string(c.Verdict)))
			}
			label = ""
		}
		if b := f.Baseline; b != nil {
			m.row(label, text(b.Case)+" against the baseline "+name(s.Proof.Baseline[:min(len(s.Proof.Baseline), 12)]), fmt.Sprintf("%.2fx", b.Speedup), interval(b.Low, b.High), answer(b.Answer, string(b.Verdict)))
		}
	}
	m.b.WriteByte('\n')
}

func interval(low, high float64) string {
	if low <= 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f to %.2f", low, high)
}

// answer describes a comparison in a word or two.
func answer(a Answer, verdict string) string {
	switch {
	case a == Small:
		return fmt.Sprintf("faster by less than %.0f %%", 100*MinGain)
	case a == Faster:
		return "faster"
	case verdict == "regression":
		return "**slower**"
	case a == Same:
		return "no gain"
	case verdict == "broken":
		return "**broken**"
	}
	return "inconclusive"
}

func (m *markdown) configs(s *Suggestions) {
	choices := s.choices()
	if len(choices) == 0 {
		return
	}
	m.line("## By config")
	m.line("The best known point of every config of %s:", name(s.benchmark()))
	m.row("case", "point", "speed-up", "95 % interval")
	m.row("---", "---", "---:", "---")
	for _, c := range choices {
		m.row(text(c.Case), text(s.choiceText(c)), fmt.Sprintf("%.2fx", c.Speedup), interval(c.Low, c.High))
	}
	m.b.WriteByte('\n')
	if s.Dispatch != nil {
		m.form(*s.Dispatch)
	}
}

// choices returns the points by config, if there is a choice.
func (r *Report) choices() []Choice {
	if r.Proof == nil || len(r.Proof.Choices) < 2 || len(r.Proof.Finalists) == 0 {
		return nil
	}
	return r.Proof.Choices
}

// choiceText formats the point of a config in one line.
func (r *Report) choiceText(c Choice) string {
	switch {
	case Key(c.Point) != Key(r.defaults()):
		return r.pointText(c.Point)
	case c.Significant:
		return "the defaults"
	}
	return "the defaults (no answer)"
}

// diffFromDefaults lists how a point differs from the defaults.
func (r *Report) diffFromDefaults(point map[string]any) string {
	var list []string
	for _, p := range r.ordered(point) {
		if !space.Same(point[p.Name], p.Default) {
			list = append(list, p.Name+"="+valueText(point[p.Name]))
		}
	}
	if len(list) == 0 {
		return "the defaults"
	}
	return words.Sanitize(strings.Join(list, " "))
}

// pointText formats a point in one line.
func (r *Report) pointText(point map[string]any) string {
	return words.Sanitize(r.assigned(point, "", valueText))
}

func (m *markdown) failures(s *Suggestions) {
	if len(s.Failures) == 0 {
		return
	}
	m.line("## What failed")
	for _, f := range s.Failures {
		m.line("- %s", text(f.sentence(len(s.Evaluations))))
		m.b.Truncate(m.b.Len() - 1)
		for _, r := range f.Rules {
			m.line("  - %s: %d of %d%s.", name(r.Condition), r.Points, r.Points, map[bool]string{true: " that compile"}[f.Status != CompileError])
			m.b.Truncate(m.b.Len() - 1)
		}
	}
	m.b.WriteByte('\n')
}

// sentence says how many points failed, and their message.
func (f Failure) sentence(of int) string {
	out := fmt.Sprintf("%d of %d %s.", f.Count, of, f.Words)
	if f.Why != "" {
		out += " The most frequent reason: " + strings.TrimSuffix(words.Sanitize(f.Why), ".") + "."
	}
	if len(f.Rules) > 0 {
		out += " All points fail where:"
	}
	return out
}

// markdown is a Markdown text being written. Text from a suite or a journal must go through
// text or name first, so that it does not become markup.
type markdown struct{ b bytes.Buffer }

// text escapes s but keeps it readable as source: an underscore inside a word is not
// markup.
func text(s string) string {
	s = words.MarkdownText(words.Sanitize(s))
	for range 2 { // a_b_c overlaps
		s = inWord.ReplaceAllString(s, "${1}_$2")
	}
	return s
}

func name(s string) string {
	if s = words.Sanitize(s); condensed.MatchString(s) {
		return "`" + s + "`"
	}
	return words.MarkdownCode(s)
}

var (
	inWord    = lazyregexp.New(`([A-Za-z0-9])\\_([A-Za-z0-9])`)
	condensed = lazyregexp.New(`^[A-Za-z0-9_]+( (\*|>|<|=|>=|<=|and) [A-Za-z0-9_.]+)*$`) // a name, or a condition
)

// line writes a paragraph.
func (m *markdown) line(format string, args ...any) {
	fmt.Fprintf(&m.b, format+"\n\n", args...)
}

func (m *markdown) items(list []string) {
	for _, s := range list {
		fmt.Fprintf(&m.b, "- %s\n", text(s))
	}
	m.b.WriteByte('\n')
}

func (m *markdown) row(cells ...string) {
	fmt.Fprintf(&m.b, "| %s |\n", strings.Join(cells, " | "))
}

func (m *markdown) form(f Form) {
	m.line("%s", strings.TrimSpace(fmt.Sprintf("**%s.** %s", text(f.Title), text(f.Note))))
	m.fence(f.Language, f.Text)
}

// fence writes body literally, in a fence that body cannot end.
func (m *markdown) fence(language, body string) {
	mark := "```"
	for strings.Contains(body, mark) {
		mark += "`"
	}
	fmt.Fprintf(&m.b, "%s%s\n%s\n%s\n\n", mark, language, strings.TrimRight(body, "\n"), mark)
}
