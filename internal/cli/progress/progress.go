package progress

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/internal/judge/runner"
	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/internal/judge/tuning"
	"github.com/goatnote-inc/pawl/internal/report"
)

// Display shows what happens during a run: a live picture on a terminal, plain lines elsewhere,
// JSON lines for programs.
type Display struct {
	*command.IO
	Style report.Style
	JSON  bool
	live  *liveDisplay // nil if nothing can be drawn
	Seen  func(runner.Event)
	mu    sync.Mutex
}

// New returns a display for a command. Call Close when the run has ended.
func New(g *env.Env, asJSON bool) *Display {
	p := &Display{IO: g.IO, Style: g.ErrStyle(), JSON: asJSON, Seen: g.Event}
	if g.ErrScreen != nil && !g.Dumb() && !asJSON {
		p.live = newLive(g.Err, g.ErrScreen, time.Now)
	}
	g.PrintAbove(p.note)
	return p
}

// Close removes the picture, so that later output starts on a clean line.
func (p *Display) Close() {
	p.PrintAbove(nil)
	if p.live != nil {
		p.live.close()
	}
}

// note prints a message from another part of the program during the run.
func (p *Display) note(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.JSON:
		p.Line(EventLine("note", map[string]any{"text": text}))
	case p.live != nil:
		p.live.note(text)
	default:
		p.Line(text)
	}
}

// Event shows an event.
func (p *Display) Event(e runner.Event) {
	p.Seen(e)
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.JSON:
		p.Line(jsonEvent(e))
	case p.live != nil && inPicture(e):
		p.live.event(e, "")
	case p.live != nil:
		p.live.event(e, p.describe(e))
	default:
		p.Line(p.describe(e))
	}
}

// EventOfMany shows an event of one of many runs. Where there is no picture, and no program that reads it, only waiting is shown:
// the lines of one run after the other would hide the answers.
func (p *Display) EventOfMany(e runner.Event) {
	if _, waits := e.(runner.Waiting); p.JSON || p.live != nil || waits {
		p.Event(e)
	}
}

// Line prints a line, unless it is empty.
func (p *Display) Line(text string) {
	if text != "" {
		fmt.Fprintln(p.Err, text)
	}
}

// inPicture reports whether the live picture already shows an event, so that a line above it would
// only repeat it.
func inPicture(e runner.Event) bool {
	switch e := e.(type) {
	case runner.Building, runner.Waiting, runner.Profiling, tuning.Evaluated:
		return true
	case runner.Measuring:
		_, round := e.Event.(trial.RoundDone)
		return round
	default:
		return false
	}
}

// describe returns an event as a line to keep; empty for events that only the live picture shows.
func (p *Display) describe(e runner.Event) string {
	switch e := e.(type) {
	case runner.Recovered:
		return p.Style.Warn(fmt.Sprintf("an interrupted run was saved as %s (%s)", e.Path, words.Plural(e.Rounds, "round")))
	case runner.Resumed:
		return fmt.Sprintf("resumed an interrupted run after %s", words.Plural(e.Rounds, "round"))
	case runner.NotResumed:
		line := "an interrupted run is not resumed, and both sides start anew: " + e.Why
		if e.Path != "" {
			line += "; its journal is now " + e.Path
		}
		return p.Style.Warn(line)
	case runner.Building:
		return fmt.Sprintf("building %s: %s", e.Side, e.Command)
	case runner.Built:
		if e.Cached {
			return fmt.Sprintf("took %s from the cache: its inputs have not changed", e.Side)
		}
		return fmt.Sprintf("built %s in %.1f s", e.Side, e.Seconds)
	case runner.Identical:
		line := fmt.Sprintf("identical: no input of a build or a kernel differs from %.12s, nothing to measure (--force-measure measures anyway)", e.Base)
		if e.Ignored > 0 {
			line += "; ignored: " + words.Plural(e.Ignored, "other file")
		}
		return line
	case runner.LeftOut:
		return fmt.Sprintf("%d of %d cases cannot have changed: only %d of them, chosen at random, are measured (--force-measure measures all)", e.Unchanged, e.Cases, e.Sampled)
	case runner.Judged:
		return fmt.Sprintf("%s: %s\nprofiling what changed to say why, %s at most", e.Result.Verdict, e.Result.Sentence, words.Duration(e.Explain))
	case runner.Confirming:
		return fmt.Sprintf("confirming the gain of %s with fresh rounds", words.Plural(len(e.Cases), "case"))
	case runner.Waiting:
		return p.Style.Warn(waiting(e))
	case runner.Ready:
		return fmt.Sprintf("measuring %s, %s, %s, on %s", casesOf(e), versus(e.Sides), RoundsASide(e.Rounds), e.Device.Name)
	case runner.Noticed:
		return p.Style.Warn("note: ") + e.Notice.String()
	case runner.FuzzPlanned:
		return "checking results of " + DescribePlan(e)
	case runner.Profiling:
		return fmt.Sprintf("profiling %s of %s with %s", e.Side, e.Case, e.Tool)
	case runner.Profiled:
		return fmt.Sprintf("profiled %s of %s in %.1f s", e.Side, e.Case, e.Seconds)
	case runner.Explained:
		return p.explained(e)
	case runner.Staged:
		return fmt.Sprintf("%s: %s", e.Step, e.Line)
	case runner.Measuring:
		return p.describeTrial(e.Event)
	default:
		return describeTune(e)
	}
}

// explained returns only errors: the findings are shown at the end.
func (p *Display) explained(e runner.Explained) string {
	if e.Err == nil {
		return ""
	}
	return p.Style.Warn("note: ") + e.Err.Error()
}

func (p *Display) describeTrial(e trial.Event) string {
	switch e := e.(type) {
	case trial.RoundDone:
		if e.Round.Dropped != "" {
			return ""
		}
		return fmt.Sprintf("round %d of %d done in %.1f s (%s)", e.Number, e.Of, e.Seconds, strings.Join(e.Round.Order, ", "))
	case trial.Warned:
		return p.Style.Warn("warning: ") + e.Warning.Message
	case trial.Looked:
		if len(e.Undecided) > 0 {
			return fmt.Sprintf("%s undecided after %s", words.Plural(len(e.Undecided), "case"), words.Plural(e.Rounds, "round"))
		}
	}
	return ""
}

func waiting(e runner.Waiting) string {
	return fmt.Sprintf("waiting for %s, held by %s", e.What, e.Holder)
}

// casesOf counts the cases. If a command prints another tool's format, its cases are known only after
// it has run.
func casesOf(e runner.Ready) string {
	if e.Cases == 0 {
		return "every case the command prints"
	}
	return words.Plural(e.Cases, "case")
}

// versus names the sides: the candidate against all others.
func versus(sides []string) string {
	if len(sides) < 2 {
		return strings.Join(sides, "")
	}
	others, last := sides[1:len(sides)-1], sides[len(sides)-1]
	if len(others) > 0 {
		last = strings.Join(others, ", ") + " and " + last
	}
	return sides[0] + " against " + last
}

// RoundsASide describes how many rounds a run takes.
func RoundsASide(growth []int) string {
	first := words.Plural(growth[0], "round") + " a side"
	if len(growth) == 1 {
		return first
	}
	return fmt.Sprintf("%s, and up to %d if undecided", first, growth[len(growth)-1])
}

// DescribePlan describes a planned search for wrong results.
func DescribePlan(p runner.FuzzPlanned) string {
	text := fmt.Sprintf("%s: %s", p.Benchmark, words.Plural(p.Points, "point"))
	switch {
	case p.Points == 0:
		return fmt.Sprintf("%s: %s that failed before", p.Benchmark, words.Plural(p.Replayed, "point"))
	case p.Replayed > 0:
		text += fmt.Sprintf(" after %s that failed before", words.Plural(p.Replayed, "point"))
	}
	return text + fmt.Sprintf(", about %s (estimated from size)", words.Duration(time.Duration(p.Seconds*float64(time.Second)).Round(time.Second)))
}
