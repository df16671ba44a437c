package progress

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/judge/runner"
	"github.com/goatnote-inc/pawl/internal/judge/tuning"
	"github.com/goatnote-inc/pawl/internal/tune"
)

// searchView is the visible state of a search at one moment.
type searchView struct {
	ready    tuning.Ready
	last     tuning.Evaluated
	began    time.Time // time of the last event
	best     []float64 // best time after each evaluation of this run
	failures map[tune.Status]int
}

// event updates the state from an event.
func (s *searchView) event(e runner.Event, now time.Time) {
	switch e := e.(type) {
	case tuning.Ready:
		*s = searchView{ready: e, began: now, failures: map[tune.Status]int{}}
	case tuning.Evaluated:
		s.last, s.began = e, now
		s.best = append(s.best, e.Best.Value)
		if e.Evaluation.Status != tune.OK {
			s.failures[e.Evaluation.Status]++
		}
	}
}

// lines draws the search: its progress, the best so far, the failures.
func (s *searchView) lines(now time.Time, width, height int) []string {
	if s.last.Done == 0 {
		return []string{cut("building and measuring the defaults ...", width)}
	}
	lines := []string{s.bar(now, width), "  " + s.bestLine(), "  best     " + PointText(s.last.Best.Point)}
	if text := s.failed(); text != "" {
		lines = append(lines, "  "+text)
	}
	for i := range lines {
		lines[i] = cut(lines[i], width)
	}
	return lines[:min(len(lines), max(height-1, 1))]
}

// bar returns the progress: by evaluations or by time, whichever is further along.
func (s *searchView) bar(now time.Time, width int) string {
	e, since := s.last, now.Sub(s.began)
	done, parts := 0.0, []string{words.Plural(e.Done, "evaluation")}
	if e.Of > 0 {
		done, parts[0] = float64(e.Done)/float64(e.Of), fmt.Sprintf("%d of %s", e.Done, words.Plural(e.Of, "evaluation"))
	}
	left := max(0, e.Left-since)
	if e.Left > 0 {
		done = max(done, 1-left.Seconds()/(e.Elapsed+e.Left).Seconds())
	}
	cells := 20
	if width < 80 {
		cells = 10
	}
	full := int(min(done, 1) * float64(cells))
	parts = append(parts, strings.Repeat("#", full)+strings.Repeat(".", cells-full), fmt.Sprintf("%3.0f %%", 100*min(done, 1)))
	if left, known := s.left(since); known {
		parts = append(parts, words.Duration(left)+" left")
	}
	return strings.Join(parts, "  ")
}

// left returns the remaining time: until the budget or the evaluations are used up, whichever is sooner.
func (s *searchView) left(since time.Duration) (time.Duration, bool) {
	e := s.last
	budget, known := e.Left-since, e.Left > 0
	if e.Of > 0 && e.Done > s.ready.Resumed {
		each := e.Elapsed.Seconds() / float64(e.Done-s.ready.Resumed)
		rest := time.Duration(float64(e.Of-e.Done)*each*float64(time.Second)) - since
		if !known || rest < budget {
			budget, known = rest, true
		}
	}
	return max(0, budget), known
}

// remainingEvaluations estimates the number of remaining evaluations.
func (s *searchView) remainingEvaluations() int {
	e := s.last
	if e.Of > 0 && e.Left == 0 {
		return e.Of - e.Done
	}
	each := e.Elapsed.Seconds() / float64(max(1, e.Done-s.ready.Resumed))
	n := int(e.Left.Seconds() / max(each, 1e-3))
	if e.Of > 0 {
		n = min(n, e.Of-e.Done)
	}
	return n
}

// bestLine compares the best so far with the defaults, and estimates the remaining gain.
func (s *searchView) bestLine() string {
	e := s.last
	text := fmt.Sprintf("default  %s", words.Quantity(e.Default.Value, "ns"))
	if e.Best.Value > 0 && e.Default.Value > 0 {
		text += fmt.Sprintf("   best %s, %s", words.Quantity(e.Best.Value, "ns"), words.Change(e.Best.Value/e.Default.Value))
	}
	if gain, known := tune.Remaining(s.best, s.remainingEvaluations()); known {
		text += fmt.Sprintf("   about %.1f %% more expected", 100*gain)
	}
	return text
}

// failed counts the failures by kind.
func (s *searchView) failed() string {
	if len(s.failures) == 0 {
		return ""
	}
	return "failed   " + FailureText(s.failures)
}

// FailureText counts failed points by their status.
func FailureText(failures map[tune.Status]int) string {
	var parts []string
	for _, status := range slices.Sorted(maps.Keys(failures)) {
		parts = append(parts, fmt.Sprintf("%d %s", failures[status], strings.ReplaceAll(string(status), "_", " ")))
	}
	return strings.Join(parts, ", ")
}

// thanDefault compares a time with the default's: "8.3 % faster than the default".
func thanDefault(ratio float64) string {
	if change := words.Change(ratio); change != words.Change(1) {
		return change + " than the default"
	}
	return "as fast as the default"
}

// PointText formats a point as on a command line.
func PointText(point map[string]any) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(point)) {
		parts = append(parts, fmt.Sprintf("%s=%v", name, point[name]))
	}
	return strings.Join(parts, " ")
}

// describeTune returns an event of a search as a line to keep: the start, every new best, and an
// occasional progress line.
func describeTune(e runner.Event) string {
	const often = 20 // evaluations between lines if there is no new best
	switch e := e.(type) {
	case tuning.Ready:
		what := words.Plural(e.Points, "point")
		if !e.Complete {
			what = fmt.Sprintf("%s sampled from more", what)
		}
		text := fmt.Sprintf("tuning %s: %s, strategy %s, %s at once, on %s", e.Case, what, e.Strategy, words.Plural(e.Jobs, "build"), e.Device.Name)
		if e.Resumed > 0 {
			text += fmt.Sprintf("\nthe journal already has %s", words.Plural(e.Resumed, "evaluation"))
		}
		if e.Unchecked != "" {
			text += "\nnote: results are not checked: " + e.Unchecked
		}
		return text
	case tuning.Evaluated:
		best := e.Evaluation.N == e.Best.N
		if !best && e.Done%often != 0 {
			return ""
		}
		text := fmt.Sprintf("%d evaluated in %s", e.Done, words.Duration(e.Elapsed))
		if e.Failed > 0 {
			text += fmt.Sprintf(", %d failed", e.Failed)
		}
		text += fmt.Sprintf(": best %s", words.Quantity(e.Best.Value, "ns"))
		if e.Default.Value > 0 && e.Best.Value > 0 {
			text += " (" + thanDefault(e.Best.Value/e.Default.Value) + ")"
		}
		if best {
			text += " with " + PointText(e.Best.Point)
		}
		return text
	case tuning.ProofChecked:
		if e.Wrong != "" {
			return fmt.Sprintf("%s (%s) gives wrong results and is dropped: %s", e.Side, PointText(e.Point), e.Wrong)
		}
		return fmt.Sprintf("%s (%s): %s checked, all correct", e.Side, PointText(e.Point), words.Plural(e.Checked, "result"))
	}
	return ""
}

// tuneEvent sets the fields of an event of a search and returns its name.
func tuneEvent(e runner.Event, fields map[string]any) string {
	switch e := e.(type) {
	case tuning.Ready:
		fields["case"], fields["device"], fields["strategy"], fields["points"], fields["complete"] = e.Case, e.Device, e.Strategy, e.Points, e.Complete
		fields["resumed"], fields["unchecked"], fields["jobs"] = e.Resumed, e.Unchecked, e.Jobs
		return "tune_ready"
	case tuning.Evaluated:
		x := e.Evaluation
		x.Samples = nil // the journal has them
		fields["evaluation"], fields["best"], fields["best_ns"], fields["default_ns"] = x, e.Best.N, e.Best.Value, e.Default.Value
		fields["done"], fields["of"], fields["failed"], fields["pruned"] = e.Done, e.Of, e.Failed, e.Pruned
		fields["elapsed_seconds"], fields["left_seconds"] = e.Elapsed.Seconds(), e.Left.Seconds()
		return "tune_evaluated"
	case tuning.ProofChecked:
		fields["side"], fields["point"], fields["checked"], fields["wrong"] = e.Side, e.Point, e.Checked, e.Wrong
		return "proof_checked"
	}
	return ""
}
