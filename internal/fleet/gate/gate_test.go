package gate

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/goatnote-inc/pawl/internal/fleet/job"
	"github.com/goatnote-inc/pawl/internal/fleet/placement"
	"github.com/goatnote-inc/pawl/internal/fleet/placer"
)

func TestGate_Paths(t *testing.T) {
	broken := temporal.NewApplicationError("no space on the disk", "agent")
	for _, c := range []struct {
		name     string
		devices  []string
		answers  []answer
		attempts []string
		state    State
		reason   string
	}{
		{name: "first attempt", devices: []string{"a"}, attempts: []string{"p-G-l4-1 1 on a"}, state: Done},
		{
			name: "agent lost and back: same lease, same card", devices: []string{"a", "b"},
			answers:  []answer{{after: time.Minute, err: errLost}},
			attempts: []string{"p-G-l4-1 1 on a", "p-G-l4-1 2 on a"}, state: Done,
		},
		{
			name: "agent lost for good: another card anew", devices: []string{"a", "b"},
			answers:  []answer{{after: time.Minute, err: errLost}, {after: 20 * time.Second, err: errNotServed}},
			attempts: []string{"p-G-l4-1 1 on a", "p-G-l4-1 2 on a", "p-G-l4-2 3 on b"}, state: Done,
		},
		{
			name: "lost twice: another card anew", devices: []string{"a", "b"},
			answers:  []answer{{after: time.Minute, err: errLost}, {after: 30 * time.Second, err: errLost}},
			attempts: []string{"p-G-l4-1 1 on a", "p-G-l4-1 2 on a", "p-G-l4-2 3 on b"}, state: Done,
		},
		{
			name: "lease not taken: next card without a second offer", devices: []string{"a", "b"},
			answers:  []answer{{after: time.Minute, err: errNotServed}},
			attempts: []string{"p-G-l4-1 1 on a", "p-G-l4-2 2 on b"}, state: Done,
		},
		{
			name: "agent fails: next card", devices: []string{"a", "b"},
			answers:  []answer{{err: broken}},
			attempts: []string{"p-G-l4-1 1 on a", "p-G-l4-2 2 on b"}, state: Done,
		},
		{
			name: "host cannot measure: next card", devices: []string{"a", "b"},
			answers:  []answer{{exit: job.ExitCannot}},
			attempts: []string{"p-G-l4-1 1 on a", "p-G-l4-2 2 on b"}, state: Done,
		},
		{
			name: "two hosts cannot measure: so it is", devices: []string{"a", "b", "c"},
			answers:  []answer{{exit: job.ExitCannot}, {exit: job.ExitCannot}},
			attempts: []string{"p-G-l4-1 1 on a", "p-G-l4-2 2 on b"}, state: Done,
		},
		{
			name: "no round in all of its time: no other card", devices: []string{"a", "b"},
			answers:  []answer{{exit: job.ExitCannot, after: 29 * time.Minute}},
			attempts: []string{"p-G-l4-1 1 on a"}, state: Done,
		},
		{
			name: "nothing to test: no other card", devices: []string{"a", "b"},
			answers:  []answer{{exit: 2}},
			attempts: []string{"p-G-l4-1 1 on a"}, state: Done,
		},
		{
			name: "answer for an earlier attempt: next card", devices: []string{"a", "b"},
			answers:  []answer{{after: time.Minute, err: errLost}, {stale: true}},
			attempts: []string{"p-G-l4-1 1 on a", "p-G-l4-1 2 on a", "p-G-l4-2 3 on b"}, state: Done,
		},
		{
			name: "frozen agent answers during the next attempt: refused", devices: []string{"a", "b"},
			answers:  []answer{{after: time.Minute, err: errLost, late: 30 * time.Second}, {after: 20 * time.Second, err: errNotServed}},
			attempts: []string{"p-G-l4-1 1 on a", "p-G-l4-1 2 on a", "p-G-l4-2 3 on b"}, state: Done,
		},
		{
			name: "too long: no other card", devices: []string{"a", "b"},
			answers:  []answer{{after: 30 * time.Minute, err: errTooLong}},
			attempts: []string{"p-G-l4-1 1 on a"}, state: Failed, reason: "activity error",
		},
		{
			name: "five cards fail", devices: []string{"a", "b"},
			answers:  []answer{{err: broken}, {err: broken}, {err: broken}, {err: broken}, {err: broken}},
			attempts: []string{"p-G-l4-1 1 on a", "p-G-l4-2 2 on b", "p-G-l4-3 3 on a", "p-G-l4-4 4 on b", "p-G-l4-5 5 on a"}, state: Failed, reason: "no space on the disk",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, c.devices, c.answers...)
			out, err := w.run()
			if err != nil {
				t.Fatal(err)
			}
			if got := w.attempts(); !slices.Equal(got, c.attempts) {
				t.Errorf("attempts %q, want %q", got, c.attempts)
			}
			if out.State != c.state || out.Reason != c.reason && c.reason != "activity error" {
				t.Errorf("outcome %+v, want %s %q", out, c.state, c.reason)
			}
			w.check(out)
			if last := w.notes[len(w.notes)-1]; c.state == Failed && last.State != Failed {
				t.Errorf("last note %+v", last)
			}
		})
	}
}

// check compares what was published with the outcome, and that no lease is left.
func (w *world) check(out Outcome) {
	w.t.Helper()
	want := 0
	if out.State == Done {
		want = 1
	}
	if len(w.made) != want {
		w.t.Fatalf("%d publications, want %d: %+v", len(w.made), want, w.made)
	}
	if want == 1 && (w.made[0].Result != out.Result || out.Result.Attempt != len(w.leases) || w.made[0].Device != out.Device) {
		w.t.Fatalf("published %+v, outcome %+v after %d attempts", w.made[0], out, len(w.leases))
	}
	if n := len(w.state.Leases) + len(w.state.Requests); n != 0 {
		w.t.Fatalf("%d leases and requests are left", n)
	}
}

func TestEngineWasAway(t *testing.T) {
	now := time.Date(2026, 11, 18, 7, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"the last beat is as old as the timeout": {temporal.NewHeartbeatTimeoutError(job.Beat{At: now.Add(-heartbeat)}), false},
		"it is minutes old":                      {temporal.NewHeartbeatTimeoutError(job.Beat{At: now.Add(-5 * time.Minute)}), true},
		"an agent without a clock":               {temporal.NewHeartbeatTimeoutError(job.Beat{Phase: "measuring"}), false},
		"no beat":                                {errLost, false},
		"another error":                          {errors.New("broken"), false},
	} {
		if got := engineWasAway(c.err, now); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestGate_LateAnswerIsRefused(t *testing.T) {
	w := newWorld(t, []string{"a", "b"}, answer{after: time.Minute, err: errLost, late: 5 * time.Second}, answer{after: 20 * time.Second, err: errNotServed})
	if _, err := w.run(); err != nil {
		t.Fatal(err)
	}
	if w.refused != 1 || len(w.made) != 1 || w.made[0].Device != "b" {
		t.Errorf("%d refusals, published %+v", w.refused, w.made)
	}
}

func TestGate_ReservedTimeIsGivenBack(t *testing.T) {
	w := newWorld(t, []string{"a", "b", "c"}, answer{after: time.Minute, err: errNotServed}, answer{after: 70 * time.Second, err: errLost}, answer{after: 20 * time.Second, err: errNotServed})
	if _, err := w.run(); err != nil {
		t.Fatal(err)
	}
	if len(w.released) != 3 {
		t.Fatalf("released %+v", w.released)
	}
	if r := w.released[0]; !r.Lost || r.Seconds != 0 {
		t.Errorf("a lease that was not taken: %+v", r)
	}
	if r := w.released[1]; !r.Lost || r.Seconds < 90 {
		t.Errorf("a lost device: %+v", r)
	}
	if r := w.released[2]; r.Failed || r.Seconds < 60 {
		t.Errorf("the device that measured: %+v", r)
	}
}

func TestGate_BothAttemptsStayWithinTheReservedTime(t *testing.T) {
	w := newWorld(t, []string{"a"}, answer{after: 20 * time.Minute, err: errLost})
	if _, err := w.run(); err != nil {
		t.Fatal(err)
	}
	if len(w.leases) != 2 || w.leases[0].Seconds != 1800 || w.leases[1].Seconds > 600 {
		t.Errorf("leases %+v", w.leases)
	}
}

func TestGate_Canceled(t *testing.T) {
	for _, c := range []struct {
		name    string
		devices []string
		at      time.Duration
	}{
		{"while it waits for a device", nil, time.Hour},
		{"while it measures", []string{"a"}, 30 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, c.devices, answer{after: 20 * time.Minute, err: temporal.NewCanceledError()})
			w.env.RegisterDelayedCallback(w.env.CancelWorkflow, c.at)
			_, err := w.run()
			if !temporal.IsCanceledError(errors.Unwrap(err)) && !temporal.IsCanceledError(err) {
				t.Fatalf("error %v, want canceled", err)
			}
			w.check(Outcome{State: Canceled})
			if last := w.notes[len(w.notes)-1]; last.State != Canceled {
				t.Errorf("last note %+v", last)
			}
			if len(w.released)+w.withdrew != 1 {
				t.Errorf("released %+v, withdrew %d: want one of them", w.released, w.withdrew)
			}
		})
	}
}

func TestGate_NoDeviceForADay(t *testing.T) {
	w := newWorld(t, nil)
	out, err := w.run()
	if err != nil || out.State != Failed || out.Reason != "no device of model l4 was free within 24h0m0s" {
		t.Errorf("outcome %+v, %v", out, err)
	}
	w.check(out)
}

// Seeded schedules of everything that can go wrong, in simulated time: never two publications, and no lease left.
func TestGate_Schedules(t *testing.T) {
	states := map[State]int{}
	refused := 0
	for seed := range uint64(1000) {
		r := rand.New(rand.NewPCG(seed, 4))
		var answers []answer
		for range r.IntN(9) {
			a := answer{after: time.Duration(r.IntN(1700)) * time.Second}
			switch r.IntN(7) {
			case 0, 1:
				a.err = errLost
			case 2:
				a.err, a.after = errNotServed, time.Minute
			case 3:
				a.err = temporal.NewApplicationError("broken", "agent")
			case 4:
				a.stale = true
			case 5:
				a.err, a.after = errTooLong, 30*time.Minute
			}
			if a.err != nil && r.IntN(2) == 0 {
				a.late = time.Duration(1+r.IntN(3000)) * time.Second
			}
			answers = append(answers, a)
		}
		w := newWorld(t, []string{"a", "b", "c"}[:1+r.IntN(3)], answers...)
		if r.IntN(3) == 0 {
			w.env.RegisterDelayedCallback(w.env.CancelWorkflow, time.Duration(1+r.IntN(3600))*time.Second)
		}
		out, err := w.run()
		if err != nil {
			out.State = Canceled
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
		w.check(out)
		states[out.State]++
		refused += w.refused
	}
	t.Logf("outcomes %v, %d late results refused", states, refused)
	if len(states) != 3 || refused == 0 {
		t.Errorf("outcomes %v, %d refusals: the schedules do not reach every end", states, refused)
	}
}

func TestFanOut_OneOutcomeForEachModel(t *testing.T) {
	w := newWorld(t, []string{"a", "b"})
	w.env.ExecuteWorkflow(Several, testWork, []string{"h100", "l4"})
	var list []Outcome
	if err := w.env.GetWorkflowResult(&list); err != nil {
		t.Fatal(err)
	}
	if len(list) != 2 || list[0].Model != "h100" || list[1].Model != "l4" || list[0].State != Done || list[1].State != Done || len(w.made) != 2 {
		t.Errorf("outcomes %+v, published %+v", list, w.made)
	}
}

func TestFanOut_LeaseOfAnEndedPartIsGivenBack(t *testing.T) {
	w := newWorld(t, []string{"a", "b"}, answer{after: 20 * time.Minute}, answer{after: time.Minute})
	w.env.RegisterDelayedCallback(func() { // both were sent again; one part has ended by now
		for _, lease := range []string{"p-G-h100-1", "p-G-l4-1"} {
			w.env.SignalWorkflow(placer.Granted, placement.Lease{Request: placement.Request{Lease: lease}})
		}
	}, 5*time.Minute)
	w.env.ExecuteWorkflow(Several, testWork, []string{"h100", "l4"})
	if err := w.env.GetWorkflowError(); err != nil || w.withdrew != 1 || len(w.made) != 2 {
		t.Errorf("%v; withdrew %d, published %+v", err, w.withdrew, w.made)
	}
}

func TestFanOut_CanceledOnAllModels(t *testing.T) {
	w := newWorld(t, nil)
	w.env.RegisterDelayedCallback(w.env.CancelWorkflow, time.Hour)
	w.env.ExecuteWorkflow(Several, testWork, []string{"h100", "l4"})
	if err := w.env.GetWorkflowError(); err == nil {
		t.Error("a canceled gate ended without an error")
	}
	if w.withdrew != 2 || len(w.made) != 0 {
		t.Errorf("withdrew %d, published %+v", w.withdrew, w.made)
	}
}

func TestFence(t *testing.T) {
	var f Fence
	f.Raise(1)
	f.Raise(3)
	f.Raise(2)
	if _, err := f.Publish(2); err == nil {
		t.Error("attempt 2 published though 3 has started")
	}
	if _, err := f.Publish(0); err == nil {
		t.Error("attempt 0 published")
	}
	if fresh, err := f.Publish(3); !fresh || err != nil {
		t.Errorf("attempt 3: %v, %v", fresh, err)
	}
	if fresh, err := f.Publish(3); fresh || err != nil {
		t.Errorf("attempt 3 again: %v, %v", fresh, err)
	}
	if _, err := f.Publish(4); err == nil {
		t.Error("attempt 4 published though 3 has")
	}
}
