package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/goatnote-inc/pawl/internal/bench"
	"github.com/goatnote-inc/pawl/internal/report"
	"github.com/goatnote-inc/pawl/internal/trial"
	"github.com/goatnote-inc/pawl/stats"
)

// progress tells what happens while a run is under way: a picture that is drawn
// anew on a terminal, plain lines elsewhere, JSON lines for programs.
type progress struct {
	*IO
	style report.Style
	json  bool
	live  *live // nil without a terminal
	mu    sync.Mutex
	now   func() time.Time
}

func newProgress(io *IO, style report.Style, asJSON bool) *progress {
	p := &progress{IO: io, style: style, json: asJSON, now: time.Now}
	if io.Terminal && !asJSON {
		p.live = newLive(io, style, time.Now)
	}
	return p
}

// close ends the picture, so that what follows starts on a clean line.
func (p *progress) close() {
	if p.live != nil {
		p.live.close()
	}
}

func (p *progress) event(e bench.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.json {
		p.line(jsonEvent(e))
		return
	}
	text := p.describe(e)
	if p.live != nil {
		p.live.event(e, text)
		return
	}
	p.line(text)
}

func (p *progress) line(text string) {
	if text != "" {
		fmt.Fprintln(p.Err, text)
	}
}

// describe is an event as a line that is worth keeping; empty for what only the
// live picture shows.
func (p *progress) describe(e bench.Event) string {
	switch e := e.(type) {
	case bench.Recovered:
		return p.style.Warn(fmt.Sprintf("an interrupted run was saved as %s (%d rounds)", e.Path, e.Rounds))
	case bench.Building:
		return fmt.Sprintf("building %s: %s", e.Side, e.Command)
	case bench.Built:
		return fmt.Sprintf("built %s in %.1f s", e.Side, e.Seconds)
	case bench.Identical:
		return "identical: both sides are the same to the byte, nothing to measure (--force-measure does it anyway)"
	case bench.Waiting:
		return p.style.Warn(fmt.Sprintf("waiting for %s, which %s holds", e.Device, e.Holder))
	case bench.Ready:
		return fmt.Sprintf("measuring %s, %s, %s rounds a side, on %s", report.Plural(e.Cases, "case"), strings.Join(e.Sides, " against "), rounds(e.Rounds), e.Device.Name)
	case bench.Noticed:
		return p.style.Warn("note: ") + e.Notice.String()
	case bench.Measuring:
		return p.describeTrial(e.Event)
	default:
		return ""
	}
}

func (p *progress) describeTrial(e trial.Event) string {
	switch e := e.(type) {
	case trial.RoundDone:
		if e.Round.Dropped != "" {
			return ""
		}
		return fmt.Sprintf("round %d done in %.1f s (%s)", e.Round.Index+1, e.Seconds, strings.Join(e.Round.Order, ", "))
	case trial.Warned:
		return p.style.Warn("warning: ") + e.Warning.Message
	case trial.Looked:
		if len(e.Undecided) > 0 {
			return fmt.Sprintf("%s undecided after %s", report.Plural(len(e.Undecided), "case"), report.Plural(e.Rounds, "round"))
		}
	}
	return ""
}

// jsonEvent is an event for programs: its name, then its fields.
func jsonEvent(e bench.Event) string {
	fields := map[string]any{}
	name := ""
	switch e := e.(type) {
	case bench.Recovered:
		name, fields["path"], fields["rounds"] = "recovered", e.Path, e.Rounds
	case bench.Building:
		name, fields["side"], fields["command"] = "building", e.Side, e.Command
	case bench.Built:
		name, fields["side"], fields["seconds"] = "built", e.Side, e.Seconds
	case bench.Identical:
		name, fields["digest"] = "identical", e.Digest
	case bench.Waiting:
		name, fields["device"], fields["holder"] = "waiting", e.Device, e.Holder
	case bench.Ready:
		name, fields["device"], fields["state"], fields["sides"], fields["cases"], fields["rounds"] = "ready", e.Device, e.State, e.Sides, e.Cases, e.Rounds
	case bench.Calibrated:
		name, fields["when"], fields["median_ns"] = "calibrated", e.When, e.Median
	case bench.Noticed:
		name, fields["notice"] = "notice", e.Notice
	case bench.Saved:
		name, fields["path"], fields["end"] = "saved", e.Path, e.End
	case bench.Measuring:
		name = trialEvent(e.Event, fields)
	}
	if name == "" {
		return ""
	}
	body, err := json.Marshal(fields)
	if err != nil {
		return ""
	}
	return fmt.Sprintf(`{"event":%q,%s`, name, body[1:])
}

func trialEvent(e trial.Event, fields map[string]any) string {
	switch e := e.(type) {
	case trial.RoundStarted:
		fields["round"], fields["of"], fields["order"], fields["cases"] = e.Round, e.Of, e.Order, e.Cases
		return "round_started"
	case trial.SideStarted:
		fields["round"], fields["side"], fields["state"] = e.Round, e.Side, e.State
		return "side_started"
	case trial.CaseMeasured:
		fields["round"], fields["side"], fields["case"] = e.Round, e.Side, e.Result.Case.Name()
		if r := e.Result.Round; r.Error != "" {
			fields["error"] = r.Error
		} else {
			fields["median_ns"], fields["samples"] = stats.Median(r.Samples), len(r.Samples)
		}
		return "case_measured"
	case trial.RoundDone:
		fields["round"], fields["seconds"], fields["dropped"] = e.Round.Index, e.Seconds, e.Round.Dropped
		return "round_done"
	case trial.Looked:
		fields["rounds"], fields["undecided"] = e.Rounds, e.Undecided
		return "looked"
	case trial.Warned:
		fields["warning"] = e.Warning
		return "warning"
	default:
		return ""
	}
}
