package web

import (
	"cmp"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/base/chart"
	"github.com/goatnote-inc/pawl/internal/base/words"
)

// places returns the commits of all lines in order of time, and their positions. A chart by commit has one
// position per commit; otherwise a position is a time.
func (c Chart) places() (commits []client.StoredPoint, at map[string]int) {
	seen := map[string]bool{}
	for _, l := range c.Lines {
		for _, p := range l.Points {
			if !seen[p.Commit] {
				seen[p.Commit], commits = true, append(commits, p)
			}
		}
	}
	slices.SortStableFunc(commits, func(a, b client.StoredPoint) int {
		return cmp.Or(a.At.Compare(b.At), strings.Compare(a.Commit, b.Commit))
	})
	at = make(map[string]int, len(commits))
	for i, p := range commits {
		at[p.Commit] = i
	}
	return commits, at
}

// place returns the position of an event: that of its commit, or of the first commit after its time.
func place(e client.Event, commits []client.StoredPoint, at map[string]int) int {
	if i, ok := at[e.To]; ok {
		return i
	}
	i, _ := slices.BinarySearchFunc(commits, e.At, func(p client.StoredPoint, t time.Time) int { return p.At.Compare(t) })
	return min(i, len(commits)-1)
}

// Drawing draws the chart.
func (c Chart) Drawing() template.HTML {
	commits, at := c.places()
	if len(commits) == 0 {
		return ""
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, l := range c.Lines {
		for _, p := range l.Points {
			v := c.value(l, p)
			low, high = min(low, v), max(high, v)
		}
	}
	where := func(p client.StoredPoint) time.Time {
		if c.ByCommit {
			return time.Unix(int64(at[p.Commit]), 0)
		}
		return p.At
	}
	var all template.HTML
	for _, size := range sizes {
		from, to := where(commits[0]), where(commits[len(commits)-1])
		d := newFrame(size.class, size.width, size.height, from, to, low, high, c.unit())
		if c.ByCommit {
			d.commits(commits)
		} else {
			d.dates()
		}
		var ends []float64
		for i, l := range c.Lines {
			ends = append(ends, c.draw(d, i, Thin(l.Points, size.buckets/2), l, where))
		}
		for i, y := range spread(ends, 11, d.Height-d.bottom) {
			d.Text(d.Width-d.right+4, y+4, "letter k"+strconv.Itoa(i+1), letter(i))
		}
		for i, e := range c.Events {
			if c.ByCommit {
				n := time.Unix(int64(place(e, commits, at)), 0)
				e.Kind, e.At, e.Since = "", n, n
			}
			d.event(e, i+1)
		}
		all += d.HTML()
	}
	return all
}

// draw draws one line and returns the height of its end.
func (c Chart) draw(d *plot, i int, points []client.StoredPoint, l ChartLine, where func(client.StoredPoint) time.Time) float64 {
	if len(points) == 0 {
		return d.Height - d.bottom
	}
	var t chart.Trace
	for _, p := range points {
		t.To(d.x(where(p)), d.y.At(c.value(l, p)))
	}
	class := "k" + strconv.Itoa(i+1)
	d.Path("line many "+class, t.String())
	last := points[len(points)-1]
	end := d.y.At(c.value(l, last))
	d.Dot("end "+class, d.x(where(last)), end, 3)
	return end
}

// spread moves heights apart, so that labels at them do not overlap. None is moved below the lowest allowed.
func spread(heights []float64, apart, lowest float64) []float64 {
	order := make([]int, len(heights))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(heights[a], heights[b]) })
	moved := slices.Clone(heights)
	for n := 1; n < len(order); n++ {
		moved[order[n]] = max(moved[order[n]], moved[order[n-1]]+apart)
	}
	for _, o := range slices.Backward(order) {
		moved[o] = min(moved[o], lowest)
		lowest = moved[o] - apart
	}
	return moved
}

// togetherData is the input of the page's script.
type togetherData struct {
	Unit    string         `json:"unit"`
	Change  bool           `json:"change"`
	Commits []togetherAt   `json:"commits,omitempty"` // positions of a chart by commit; empty otherwise
	Lines   []togetherLine `json:"lines"`
	Events  []chartEvent   `json:"events"`
}

type togetherAt struct {
	Commit string `json:"commit"`
	At     int64  `json:"at"`
}

type togetherLine struct {
	At    []int64   `json:"at"` // seconds, or positions of commits
	Value []float32 `json:"value"`
}

// Data returns the lines for the script. The template writes it as JSON.
func (c Chart) Data() any {
	d := togetherData{Unit: words.Sanitize(c.unit()), Change: !c.Values}
	commits, at := c.places()
	if c.ByCommit {
		for _, p := range commits {
			d.Commits = append(d.Commits, togetherAt{short(p.Commit), p.At.Unix()})
		}
	}
	for _, l := range c.Lines {
		var line togetherLine
		for _, p := range l.Points {
			x := p.At.Unix()
			if c.ByCommit {
				x = int64(at[p.Commit])
			}
			line.At, line.Value = append(line.At, x), append(line.Value, float32(c.value(l, p)))
		}
		d.Lines = append(d.Lines, line)
	}
	for _, e := range c.Events {
		one := newChartEvent(e)
		if c.ByCommit && len(commits) > 0 {
			one.At, one.Since = int64(place(e, commits, at)), 0
		}
		d.Events = append(d.Events, one)
	}
	return d
}
