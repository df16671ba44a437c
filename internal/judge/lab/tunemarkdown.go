package lab

import (
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/template"
)

//go:embed tune.md.tmpl
var tunePage string

// Markdown writes the page of figures about the tuner.
func (r *TuneReport) Markdown(w io.Writer) error {
	t, err := template.New("tune").Funcs(template.FuncMap{"thousands": thousands, "join": strings.Join}).Parse(tunePage)
	if err != nil {
		return fmt.Errorf("page of the lab: %w", err)
	}
	return t.Execute(w, r)
}

// Broken counts the promises that do not hold.
func (r *TuneReport) Broken() int {
	n := 0
	for _, c := range r.Claims {
		if !c.Holds {
			n++
		}
	}
	return n
}

// ClaimTable returns the promises and the measured values.
func (r *TuneReport) ClaimTable() string {
	t := newTable("promise", "limit", "measured", "holds")
	for _, c := range r.Claims {
		bound, holds := "at most ", "yes"
		if c.Least {
			bound = "at least "
		}
		if !c.Holds {
			holds = "**no**"
		}
		t.row(c.Text, bound+strconv.FormatFloat(c.Limit, 'g', 4, 64), strconv.FormatFloat(c.Value, 'g', 3, 64), holds)
	}
	return t.String()
}

// SpaceTable returns the spaces that were searched.
func (r *TuneReport) SpaceTable() string {
	t := newTable("space", "points", "of them failing", "hours for all of them")
	for _, s := range r.Spaces {
		t.row(s.Name, thousands(s.Points), thousands(s.Failed), fmt.Sprintf("%.1f", s.Hours))
	}
	return t.String()
}

// MeanTable returns the means of the strategies and the anchors over the common spaces, the best after
// 100 evaluations first.
func (r *TuneReport) MeanTable() string {
	spaces := r.Common
	if len(spaces) == 0 || !r.covers(spaces) {
		spaces = nil
		for _, s := range r.Spaces {
			spaces = append(spaces, s.Name)
		}
	}
	type line struct {
		name  string
		by    float64
		cells []string
	}
	var lines []line
	add := func(rows []TuneRow, label string) {
		var seen []string
		for _, x := range rows {
			if slices.Contains(seen, x.Strategy) {
				continue
			}
			seen = append(seen, x.Strategy)
			l := line{name: label + x.Strategy}
			whole := false
			for _, n := range anchorEvaluations {
				v, ok := meanOver(x.Strategy, n, spaces, rows)
				if whole = whole || ok; !ok {
					l.cells = append(l.cells, "")
					continue
				}
				l.cells = append(l.cells, fmt.Sprintf("%.3f", v))
				if n == 100 {
					l.by = v
				}
			}
			if whole {
				lines = append(lines, l)
			}
		}
	}
	add(r.Rows, "pawl ")
	add(r.Anchors, "anchor ")
	slices.SortStableFunc(lines, func(a, b line) int {
		switch {
		case a.by > b.by:
			return -1
		case a.by < b.by:
			return 1
		}
		return 0
	})
	t := newTable("strategy", "after 20", "50", "100", "200")
	for _, l := range lines {
		t.row(append([]string{l.name}, l.cells...)...)
	}
	return t.String()
}

// CountTable returns every strategy on every space.
func (r *TuneReport) CountTable() string {
	t := newTable("space", "strategy", "after 20", "50", "100", "200", "a tenth is below, at 100")
	for _, x := range r.Rows {
		cells := []string{x.Space, x.Strategy}
		tenth := ""
		for _, n := range anchorEvaluations {
			v, ok := x.At(n)
			if !ok {
				cells = append(cells, "")
				continue
			}
			cells = append(cells, fmt.Sprintf("%.3f", v))
		}
		for _, l := range x.Levels {
			if l.Evaluations == 100 {
				tenth = fmt.Sprintf("%.3f", l.P10)
			}
		}
		t.row(append(cells, tenth)...)
	}
	return t.String()
}

// BehindTable returns the spaces on which another tool is better.
func (r *TuneReport) BehindTable() string {
	t := newTable("space", "pawl auto after 100", "the best anchor", "its mean")
	for _, l := range r.Behind() {
		t.row(l.Space, fmt.Sprintf("%.3f", l.Own), l.Anchor, fmt.Sprintf("%.3f", l.Other))
	}
	return t.String()
}

// CostTable returns the tuner's progress by seconds.
func (r *TuneReport) CostTable() string {
	t := newTable("space", "random after 1 h", "seconds until auto is there, median", "auto after 6 min", "repeats that were not")
	for _, c := range r.Costs {
		t.row(c.Space, fmt.Sprintf("%.3f", c.Random), fmt.Sprintf("%.0f", c.Seconds), fmt.Sprintf("%.3f", c.Six), strconv.Itoa(c.Never))
	}
	return t.String()
}

// NoiseTable returns the effect of noise.
func (r *TuneReport) NoiseTable() string {
	t := newTable("space", "medians", "raw times", "chosen at the end", "within 1 % of the best evaluated", "raw times for the choice")
	for _, n := range r.Noises {
		t.row(n.Space, fmt.Sprintf("%.3f", n.Quiet), fmt.Sprintf("%.3f", n.Noisy), fmt.Sprintf("%.3f", n.Chosen.Mean), fmt.Sprintf("%.0f %%", 100*n.Chosen.Within), fmt.Sprintf("%.0f", n.Chosen.Draws))
	}
	return t.String()
}

// TransferTable returns the effect of a warm start.
func (r *TuneReport) TransferTable() string {
	t := newTable("from", "to", "warm after 20", "cold after 20", "cold after 60", "warm after 100", "cold after 100")
	for _, x := range r.Transfer {
		cells := []string{x.From, x.To}
		for _, v := range []float64{x.Warm20, x.Cold20, x.Cold60, x.Warm100, x.Cold100} {
			cells = append(cells, fmt.Sprintf("%.3f", v))
		}
		t.row(cells...)
	}
	return t.String()
}
