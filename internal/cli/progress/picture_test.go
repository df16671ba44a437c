package progress

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/judge/runner"
	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/measure"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// scene is a progress view that is filled by events.
type scene struct {
	progressView
	now time.Time
}

func (s *scene) event(e runner.Event) { s.progressView.event(e, s.now) }

func (s *scene) ready(sides []string, unit string, names ...string) {
	var cases []measure.Case
	for _, name := range names {
		for _, side := range sides {
			cases = append(cases, measure.Case{CaseKey: measure.CaseKey{Benchmark: name, Implementation: side}, Unit: unit})
		}
	}
	s.event(runner.Listed{Cases: cases})
	s.event(runner.Ready{Sides: sides, Cases: len(names), Rounds: []int{4}})
}

func (s *scene) round(number, cases int) {
	s.event(runner.Measuring{Event: trial.RoundStarted{Number: number, Of: 4, Order: s.sides, Cases: cases}})
}

func (s *scene) measured(name, side string, medians ...float64) {
	for _, m := range medians {
		s.event(runner.Measuring{Event: trial.CaseMeasured{Side: side, Result: measure.Result{
			Case:  measure.CaseKey{Benchmark: name, Implementation: side},
			Round: measure.CaseRound{Samples: measure.Samples{m}},
		}}})
	}
}

func (s *scene) show(width, height int) string {
	return strings.Join(s.lines(s.now, width, height), "\n")
}

// sgemm is a run of two cases in its second round.
func sgemm() *scene {
	s := &scene{now: noon}
	s.ready([]string{"candidate", "base"}, "ns", "sgemm/N512", "sgemm/N1024")
	s.round(1, 2)
	s.measured("sgemm/N1024", "base", 8e6)
	s.measured("sgemm/N1024", "candidate", 7.5e6)
	s.measured("sgemm/N512", "base", 1e6)
	s.measured("sgemm/N512", "candidate", 1.05e6)
	s.now = noon.Add(6 * time.Second)
	s.event(runner.Measuring{Event: trial.RoundDone{Number: 1, Of: 4, Seconds: 6}})
	s.round(2, 2)
	s.event(runner.Measuring{Event: trial.SideStarted{Side: "base", State: gpu.State{TemperatureC: 61, SMClockMHz: 1500}}})
	s.measured("sgemm/N512", "base", 1.02e6)
	s.now = noon.Add(8 * time.Second)
	return s
}

func TestPicture(t *testing.T) {
	for _, tt := range []struct {
		width, height int
		want          string
	}{
		{100, 24, `
round 2 of 4  ######..............   31 %  16 s left  base  61 C, 1500 MHz
  sgemm/N512   candidate 1.050 ms  base 1.010 ms +-1.0 %  5.0 % slower
  sgemm/N1024  candidate 7.500 ms  base 8.000 ms          6.2 % faster
`},
		// Too narrow for the spreads, then for the times of the other sides.
		{65, 24, `
round 2 of 4  ###.......   31 %  16 s left  base  61 C, 1500 MHz
  sgemm/N512   candidate 1.050 ms  base 1.010 ms  5.0 % slower
  sgemm/N1024  candidate 7.500 ms  base 8.000 ms  6.2 % faster
`},
		{50, 24, `
round 2 of 4  ###.......   31 %  16 s left  base ~
  sgemm/N512   candidate 1.050 ms  5.0 % slower
  sgemm/N1024  candidate 7.500 ms  6.2 % faster
`},
		// Too low for all cases.
		{65, 3, `
round 2 of 4  ###.......   31 %  16 s left  base  61 C, 1500 MHz
  and 2 more
`},
	} {
		if diff := cmp.Diff(strings.TrimSpace(tt.want), sgemm().show(tt.width, tt.height)); diff != "" {
			t.Errorf("%d x %d (-want +got):\n%s", tt.width, tt.height, diff)
		}
	}
}

// Between rounds, the view shows only the current step.
func TestPictureBetweenRounds(t *testing.T) {
	s := &scene{now: noon}
	if got := s.show(80, 24); got != "" {
		t.Errorf("at the start: %q", got)
	}
	for _, tt := range []struct {
		event runner.Event
		want  string
	}{
		{runner.Building{Side: "base", Command: "make harness"}, "building base: make harness ..."},
		{runner.Built{Side: "base"}, "starting the harness ..."},
		{runner.Waiting{What: "NVIDIA L4", Holder: "process 7"}, "waiting for NVIDIA L4, held by process 7 ..."},
		{runner.Ready{Sides: []string{"candidate"}}, "calibrating ..."},
		{runner.Calibrated{When: "close"}, "writing the record ..."},
	} {
		if s.event(tt.event); s.show(80, 24) != tt.want {
			t.Errorf("%T: have %q, want %q", tt.event, s.show(80, 24), tt.want)
		}
	}
}

// A case that is not a time gets "more" or "less", not "slower" or "faster".
func TestPictureOfOtherUnits(t *testing.T) {
	s := &scene{now: noon}
	s.ready([]string{"candidate", "base"}, "MB/s", "copy")
	s.round(1, 1)
	s.measured("copy", "candidate", 110)
	s.measured("copy", "base", 100)
	if got := s.show(100, 24); !strings.Contains(got, "candidate 110.0 MB/s") || !strings.Contains(got, "10.0 % more") {
		t.Errorf("%s", got)
	}
}

// In the first round, the remaining time is estimated from the share of cases measured.
func TestTimeLeftInTheFirstRound(t *testing.T) {
	s := &scene{now: noon}
	s.ready([]string{"candidate"}, "ns", "a", "b")
	s.round(1, 2)
	if got := s.show(100, 24); strings.Contains(got, "left") {
		t.Errorf("nothing is known yet: %s", got)
	}
	s.measured("a", "candidate", 1)
	s.now = noon.Add(5 * time.Second)
	if got := s.show(100, 24); !strings.Contains(got, "35 s left") { // 5 s for the rest of this round, 10 s for each of the next three
		t.Errorf("%s", got)
	}
}

// The view must fit the terminal: otherwise it cannot be redrawn.
func TestPictureFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &scene{now: noon}
		var names []string
		for i := range rapid.IntRange(1, 40).Draw(t, "cases") {
			names = append(names, fmt.Sprintf("case-%s-%d", strings.Repeat("x", rapid.IntRange(0, 60).Draw(t, "letters")), i))
		}
		sides := []string{"candidate", "base", "reference"}[:rapid.IntRange(1, 3).Draw(t, "sides")]
		s.ready(sides, "ns", names...)
		s.round(1, len(names))
		for _, name := range names[:rapid.IntRange(0, len(names)).Draw(t, "measured")] {
			for _, side := range sides {
				s.measured(name, side, rapid.SliceOfN(rapid.Float64Range(0, 1e10), 1, 3).Draw(t, "medians")...)
			}
		}
		width, height := rapid.IntRange(1, 200).Draw(t, "width"), rapid.IntRange(1, 60).Draw(t, "height")
		lines := s.lines(s.now, width, height)
		if len(lines) > max(height-1, 1) || len(lines) > maxRows+1 {
			t.Fatalf("%d lines on %d", len(lines), height)
		}
		for _, line := range lines {
			if utf8.RuneCountInString(line) > width {
				t.Fatalf("%q is wider than %d", line, width)
			}
		}
	})
}
