package cli

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/bench"
	"github.com/goatnote-inc/pawl/internal/report"
	"github.com/goatnote-inc/pawl/internal/trial"
	"github.com/goatnote-inc/pawl/stats"
)

// picture is what a run looks like from outside at one moment. Events change
// it, lines shows it; neither looks at a clock or a terminal by itself.
type picture struct {
	doing    string // before the first round
	sides    []string
	cases    []string // in the order first measured
	medians  map[string]map[string][]float64
	round    trial.RoundStarted
	side     string
	state    gpu.State
	began    time.Time // of the first round
	measured int       // cases of a side that are done, over all rounds
	perRound int       // how many of these make a round
}

// mostRows is how many cases the picture shows; the table at the end shows all.
const mostRows = 10

func (p *picture) event(e bench.Event, now time.Time) {
	switch e := e.(type) {
	case bench.Building:
		p.doing = fmt.Sprintf("building %s: %s", e.Side, e.Command)
	case bench.Waiting:
		p.doing = "waiting for " + e.Device
	case bench.Built:
		p.doing = "starting the harness"
	case bench.Ready:
		p.sides, p.state, p.doing = e.Sides, e.State, "calibrating"
		p.medians = map[string]map[string][]float64{}
	case bench.Calibrated:
		if e.When == "close" {
			p.doing = "writing the record"
		}
	case bench.Measuring:
		p.trial(e.Event, now)
	}
}

func (p *picture) trial(e trial.Event, now time.Time) {
	switch e := e.(type) {
	case trial.RoundStarted:
		if p.began.IsZero() {
			p.began = now
		}
		p.round = e
		p.perRound = len(e.Order) * max(e.Cases, 1)
		p.measured = e.Round * p.perRound
		p.doing = ""
	case trial.SideStarted:
		p.side, p.state = e.Side, e.State
	case trial.CaseMeasured:
		p.measured++
		name := e.Result.Case.Name()
		if p.medians[name] == nil {
			p.medians[name] = map[string][]float64{}
			p.cases = append(p.cases, name)
			slices.Sort(p.cases)
		}
		if s := e.Result.Round.Samples; len(s) > 0 {
			p.medians[name][e.Side] = append(p.medians[name][e.Side], stats.Median(s))
		}
	case trial.RoundDone:
		if n := len(e.Round.Sides); n > 0 && e.Round.Sides[n-1].After != nil {
			p.state = *e.Round.Sides[n-1].After
		}
	}
}

// lines draws the picture, no line wider than the terminal.
func (p *picture) lines(now time.Time, width int, style report.Style) []string {
	if p.began.IsZero() || p.doing != "" {
		if p.doing == "" {
			return nil
		}
		return []string{cut(p.doing+" ...", width)}
	}
	lines := []string{cut(p.bar(now), width)}
	label := 0
	for _, name := range p.cases {
		label = max(label, utf8.RuneCountInString(name))
	}
	for i, name := range p.cases {
		if i == mostRows {
			lines = append(lines, cut(style.Faint(fmt.Sprintf("  and %d more", len(p.cases)-mostRows)), width))
			break
		}
		lines = append(lines, cut("  "+p.row(name, min(label, 40)), width))
	}
	return lines
}

// bar is where the run stands: rounds, share done, time left, device.
func (p *picture) bar(now time.Time) string {
	total := max(p.round.Of*p.perRound, 1)
	done := min(float64(p.measured)/float64(total), 1)
	const cells = 20
	full := int(done * cells)
	parts := []string{
		fmt.Sprintf("round %d of %d", min(p.round.Round+1, p.round.Of), p.round.Of),
		strings.Repeat("#", full) + strings.Repeat(".", cells-full),
		fmt.Sprintf("%3.0f %%", done*100),
	}
	if elapsed := now.Sub(p.began); done > 0.02 {
		parts = append(parts, report.Span(time.Duration(float64(elapsed)*(1-done)/done))+" left")
	}
	parts = append(parts, p.side)
	return strings.Join(append(parts, strings.Join(report.DeviceState(p.state), ", ")), "  ")
}

// row is a case so far: the median of each side with its spread over rounds.
func (p *picture) row(name string, label int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-*s", label, name)
	for _, side := range p.sides {
		m := p.medians[name][side]
		if len(m) == 0 {
			continue
		}
		fmt.Fprintf(&b, "  %s %s", side, report.Quantity(stats.Median(m), "ns"))
		if len(m) > 1 {
			fmt.Fprintf(&b, " +-%.1f %%", 100*(slices.Max(m)-slices.Min(m))/2/stats.Median(m))
		}
	}
	if a, c := p.medians[name]["base"], p.medians[name]["candidate"]; len(a) > 0 && len(c) > 0 {
		n := min(len(a), len(c))
		var sum float64
		for i := range n {
			sum += math.Log(c[i] / a[i])
		}
		fmt.Fprintf(&b, "  %s", report.Change(math.Exp(sum/float64(n))))
	}
	return b.String()
}

// cut shortens a line to the terminal's width: a line that wraps could not be
// drawn over.
func cut(line string, width int) string {
	if width < 10 || utf8.RuneCountInString(line) <= width {
		return line
	}
	return string([]rune(line)[:width-1]) + "~"
}
