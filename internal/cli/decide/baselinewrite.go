package decide

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"time"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/judge/ledger"
	"github.com/goatnote-inc/pawl/internal/judge/runner"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/internal/kernel/device"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// accept records the measured result of the candidate as the baseline, even if it is slower.
// The ledger records the actor, the time and the reason.
func (f *baselineFlags) accept(ctx context.Context) error {
	if f.reason == "" {
		return command.Usage(errors.New("--reason is required: the ledger records why the result was accepted"))
	}
	_, dir, l, err := f.open(ctx)
	if err != nil {
		return err
	}
	path := cmp.Or(f.record, filepath.Join(dir, "results", "current.json"))
	run, err := measure.Load(path)
	if err != nil {
		return command.Usage(fmt.Errorf("no result to accept: %w\n  measure with pawl run or pawl bench first, or set --record", err))
	}
	var commit string
	for _, im := range run.Implementations {
		if im.Name == suite.Candidate {
			if commit = im.Commit; im.Dirty {
				return command.Usage(fmt.Errorf("%s was measured with uncommitted changes: commit them, measure again, then accept", path))
			}
		}
	}
	if commit == "" {
		return command.Usage(fmt.Errorf("%s does not name the measured commit", path))
	}
	kept, err := l.Append(ctx, func(ledger.State) ([]ratchet.Entry, error) {
		var list []ratchet.Entry
		for _, c := range run.Cases {
			if c.Implementation != suite.Candidate || !runner.HasBaseline(c) || !matchesCase(f.cases, c.Name()) {
				continue
			}
			session, bed, err := ratchet.SessionOf(run, c.Name(), suite.Candidate)
			if err != nil {
				return nil, err
			}
			list = append(list, ratchet.Entry{
				Kind: ratchet.KindAccepted, Time: time.Now().UTC(), Case: c.Name(), Testbed: bed, Commit: commit,
				Session: &session, Reason: f.reason, Actor: actor(ctx, dir),
			})
		}
		if len(list) == 0 {
			return nil, command.Usage(fmt.Errorf("no case in %s matches %q", path, f.cases))
		}
		return list, nil
	})
	return f.printEntries(kept, err)
}

func (f *baselineFlags) reset(ctx context.Context) error {
	if f.reason == "" {
		return command.Usage(errors.New("--reason is required: the ledger records why the baseline was reset"))
	}
	_, dir, l, err := f.open(ctx)
	if err != nil {
		return err
	}
	kept, err := l.Append(ctx, func(s ledger.State) ([]ratchet.Entry, error) {
		var list []ratchet.Entry
		for _, b := range s.Baselines.All() {
			if matchesCase(f.cases, b.Case) {
				list = append(list, ratchet.Entry{
					Kind: ratchet.KindReset, Time: time.Now().UTC(), Case: b.Case, Testbed: b.Testbed, Reason: f.reason, Actor: actor(ctx, dir),
				})
			}
		}
		if len(list) == 0 {
			return nil, command.Usage(errors.New("no baseline matches: run `pawl baseline show` to list them"))
		}
		return list, nil
	})
	return f.printEntries(kept, err)
}

// migrate imports an older baseline file for the device of this machine.
func (f *baselineFlags) migrate(ctx context.Context, file string) error {
	s, dir, l, err := f.open(ctx)
	if err != nil {
		return err
	}
	data, err := os.Open(file)
	if err != nil {
		return command.Usage(err)
	}
	defer data.Close()
	inv, err := device.List(ctx, device.Options{})
	if err != nil {
		return err
	}
	dev, err := inv.Select(s.Device.Kind, s.Device.Select)
	if err != nil {
		return err
	}
	state, err := dev.State(ctx)
	if err != nil {
		return err
	}
	repo, repoErr := build.Open(ctx, dir)
	benchmark := benchmarkName(s)
	entries, err := ledger.Migrate(data, ledger.Migration{
		Benchmark: benchmark, Testbed: measure.NewTestbed(dev.Identity(), state, s.Device.Clocks), Timer: timerOf(s, benchmark, dev.Identity().Kind),
		Now: time.Now().UTC(), Actor: actor(ctx, dir),
		Resolve: func(commit string) (string, error) {
			if repoErr != nil {
				return "", repoErr
			}
			return repo.Commit(ctx, commit)
		},
	})
	if err != nil {
		return command.Usage(err)
	}
	kept, err := l.Append(ctx, func(ledger.State) ([]ratchet.Entry, error) { return entries, nil })
	return f.printEntries(kept, err)
}

// benchmarkName returns the name of the only benchmark of a suite, or else the name of the suite.
func benchmarkName(s *suite.Suite) string {
	if len(s.Benchmarks) == 1 {
		return s.Benchmarks[0].Name
	}
	return s.Name
}

// timerOf returns the clock of a benchmark's times: the one that the suite names, or the usual one of the device. A
// baseline without it would never be found again, because the clock is part of a testbed.
func timerOf(s *suite.Suite, benchmark string, kind gpu.Kind) measure.Timer {
	for _, c := range s.Cases() {
		if c.Benchmark == benchmark && c.Timer != "" {
			return c.Timer
		}
	}
	if kind == gpu.CPU {
		return measure.TimerWall
	}
	return measure.TimerDevice
}

func (f *baselineFlags) printEntries(kept []ratchet.Entry, err error) error {
	if err != nil {
		return err
	}
	if f.json {
		return command.WriteJSON(f.Out, map[string]any{"entries": kept})
	}
	for _, e := range kept {
		fmt.Fprintf(f.Out, "%s %s %s\n", e.Kind, e.Case, short(e.Commit))
	}
	return nil
}

// actor returns the name of the user: from git, or else from the operating system.
func actor(ctx context.Context, dir string) string {
	if repo, err := build.Open(ctx, dir); err == nil {
		if name := repo.User(ctx); name != "" {
			return name
		}
	}
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return "unknown"
}
