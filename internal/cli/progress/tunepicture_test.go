package progress

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/judge/runner"
	"github.com/goatnote-inc/pawl/internal/judge/tuning"
	"github.com/goatnote-inc/pawl/internal/report"
	"github.com/goatnote-inc/pawl/internal/tune"
)

// evaluated returns an event of a search in which every point takes a second.
func evaluated(n int, status tune.Status, value, best float64) tuning.Evaluated {
	e := tuning.Evaluated{
		Evaluation: tune.Evaluation{N: n, Status: status, Value: value, Samples: []float64{value}},
		Default:    tune.Evaluation{Value: 2e6},
		Best:       tune.Evaluation{Value: best, Point: map[string]any{"UNROLL": 4.0, "BLOCK": 64.0}},
		Done:       n + 1, Of: 40, Elapsed: time.Duration(n+1) * time.Second,
	}
	if value == best {
		e.Best.N = n
	}
	return e
}

// The view of a search shows its progress, the best point and the defaults, the expected further gain, and the failures.
func TestSearchPicture(t *testing.T) {
	now := time.Unix(1000, 0)
	var p progressView
	p.event(tuning.Ready{Case: "k/N1"}, now)
	if got := p.lines(now, 80, 24); len(got) != 1 || !strings.Contains(got[0], "the defaults") {
		t.Errorf("before the first evaluation: %q", got)
	}
	bests := []float64{2e6, 2e6, 1.8e6, 1.6e6, 1.6e6, 1.25e6, 1.25e6, 1.2e6, 1e6, 1e6}
	for i, best := range bests {
		status, value := tune.OK, best
		switch i {
		case 4:
			status, value = tune.CompileError, 0
		case 6, 9:
			status, value = tune.Wrong, 0
		}
		p.event(evaluated(i, status, value, best), now)
	}
	want := []string{
		"10 of 40 evaluations  #####...............   25 %  30 s left",
		"  default  2.000 ms   best 1.000 ms, 2.00x faster   about 37.5 % more expected",
		"  best     BLOCK=64 UNROLL=4",
		"  failed   1 compile error, 2 wrong",
	}
	if diff := cmp.Diff(want, p.lines(now, 100, 24)); diff != "" {
		t.Errorf("picture (-want +got):\n%s", diff)
	}
	for _, line := range p.lines(now.Add(10*time.Second), 40, 3) {
		if len([]rune(line)) > 40 {
			t.Errorf("wider than the terminal: %q", line)
		}
	}
	if n := len(p.lines(now, 40, 3)); n > 2 {
		t.Errorf("%d lines on a terminal of 3", n)
	}
	p.event(runner.Ready{Sides: []string{"default", "best"}}, now)
	if got := p.lines(now, 80, 24); !strings.Contains(strings.Join(got, "\n"), "calibrating") {
		t.Errorf("the proof is shown as a search: %q", got)
	}
}

// With a time budget, the remaining time limits how many evaluations are left.
func TestSearchPictureByTime(t *testing.T) {
	now := time.Unix(1000, 0)
	var s searchView
	s.event(tuning.Ready{Resumed: 5}, now)
	e := evaluated(9, tune.OK, 1e6, 1e6) // 5 of them here, in 10 s
	e.Of, e.Left = 0, 30*time.Second
	s.event(e, now)
	if got := s.bar(now.Add(2*time.Second), 100); got != "10 evaluations  ######..............   30 %  28 s left" {
		t.Errorf("%q", got)
	}
	if n := s.remainingEvaluations(); n != 15 {
		t.Errorf("%d more evaluations, want 15 of 2 s", n)
	}
}

// Where there is no terminal, every new best gets a line, and the progress gets one from time to time.
func TestSearchLines(t *testing.T) {
	p := &Display{Style: report.Style{}}
	for _, tt := range []struct {
		e    runner.Event
		want string
	}{
		{evaluated(0, tune.OK, 2e6, 2e6), "1 evaluated in 1.0 s: best 2.000 ms (as fast as the default) with BLOCK=64 UNROLL=4"},
		{evaluated(7, tune.OK, 1e6, 1e6), "8 evaluated in 8.0 s: best 1.000 ms (2.00x faster than the default) with BLOCK=64 UNROLL=4"},
		{evaluated(8, tune.Wrong, 0, 1e6), ""},
		{evaluated(19, tune.OK, 3e6, 1e6), "20 evaluated in 20 s: best 1.000 ms (2.00x faster than the default)"},
		{tuning.ProofChecked{Side: "best", Point: map[string]any{"B": 1}, Checked: 3}, "best (B=1): 3 results checked, all correct"},
		{tuning.ProofChecked{Side: "best", Point: map[string]any{"B": 1}, Checked: 3, Wrong: "y is 0"}, "best (B=1) gives wrong results and is dropped: y is 0"},
	} {
		if got := p.describe(tt.e); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

// Programs get every evaluation. Its samples are only in the journal.
func TestSearchEvents(t *testing.T) {
	var got struct {
		Event      string
		Evaluation map[string]any
		Best       float64 `json:"best_ns"`
		Left       float64 `json:"left_seconds"`
	}
	if err := json.Unmarshal([]byte(jsonEvent(evaluated(3, tune.OK, 1e6, 1e6))), &got); err != nil {
		t.Fatal(err)
	}
	if got.Event != "tune_evaluated" || got.Best != 1e6 || got.Evaluation["status"] != "ok" || got.Evaluation["samples"] != nil {
		t.Errorf("%+v", got)
	}
	for _, e := range []runner.Event{tuning.Ready{}, tuning.ProofChecked{}} {
		if !json.Valid([]byte(jsonEvent(e))) {
			t.Errorf("%T is no JSON", e)
		}
	}
}
