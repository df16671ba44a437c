package progress

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/judge/runner"
	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/internal/judge/tuning"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/internal/report"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/stats"
)

// progressView is the visible state of a run at one moment. Events update it, and lines draws it. It uses
// no clock and no terminal of its own.
type progressView struct {
	step     string // current step outside of rounds; empty during rounds
	sides    []string
	cases    []string // in the order of the record
	units    map[string]string
	medians  map[string]map[string][]float64
	round    trial.RoundStarted
	side     string
	state    gpu.State
	began    time.Time   // start of the current round
	measured int         // cases measured in the current round, over all sides
	seconds  []float64   // durations of finished rounds
	search   *searchView // nil if no search runs
}

// maxRows is the maximum number of rows in the picture; the table at the end shows all cases.
const maxRows = 10

func (p *progressView) event(e runner.Event, now time.Time) {
	switch e := e.(type) {
	case tuning.Ready:
		p.search, p.step = &searchView{}, ""
		p.search.event(e, now)
	case tuning.Evaluated:
		if p.search != nil {
			p.search.event(e, now)
		}
	case runner.Building:
		p.step = fmt.Sprintf("building %s: %s", e.Side, e.Command)
	case runner.Waiting:
		p.step = waiting(e)
	case runner.Built:
		p.step = "starting the harness"
	case runner.Ready:
		p.sides, p.state, p.step, p.search = e.Sides, e.State, "calibrating", nil
	case runner.Listed:
		p.list(e.Cases)
	case runner.Calibrated:
		if e.When == "close" {
			p.step = "writing the record"
		}
	case runner.Measuring:
		p.trial(e.Event, now)
	}
}

// list adds the cases in the order in which they are shown.
func (p *progressView) list(cases []measure.Case) {
	if p.units == nil {
		p.units, p.medians = map[string]string{}, map[string]map[string][]float64{}
	}
	for _, c := range cases {
		if name := c.Name(); p.medians[name] == nil {
			p.cases = append(p.cases, name)
			p.units[name], p.medians[name] = c.Unit, map[string][]float64{}
		}
	}
}

func (p *progressView) trial(e trial.Event, now time.Time) {
	switch e := e.(type) {
	case trial.RoundStarted:
		p.round, p.began, p.measured, p.step = e, now, 0, ""
	case trial.SideStarted:
		p.side, p.state = e.Side, e.State
	case trial.CaseMeasured:
		p.measured++
		if sides := p.medians[e.Result.Case.Name()]; sides != nil && len(e.Result.Round.Samples) > 0 {
			sides[e.Side] = append(sides[e.Side], stats.Median(e.Result.Round.Samples))
		}
	case trial.RoundDone:
		p.seconds = append(p.seconds, e.Seconds)
		if n := len(e.Round.Sides); n > 0 && e.Round.Sides[n-1].After != nil {
			p.state = *e.Round.Sides[n-1].After
		}
	}
}

// lines draws the picture within the width and height of the terminal.
func (p *progressView) lines(now time.Time, width, height int) []string {
	switch {
	case p.step != "":
		return []string{cut(p.step+" ...", width)}
	case p.search != nil:
		return p.search.lines(now, width, height)
	case p.round.Number == 0:
		return nil
	}
	lines := []string{cut(p.bar(now, width), width)}
	rows := p.rows(width - 2)
	room := min(maxRows, height-2) // rows below the bar and above the cursor
	if more := len(rows) - room; more > 0 {
		room = max(room-1, 0)
		rows = append(rows[:room], fmt.Sprintf("and %d more", len(rows)-room))
	}
	for _, row := range rows {
		lines = append(lines, cut("  "+row, width))
	}
	return lines[:min(len(lines), max(height-1, 1))]
}

// bar returns the progress of the run: rounds, share done, time left, device.
func (p *progressView) bar(now time.Time, width int) string {
	inRound := min(float64(p.measured)/float64(len(p.round.Order)*max(p.round.Cases, 1)), 1)
	done := min((float64(p.round.Number-1)+inRound)/float64(max(p.round.Of, 1)), 1)
	cells := 20
	if width < 80 {
		cells = 10
	}
	full := int(done * float64(cells))
	parts := []string{
		fmt.Sprintf("round %d of %d", p.round.Number, p.round.Of),
		strings.Repeat("#", full) + strings.Repeat(".", cells-full),
		fmt.Sprintf("%3.0f %%", done*100),
	}
	if left, known := p.left(now, inRound); known {
		parts = append(parts, words.Duration(left)+" left")
	}
	if slices.Contains(p.sides, p.side) { // not while the sides alternate
		parts = append(parts, p.side)
	}
	if state := report.DeviceState(p.state); len(state) > 0 {
		parts = append(parts, strings.Join(state, ", "))
	}
	return strings.Join(parts, "  ")
}

// left estimates the remaining time from the finished rounds, or, during the first, from the cases
// measured so far.
func (p *progressView) left(now time.Time, inRound float64) (time.Duration, bool) {
	elapsed := now.Sub(p.began).Seconds()
	var round float64
	switch {
	case len(p.seconds) > 0:
		round = stats.Median(p.seconds)
	case inRound > 0.1:
		round = elapsed / inRound
	default:
		return 0, false
	}
	rest := max(round-elapsed, 0) + round*float64(p.round.Of-p.round.Number)
	return time.Duration(rest * float64(time.Second)), true
}

// rows returns the cases so far. If they are too wide, the least informative parts are left out first:
// the spreads, then the times of all sides but the first.
func (p *progressView) rows(width int) []string {
	for detail := 2; ; detail-- {
		var cells [][]string
		for _, name := range p.cases {
			if len(p.medians[name]) > 0 {
				cells = append(cells, p.row(name, detail))
			}
		}
		rows := Aligned(cells)
		if detail == 0 || !slices.ContainsFunc(rows, func(r string) bool { return utf8.RuneCountInString(r) > width }) {
			return rows
		}
	}
}

// row returns a case so far: the median of each side with its spread over rounds, and the change from
// the base.
func (p *progressView) row(name string, detail int) []string {
	cells := []string{name}
	for i, side := range p.sides {
		if i > 0 && detail == 0 {
			break
		}
		m := p.medians[name][side]
		if len(m) == 0 {
			cells = append(cells, "")
			continue
		}
		cell := side + " " + words.Quantity(stats.Median(m), p.units[name])
		if len(m) > 1 && detail == 2 {
			cell += fmt.Sprintf(" +-%.1f %%", 100*(slices.Max(m)-slices.Min(m))/2/math.Abs(stats.Median(m)))
		}
		cells = append(cells, cell)
	}
	return append(cells, p.change(name))
}

// change returns the ratio of the candidate to the base, averaged over rounds.
func (p *progressView) change(name string) string {
	base, candidate := p.medians[name][suite.Base], p.medians[name][suite.Candidate]
	var logs []float64
	for i := range min(len(base), len(candidate)) {
		if base[i] > 0 && candidate[i] > 0 { // a count may be zero and then has no ratio
			logs = append(logs, math.Log(candidate[i]/base[i]))
		}
	}
	switch {
	case len(logs) == 0:
		return ""
	case p.units[name] == "ns":
		return words.Change(math.Exp(stats.Mean(logs)))
	default:
		return words.Amount(math.Exp(stats.Mean(logs)))
	}
}

// Aligned joins cells to lines, with each column as wide as its widest cell.
func Aligned(rows [][]string) []string {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	lines := make([]string, len(rows))
	for n, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			fmt.Fprintf(&b, "%-*s", widths[i]+2, cell)
		}
		lines[n] = strings.TrimRight(b.String(), " ")
	}
	return lines
}

// cut shortens a line to the width of the terminal: a wrapped line could not be overwritten.
func cut(line string, width int) string {
	if utf8.RuneCountInString(line) <= width {
		return line
	}
	return string([]rune(line)[:max(width-1, 0)]) + "~"
}
