package artifact

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/report/sweep"
)

// figure is a drawing and the table it is shown with.
type figure struct {
	path, title, beside string
	body                []byte
}

// A page has a readable number of configs. A sweep of thousands is better read in its
// tables.
const (
	configsOnPage = 40
	maxPages      = 10
)

// figures draws the speed of all implementations and the speed-up of the subject.
func figures(r *sweep.Result) []figure {
	var list []figure
	for page := range min((len(r.Configs)+configsOnPage-1)/configsOnPage, maxPages) {
		configs := r.Configs[page*configsOnPage : min((page+1)*configsOnPage, len(r.Configs))]
		suffix := ""
		if len(r.Configs) > configsOnPage {
			suffix = fmt.Sprintf("-%d", page+1)
		}
		for _, f := range []struct {
			name, beside string
			chart        bandChart
		}{
			{"speed", "ranking", speedChart(r, configs)},
			{"speedup", "speedup-by-config", speedupChart(r, configs, page == 0)},
		} {
			list = append(list, figure{"figures/" + f.name + suffix + ".svg", f.chart.title, f.beside, f.chart.draw()})
		}
	}
	return list
}

// places returns the index and look of each implementation, the same in all figures.
func places(r *sweep.Result) (looks []markStyle, of map[string]int) {
	of = map[string]int{}
	for i, name := range r.Implementations {
		looks, of[name] = append(looks, lookOf(i)), i
	}
	return looks, of
}

// about describes a figure that is shown without its page.
func about(r *sweep.Result) string {
	return fmt.Sprintf("%s on %s, %s", cmp.Or(r.Suite, "sweep"), r.Device, words.Plural(r.Rounds, "round"))
}

// speedChart shows work per second if the suite declares the work, which makes configs
// comparable, otherwise time.
func speedChart(r *sweep.Result, configs []sweep.Config) bandChart {
	m := metricOf(configs)
	looks, of := places(r)
	c := bandChart{
		title: m.title, axisText: m.unit, about: about(r), note: "marks: geometric mean over rounds; bars: 95 % interval",
		zero: m.work != nil, names: r.Implementations, looks: looks, tick: m.tick,
	}
	for _, config := range configs {
		b := band{label: config.Name}
		for _, s := range config.Standings {
			b.points = append(b.points, m.point(of[s.Implementation], s, config))
		}
		c.bands = append(c.bands, b.with(config.Lacking, of, 0))
	}
	return c
}

// with adds the points without a value and sorts all points in legend order. The legend
// omits the first without implementations.
func (b band) with(lacking []sweep.Omission, of map[string]int, without int) band {
	for _, l := range lacking {
		if n := of[l.Name] - without; n >= 0 {
			b.points = append(b.points, point{of: n, lacks: l.Reason})
		}
	}
	slices.SortFunc(b.points, func(x, y point) int { return x.of - y.of })
	return b
}

// speedupChart shows how many times faster the subject is than each other implementation.
func speedupChart(r *sweep.Result, configs []sweep.Config, withMean bool) bandChart {
	looks, of := places(r)
	c := bandChart{
		title: "Speed-up of " + r.Subject + " against", axisText: "times as fast", about: about(r), one: true,
		note:  "right of 1: " + words.Sanitize(r.Subject) + " is faster; hollow: cannot be told apart; bars: 95 % interval",
		names: r.Implementations[1:], looks: looks[1:],
		tick: func(v float64) string { return short(v) + "x" },
	}
	if withMean {
		b := band{label: "geometric mean"}
		for _, s := range r.Speedups {
			if s.Rounds > 0 {
				b.points = append(b.points, ratioPoint(of[s.Against]-1, s.Ratio, significant(r, s)))
			}
		}
		c.bands = append(c.bands, b)
	}
	for _, config := range configs {
		b := band{label: config.Name}
		for _, p := range config.Pairs {
			if p.Of == r.Subject {
				b.points = append(b.points, ratioPoint(of[p.Against]-1, p.Ratio, p.Told))
			}
		}
		c.bands = append(c.bands, b.with(config.Lacking, of, 1))
	}
	return c
}

// significant reports whether a mean differs from 1: by the test over all pairs if it covers the
// common set, otherwise by its own interval.
func significant(r *sweep.Result, s sweep.Speedup) bool {
	for _, p := range r.Overall.Pairs {
		if p.Of == r.Subject && p.Against == s.Against && s.Configs == len(r.Overall.Configs) {
			return p.Told
		}
	}
	return s.Interval != nil && (s.Interval.Low > 1 || s.Interval.High < 1)
}

func ratioPoint(of int, r sweep.Ratio, sure bool) point {
	p := point{of: of, value: r.Value, sure: sure}
	if r.Interval != nil {
		p.low, p.high = r.Interval.Low, r.Interval.High
	}
	return p
}
