package remote

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/base/version"
	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/internal/judge/runner"
	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
	"github.com/goatnote-inc/pawl/stats"
)

// Minimum time between two live updates. A CI job requests a token for each update.
const (
	liveEvery    = time.Second
	liveEveryJob = 10 * time.Second
)

// LiveFlag is the flag --live of commands that measure.
type LiveFlag struct{ on bool }

// Register adds the flag.
func (f *LiveFlag) Register(fl *pflag.FlagSet) {
	fl.BoolVar(&f.on, "live", false, "send live progress to the server of PAWL_SERVER and PAWL_PROJECT (also: PAWL_LIVE=1)")
}

// Check rejects --live if no server is configured. PAWL_LIVE without a server does not stop a run.
func (f *LiveFlag) Check(g *env.Env) error {
	if !f.on {
		return nil
	}
	push := liveServer(g)
	if push.URL == "" || push.Project == "" {
		return errors.New("--live: set PAWL_SERVER and PAWL_PROJECT to a pawl server, and PAWL_TOKEN to a key")
	}
	return push.Destination().Check()
}

func liveServer(g *env.Env) *Server {
	return &Server{Env: g, URL: g.Getenv("PAWL_SERVER"), Project: g.Getenv("PAWL_PROJECT")}
}

// liveReporter sends short messages about a run to a server. A nil liveReporter sends nothing.
type liveReporter struct {
	*client.LiveReporter
	mu    sync.Mutex
	about client.LiveEvent
	cases map[string]measure.Case // by name
	sides map[liveKey][]float64   // medians of the rounds that were not dropped
	fresh map[liveKey]float64     // medians of the current round
}

type liveKey struct{ name, side string }

// Start starts live updates of a run, if enabled. Their failures do not affect the run.
func (f *LiveFlag) Start(ctx context.Context, g *env.Env, o runner.Options) *liveReporter {
	push := liveServer(g)
	switch {
	case !f.on && g.Getenv("PAWL_LIVE") != "1":
		return nil
	case push.Destination().Check() != nil:
		g.Say("PAWL_LIVE: PAWL_SERVER and PAWL_PROJECT do not name a server, so no live progress is sent")
		return nil
	}
	c, every := push.Client(), liveEvery
	c.Say = g.Say
	_, job, _ := g.CurrentJob() // an event that cannot be read names no branch
	if g.Getenv("PAWL_TOKEN") == "" && job.Identity {
		every = liveEveryJob
	}
	t := &liveReporter{
		LiveReporter: c.Live(ctx, runner.NewID(push.Clock()()), every),
		about:        client.LiveEvent{Suite: o.Suite.Name, Branch: job.Branch, Pawl: version.Version()},
		cases:        map[string]measure.Case{}, sides: map[liveKey][]float64{}, fresh: map[liveKey]float64{},
	}
	t.step("preparing")
	return t
}

func (t *liveReporter) step(format string, args ...any) {
	t.Send(client.LiveEvent{Kind: client.LiveStep, Text: fmt.Sprintf(format, args...)})
}

// Event sends the events that users want to see.
func (t *liveReporter) Event(e runner.Event) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch e := e.(type) {
	case runner.Building:
		t.step("building %s", e.Side)
	case runner.Waiting:
		t.step("waiting for %s", e.What)
	case runner.FuzzPlanned:
		t.step("checking results of %s", e.Benchmark)
	case runner.Profiling:
		t.step("profiling %s of %s", e.Side, e.Case)
	case runner.Confirming:
		t.step("confirming the gain of %s", words.Plural(len(e.Cases), "case"))
	case runner.Listed:
		for _, c := range e.Cases {
			t.cases[c.Name()] = c
		}
	case runner.Ready:
		started := t.about
		started.Kind, started.Run, started.Commit, started.Device, started.Now = client.LiveStarted, e.Run, e.Commit, e.Device.Name, liveState(e.State)
		started.Sides, started.Cases, started.Planned = e.Sides, e.Cases, e.Rounds
		clear(t.sides)
		clear(t.fresh)
		t.Send(started)
	case runner.Measuring:
		t.measuring(e.Event)
	}
}

func (t *liveReporter) measuring(e trial.Event) {
	switch e := e.(type) {
	case trial.RoundStarted:
		clear(t.fresh)
	case trial.SideStarted:
		t.Send(client.LiveEvent{Kind: client.LiveSide, Side: e.Side, Round: e.Round + 1, Now: liveState(e.State)})
	case trial.CaseMeasured:
		name := e.Result.Case.Name()
		told := client.LiveEvent{Kind: client.LiveCase, Side: e.Side, Case: name, Unit: t.cases[name].Unit, Better: t.cases[name].Better, Text: e.Result.Round.Error}
		key := liveKey{told.Case, e.Side}
		told.Round = len(t.sides[key]) + 1
		if told.Text == "" && len(e.Result.Round.Samples) > 0 {
			told.Median = stats.Median(e.Result.Round.Samples)
			told.Value = stats.Median(append(slices.Clip(t.sides[key]), told.Median))
			t.fresh[key] = told.Median
		}
		t.Send(told)
	case trial.RoundDone:
		if e.Round.Dropped == "" {
			for key, median := range t.fresh {
				t.sides[key] = append(t.sides[key], median)
			}
		}
		t.Send(client.LiveEvent{Kind: client.LiveRound, Round: e.Number, Of: e.Of, Text: e.Round.Dropped})
	case trial.Looked:
		t.Send(client.LiveEvent{Kind: client.LiveLook, Round: e.Rounds, Undecided: len(e.Undecided)})
	}
}

// End sends the outcome and closes the connection.
func (t *liveReporter) End(v ratchet.Result, err error) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if v.Verdict != "" && err == nil {
		t.Send(client.LiveEvent{Kind: client.LiveVerdict, Verdict: v.Verdict, Text: v.Sentence})
	}
	ended := client.LiveEvent{Kind: client.LiveEnded, State: string(measure.Complete)}
	switch {
	case errors.Is(err, context.Canceled) || errors.Is(err, command.ErrInterrupted):
		ended.State = string(measure.Interrupted)
	case err != nil:
		ended.State = string(measure.Failed)
		ended.Text, _, _ = strings.Cut(err.Error(), "\n")
	}
	t.Send(ended)
	t.Close()
}

func liveState(s gpu.State) client.LiveDevice {
	return client.LiveDevice{TemperatureC: s.TemperatureC, SMClockMHz: s.SMClockMHz, PowerW: s.PowerW, Reasons: s.Reasons.Names()}
}
