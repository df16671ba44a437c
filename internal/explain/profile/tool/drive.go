package tool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/shell"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
)

// driveOptions describes how to run a target under a tool.
type driveOptions struct {
	tool       string
	slower     int       // how many times slower a program may be under the tool; timeouts scale with it
	iterations int       // runs that count; 0 for one
	exact      bool      // the harness must mark the runs that count
	env        []string  // in addition to the target's
	log        io.Writer // receives the output of tool and program; nil for none
	// runs, if set, replaces the warm-up and the runs that count, for tools that are switched on and off.
	runs func(ctx context.Context, s *harness.Session) error
}

// drive starts a target with the command prefix wrap (valgrind --tool=...) and runs what counts,
// after greeting, preparation and warm-up. A plain command just runs.
func drive(ctx context.Context, t Target, wrap []string, how driveOptions) error {
	if t.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, t.Timeout, fmt.Errorf("it took longer than %v", t.Timeout))
		defer cancel()
	}
	c := wrapped(t.Command, wrap, how)
	err := driveCommand(ctx, t, c, how)
	if err == nil {
		return nil
	}
	if trouble, ok := errors.AsType[*Error](err); ok {
		return trouble
	}
	if e, ok := errors.AsType[*harness.Error](err); ok {
		e.Command = t.Command.Line // without the tool's prefix, so that the user recognizes it
	}
	return &Error{
		Tool: how.tool, What: t.what(), Why: err.Error(),
		Fix: "run it by hand, without the tool: cd " + shell.Quote(t.Command.Dir) + " && " + t.Command.Line, Err: err,
	}
}

func driveCommand(ctx context.Context, t Target, c harness.Command, how driveOptions) error {
	if t.Plain {
		_, err := harness.Output(ctx, c)
		return err
	}
	s, err := harness.Start(ctx, c, t.Hello)
	if err != nil {
		return err
	}
	defer s.Kill()
	if how.exact && !s.Welcome.Has(harness.FeatureProfile) {
		return &Error{
			Tool: how.tool, What: t.what(), Why: fmt.Sprintf("its harness (%s) does not mark the runs that count", s.Welcome.SDK),
			Fix: "update its SDK: pawl sdk writes the current one; a harness without the SDK must answer the profile request of the harness protocol",
		}
	}
	if _, err := s.Prepare(ctx, t.Prepare); err != nil {
		return err
	}
	if how.runs != nil {
		err = how.runs(ctx, s)
	} else {
		err = runWarmupAndProfile(ctx, s, t.Warmup, max(1, how.iterations))
	}
	if err != nil {
		return err
	}
	return s.Bye(ctx)
}

// runWarmupAndProfile requests the warm-up and then the runs that count. A harness that cannot mark them
// still runs them: a tool may select them by name and count.
func runWarmupAndProfile(ctx context.Context, s *harness.Session, warmup, iterations int) error {
	switch {
	case s.Welcome.Has(harness.FeatureProfile):
		_, err := s.Profile(ctx, harness.Profile{Iterations: iterations, Warmup: warmup})
		return err
	case s.Welcome.Has(harness.FeatureRun):
		return s.Run(ctx, harness.Run{Iterations: warmup + iterations})
	default:
		_, err := s.Measure(ctx, "what counts", harness.Measure{Samples: warmup + iterations})
		return err
	}
}

// wrapped prefixes a command with a tool, and scales its timeouts.
func wrapped(c harness.Command, wrap []string, how driveOptions) harness.Command {
	if len(wrap) > 0 {
		words := make([]string, len(wrap))
		for i, w := range wrap {
			words[i] = shell.Quote(w)
		}
		c.Line = strings.Join(words, " ") + " sh -c " + shell.Quote(c.Line)
	}
	if c.Silence <= 0 {
		c.Silence = time.Minute
	}
	c.Silence = time.Duration(max(1, how.slower)) * c.Silence
	c.Limit = time.Duration(max(1, how.slower)) * c.Limit
	c.Grace = max(c.Grace, time.Minute) // a tool writes its report at the end
	c.Env = append(append([]string(nil), c.Env...), how.env...)
	switch {
	case how.log != nil && c.Log != nil:
		c.Log = io.MultiWriter(c.Log, how.log)
	case how.log != nil:
		c.Log = how.log
	}
	return c
}

// what describes what is attempted, for messages.
func (t Target) what() string {
	if t.Plain || t.Prepare.Benchmark == "" {
		return fmt.Sprintf("profiling %q", t.Command.Line)
	}
	return fmt.Sprintf("profiling %s (%s)", t.Prepare.Benchmark, t.Prepare.Implementation)
}
