package lab

import (
	_ "embed"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"text/template"
)

//go:embed judge.md.tmpl
var page string

// Markdown writes the page of figures. It refers to the plots of Plots as files beside it.
func (r *Report) Markdown(w io.Writer) error {
	t, err := template.New("judge").Funcs(template.FuncMap{"percent": percent, "share": digits, "thousands": thousands}).Parse(page)
	if err != nil {
		return fmt.Errorf("page of the lab: %w", err)
	}
	return t.Execute(w, r)
}

// table builds a Markdown table whose first column is left-aligned and the others right-aligned.
type table struct{ strings.Builder }

func newTable(head ...string) *table {
	var t table
	t.row(head...)
	fmt.Fprintf(&t, "| --- |%s\n", strings.Repeat(" ---: |", len(head)-1))
	return &t
}

func (t *table) row(cells ...string) { fmt.Fprintf(t, "| %s |\n", strings.Join(cells, " | ")) }

// ClaimTable returns the promises and the measured values.
func (r *Report) ClaimTable() string {
	t := newTable("promise", "limit", "measured", "holds")
	for _, c := range r.Claims {
		bound := "at most "
		if c.Least {
			bound = "at least "
		}
		limit := strconv.FormatFloat(c.Limit, 'g', 4, 64)
		var value string
		switch {
		case c.Rate != nil:
			limit, value = percent(c.Limit), shareOf(c.Rate.Count, c.Rate.Trials)
		case c.Unit == "%":
			limit, value = percent(c.Limit), fmt.Sprintf("%s %% (+- %s)", digits(c.Value), digits(2*c.Error))
		case c.Unit == "":
			value = strconv.FormatFloat(c.Value, 'f', 0, 64)
		default:
			limit += " " + c.Unit
			value = strconv.FormatFloat(c.Value, 'f', 2, 64) + " " + c.Unit
		}
		holds := "yes"
		if !c.Holds {
			holds = "**no**"
		}
		t.row(c.Text, bound+limit, value, holds)
	}
	return t.String()
}

// Broken counts the promises that do not hold.
func (r *Report) Broken() int {
	n := 0
	for _, c := range r.Claims {
		if !c.Holds {
			n++
		}
	}
	return n
}

// MethodTable returns all methods on the typical machine with one shape of noise.
func (r *Report) MethodTable(shape Shape) string {
	return r.sideBySideTable(Generated, shape, typical)
}

// SpaceTable returns all methods on the recorded tuning spaces.
func (r *Report) SpaceTable() string { return r.sideBySideTable(Spaces, Gaussian, 0.008) }

func (r *Report) sideBySideTable(corpus string, shape Shape, spread float64) string {
	t := newTable("method", "rounds", "same code: regression", "improvement", "no answer", "4 % slower: found", "6 % slower: found")
	for _, m := range r.Methods {
		same, ok := r.find(corpus, m.Name, shape, spread, 0)
		if !ok {
			continue
		}
		four, _ := r.find(corpus, m.Name, shape, spread, 0.04)
		six, _ := r.find(corpus, m.Name, shape, spread, 0.06)
		t.row(m.Name, fmt.Sprintf("%.1f", same.MeanRounds()),
			shareOf(same.Regression, same.Trials), shareOf(same.Improvement, same.Trials), shareOf(same.Abstains, same.Trials),
			shareOf(four.Regression, four.Trials), shareOf(six.Regression, six.Trials))
	}
	return t.String()
}

// RecordedTable returns the counts of all methods on recordings of the same code.
func (r *Report) RecordedTable() string {
	t := newTable("method", "pairs: regression", "improvement", "nothing", "no answer", "several rounds: regression", "improvement", "nothing", "no answer")
	for _, m := range r.Methods {
		pairs, ok := r.find(Recorded, m.Name, "", 0, 0)
		several, also := r.find(Several, m.Name, "", 0, 0)
		if !ok || !also {
			continue
		}
		n := strconv.Itoa
		t.row(m.Name, n(pairs.Regression), n(pairs.Improvement), n(pairs.Nothing), n(pairs.Abstains),
			n(several.Regression), n(several.Improvement), n(several.Nothing), n(several.Abstains))
	}
	return t.String()
}

// GridTable returns pawl alone, at every spread and shape.
func (r *Report) GridTable() string {
	t := newTable("spread, shape", "rounds, same code", "false regression", "false improvement", "no answer", "4 % found", "rounds", "6 % found", "rounds")
	for _, spread := range Spreads {
		for _, shape := range Shapes {
			same, ok := r.find(Generated, "pawl", shape, spread, 0)
			if !ok {
				continue
			}
			four, _ := r.find(Generated, "pawl", shape, spread, 0.04)
			six, _ := r.find(Generated, "pawl", shape, spread, 0.06)
			t.row(fmt.Sprintf("%s, %s", percent(spread), shape), fmt.Sprintf("%.1f", same.MeanRounds()),
				shareOf(same.Regression, same.Trials), shareOf(same.Improvement, same.Trials), shareOf(same.Abstains, same.Trials),
				shareOf(four.Regression, four.Trials), fmt.Sprintf("%.1f", four.MeanRounds()),
				shareOf(six.Regression, six.Trials), fmt.Sprintf("%.1f", six.MeanRounds()))
		}
	}
	return t.String()
}

// SuiteTable returns the runs of whole suites.
func (r *Report) SuiteTable() string {
	t := newTable("run", "runs", "any regression", "any improvement", "no answer", "rounds a case")
	for _, row := range r.Rows {
		if row.Corpus == Suite {
			what := "same code"
			if row.Effect > 0 {
				what = "every case " + percent(row.Effect) + " slower"
			}
			t.row(fmt.Sprintf("%s, %s, %s, %s", row.Note, what, percent(row.Spread), row.Shape), thousands(row.Trials),
				shareOf(row.Regression, row.Trials), shareOf(row.Improvement, row.Trials), shareOf(row.Abstains, row.Trials), fmt.Sprintf("%.1f", row.MeanRounds()))
		}
	}
	return t.String()
}

// CurseTable returns what many runs do to a baseline.
func (r *Report) CurseTable() string {
	t := newTable("baseline", "shape", "moved, of so many runs", "faster than the truth by", "innocent changes failed", "without an answer")
	for _, c := range r.Curses {
		t.row(c.Baseline, string(c.Shape), fmt.Sprintf("%d of %s", c.Moved, thousands(c.Runs)), fmt.Sprintf("%s %% (+- %s)", digits(c.Bias), digits(2*c.BiasError)),
			shareOf(c.Gates.Regression, c.Gates.Trials), shareOf(c.Gates.Abstains, c.Gates.Trials))
	}
	return t.String()
}

// StressTable returns the results where the judge's assumptions do not hold.
func (r *Report) StressTable() string {
	t := newTable("machine", "method", "true slowdown", "says regression", "says nothing", "no answer", "rounds")
	for _, row := range r.Rows {
		if row.Corpus == Stress {
			t.row(row.Note, row.Method, percent(row.Effect), shareOf(row.Regression, row.Trials), shareOf(row.Nothing, row.Trials),
				shareOf(row.Abstains, row.Trials), fmt.Sprintf("%.1f", row.MeanRounds()))
		}
	}
	return t.String()
}

// Gain returns how often pawl detects a gain of 12 %; empty if it was not measured.
func (r *Report) Gain() string {
	row, _ := r.find(Generated, "pawl", Gaussian, typical, gain)
	return shareOf(row.Improvement, row.Trials)
}

// shareOf formats a rate with its interval, in percent: "0.02 % (0.01 to 0.06)".
func shareOf(count, trials int) string {
	if trials == 0 {
		return ""
	}
	r := NewRate(count, trials)
	return fmt.Sprintf("%s %% (%s to %s)", digits(r.Value), digits(r.Low), digits(r.High))
}

// digits formats a share in percent with a suitable number of digits.
func digits(x float64) string {
	switch x *= 100; {
	case x == 0 || x == 100:
		return strconv.FormatFloat(x, 'f', 0, 64)
	case math.Abs(x) < 0.1:
		return strconv.FormatFloat(x, 'f', 3, 64)
	case math.Abs(x) < 10 || x > 90:
		return strconv.FormatFloat(x, 'f', 2, 64)
	default:
		return strconv.FormatFloat(x, 'f', 1, 64)
	}
}

func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
