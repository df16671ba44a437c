package client

import (
	"math"
	"strconv"

	"github.com/goatnote-inc/pawl/measure"
)

// points checks the points, which are the bulk of a report. A server does this thousands of times per
// second, so the location of a point is formatted only for an error.
func (c *checker) points(list []Point) {
	c.must(len(list) > 0, "/points", "is empty: a report needs results")
	c.must(len(list) <= MaxPoints, "/points", "more than %d entries", MaxPoints)
	if c.err != nil {
		return
	}
	names, ends := seriesNames(list)
	seen := make(map[string]struct{}, len(list))
	for i, from := 0, 0; i < len(list); i++ {
		p := &list[i]
		c.point(p)
		name := names[from:ends[i]]
		from = ends[i]
		if seen[name] = struct{}{}; len(seen) <= i {
			c.must(false, "", "%s (%s) occurs twice", p.Name(), p.Implementation)
		}
		if c.err != nil {
			c.err.Pointer = "/points/" + strconv.Itoa(i) + c.err.Pointer
			return
		}
	}
}

// seriesNames concatenates the names of all series, and returns where each ends.
func seriesNames(list []Point) (names string, ends []int) {
	all := make([]byte, 0, 32*len(list))
	ends = make([]int, len(list))
	for i := range list {
		all = appendSeries(all, list[i].CaseKey)
		ends[i] = len(all)
	}
	return string(all), ends
}

// appendSeries appends the identity of a series. It uses the name and not the parts of the key: "a/b" is
// one name, however it is split.
func appendSeries(b []byte, k measure.CaseKey) []byte {
	b = append(b, k.Benchmark...)
	if k.Config != "" {
		b = append(append(b, '/'), k.Config...)
	}
	if k.Cache == measure.Cold {
		b = append(b, "@cold"...)
	}
	if k.Metric != "" && k.Metric != measure.MetricTime {
		b = append(append(b, ':'), k.Metric...)
	}
	return append(append(b, 0), k.Implementation...)
}

func (c *checker) point(p *Point) {
	c.name(p.Benchmark, "/benchmark", 2*maxName)
	c.text(p.Config, "/config", 2*maxName)
	c.must(p.Cache == "" || p.Cache == measure.Cold, "/cache", "must be cold or empty")
	c.text(p.Metric, "/metric", maxName)
	c.name(p.Implementation, "/implementation", maxName)
	c.name(p.Unit, "/unit", maxLabel)
	c.must(p.Better == "" || p.Better == measure.Lower || p.Better == measure.Higher, "/better", "must be lower or higher")
	switch p.Timer {
	case "", measure.TimerDevice, measure.TimerKernel, measure.TimerWall, measure.TimerCPU, measure.TimerExternal:
	default:
		c.must(false, "/timer", "unknown timer")
	}
	c.number(p.Value, "/value")
	c.number(p.Low, "/low")
	c.number(p.High, "/high")
	c.must(p.Low <= p.Value && p.Value <= p.High, "/value", "must be between low and high")
	c.amount(p.Spread, "/spread")
	c.must(p.Rounds >= 1 && p.Rounds <= math.MaxInt32, "/rounds", "must be 1 or more")
	c.must(p.Samples >= 0 && p.Samples <= math.MaxInt32, "/samples", "must be a count")
	c.verdict(p.Verdict, "/verdict")
	c.number(p.Baseline, "/baseline")
	c.text(p.Path, "/path", maxPath)
	c.must(p.Path == "" || inside(p.Path), "/path", "must be a path inside the repository, as git writes it")
	c.must(len(p.Owners) <= maxList, "/owners", "more than %d entries", maxList)
	for i, o := range p.Owners {
		if o == "" || len(o) > maxName || !plain(o) {
			c.name(o, "/owners/"+strconv.Itoa(i), maxName)
		}
	}
}
