package correctness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/internal/kernel/tensor"
	"github.com/goatnote-inc/pawl/measure"
)

// Process is a harness, a launcher or an oracle that is started when needed, and
// again after it broke.
type Process struct {
	Start func(ctx context.Context) (*harness.Session, error)
	Dir   string // absolute folder for the files it writes. A reference has its own folder

	session *harness.Session
	end     context.CancelFunc // cancels the session's context
	count   int
}

// open returns the current session, or starts one. A session outlives the request that
// started it, for example one of a search with a time limit. Canceling the request
// cancels the session's context only while the session starts.
func (p *Process) open(ctx context.Context) (s *harness.Session, fresh bool, err error) {
	if p.session != nil {
		return p.session, false, nil
	}
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, end)
	defer stop()
	if s, err = p.Start(life); err != nil {
		end()
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, true, err
	}
	p.session, p.end = s, end
	return s, true, nil
}

// drop kills the session. The next use starts a fresh process.
func (p *Process) drop() {
	if p.session != nil {
		p.session.Kill()
		p.end()
		p.session = nil
	}
}

// Close ends the process cleanly.
func (p *Process) Close(ctx context.Context) error {
	if p.session == nil {
		return nil
	}
	err := p.session.Bye(ctx)
	p.end()
	p.session = nil
	return err
}

// file returns the name of the next file for the process to write.
func (p *Process) file() string {
	p.count++
	return filepath.Join(p.Dir, fmt.Sprintf("out-%p-%d.safetensors", p, p.count))
}

// load reads a file that the process wrote, and deletes it. Its size is bounded by what
// the outputs need; a larger file is rejected unread.
func (p *Process) load(path string, arguments []tensor.Argument, bytesEach func(tensor.Argument) int) ([]tensor.Tensor, error) {
	defer os.Remove(path)
	limit := int64(1 << 20) // header
	for _, a := range outputs(arguments) {
		t, err := tensor.Tensor{Name: a.Name, DType: a.DType, Shape: a.Shape, Strides: a.Strides}.Span()
		if err != nil {
			return nil, fmt.Errorf("argument %q: %w", a.Name, err)
		}
		limit += int64(t) * int64(bytesEach(a))
	}
	return tensor.Load(path, limit)
}

// HarnessSubject is a kernel run by a harness or by pawl's launcher.
type HarnessSubject struct {
	Process
	Implementation string
	// Launch returns what the launcher must start; nil for a harness.
	Launch func(suite.Params) (*harness.Launch, error)
	// Complete adds parameters that control how a config is computed; nil adds none.
	Complete func(suite.Params) suite.Params

	prepared string // the config that the session has prepared
}

// Run prepares the config, if it differs from the last, and asks for a check.
func (h *HarnessSubject) Run(ctx context.Context, t Task) ([]tensor.Tensor, error) {
	in, err := t.Contents.File()
	if err != nil {
		return nil, err
	}
	session, fresh, err := h.open(ctx)
	if err != nil {
		return nil, fmt.Errorf("cannot start the kernel's process: %w", err)
	}
	if key := t.Benchmark + paramsKey(t.Params); fresh || h.prepared != key {
		h.prepared = ""
		if err := h.prepare(ctx, session, t); err != nil {
			return nil, h.blame(ctx, err)
		}
		h.prepared = key
	}
	out := h.file()
	if err := session.Check(ctx, harness.Check{Inputs: in, Outputs: out, Poison: t.Poison}); err != nil {
		_ = os.Remove(out)
		return nil, h.blame(ctx, err)
	}
	list, err := h.load(out, t.Arguments, func(a tensor.Argument) int { return a.DType.Size() })
	if err != nil {
		h.drop()
		return nil, &FaultError{Kind: "no outputs", Message: "its outputs cannot be read: " + err.Error()}
	}
	return list, nil
}

func (h *HarnessSubject) prepare(ctx context.Context, session *harness.Session, t Task) error {
	params := t.Params
	if h.Complete != nil {
		params = h.Complete(params)
	}
	p := harness.Prepare{
		Benchmark: t.Benchmark, Implementation: h.Implementation, Params: params.Map(),
		Cache: measure.Hot, Timer: session.Welcome.Timers[0], Seed: t.Poison, Arguments: t.Arguments,
	}
	if h.Launch != nil {
		launch, err := h.Launch(t.Params)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrUnsupported, err)
		}
		p.Launch = launch
	}
	_, err := session.Prepare(ctx, p)
	return err
}

// blame decides whether the kernel is at fault. It drops a broken process, and also one
// whose kernel wrote out of bounds, because it may have damaged anything.
func (h *HarnessSubject) blame(ctx context.Context, err error) error {
	e, ok := errors.AsType[*harness.Error](err)
	switch {
	case ctx.Err() != nil:
		h.drop()
		return context.Cause(ctx)
	case !ok:
		return err
	case e.Kind == harness.NotStarted || e.Kind == harness.BadVersion || e.Kind == harness.Refused && e.Code == "no_device":
		h.drop()
		return err
	case e.Kind == harness.Refused && (e.Code == "unsupported" || e.Code == "bad_params" || e.Code == "no_memory"):
		return fmt.Errorf("%w: %s", ErrUnsupported, strings.TrimSpace(e.Detail+"; "+e.Hint))
	case e.Broken() || e.Code == harness.CodeIntegrity:
		h.drop()
	}
	kind := string(e.Kind)
	if e.Kind == harness.Refused {
		kind = e.Code
	}
	return &FaultError{Kind: kind, Message: clean(e.Error())}
}

// CommandReference is an oracle process: a program that computes correct results. Its inputs are
// copied to its own folder, so that it needs no access to the kernel's outputs.
type CommandReference struct{ Process }

// Compute asks the oracle for the correct result.
func (c *CommandReference) Compute(ctx context.Context, t Task, naive bool) (Expected, error) {
	own := t.Contents.in(c.Dir)
	defer own.Remove()
	in, err := own.File()
	if err != nil {
		return Expected{}, err
	}
	session, fresh, err := c.open(ctx)
	if err != nil {
		return Expected{}, fmt.Errorf("cannot start the oracle: %w", err)
	}
	if fresh && !session.Welcome.Has(harness.FeatureCompute) {
		c.drop()
		return Expected{}, fmt.Errorf("the oracle does not support compute: its SDK is %q with the features %v; check that it ends with serve() of pawl_oracle.py", session.Welcome.SDK, session.Welcome.Features)
	}
	out := c.file()
	defer os.Remove(out)
	computed, err := session.Compute(ctx, harness.Compute{
		Benchmark: t.Benchmark, Params: t.Params.Map(), Arguments: t.Arguments, Inputs: in, Outputs: out, Naive: naive,
	})
	if err != nil {
		return Expected{}, c.explain(ctx, t, err)
	}
	list, err := c.load(out, t.Arguments, func(a tensor.Argument) int { return 8*a.DType.Lanes() + a.DType.Size() })
	if err != nil {
		return Expected{}, fmt.Errorf("cannot read the oracle's result for %s: %w", suite.ConfigName(t.Params), err)
	}
	return sort(list, computed.Naive), nil
}

func (c *CommandReference) explain(ctx context.Context, t Task, err error) error {
	if ctx.Err() != nil {
		c.drop()
		return context.Cause(ctx)
	}
	e, ok := errors.AsType[*harness.Error](err)
	if ok && e.Broken() {
		c.drop()
	}
	if ok && e.Kind == harness.Refused && (e.Code == "unsupported" || e.Code == "bad_params" || e.Code == "no_memory") {
		return fmt.Errorf("%w by the oracle: %s", ErrUnsupported, clean(e.Detail))
	}
	return fmt.Errorf("the oracle returned no result for %s: %w", suite.ConfigName(t.Params), err)
}

// sort separates correct results from naive ones, which are named NAME.naive.
func sort(list []tensor.Tensor, naive bool) Expected {
	var r Expected
	for _, t := range list {
		name, isNaive := strings.CutSuffix(t.Name, ".naive")
		switch {
		case !isNaive:
			r.Want = append(r.Want, t)
		case naive:
			t.Name = name
			r.Naive = append(r.Naive, t)
		}
	}
	return r
}

// ImplementationReference treats the result of another implementation as correct. Its inputs are
// copied to Dir, the folder that Subject writes to.
type ImplementationReference struct {
	Subject Subject
	Dir     string
}

// Compute runs the implementation. A failure of it says nothing about the kernel.
func (i ImplementationReference) Compute(ctx context.Context, t Task, _ bool) (Expected, error) {
	t.Contents = t.Contents.in(i.Dir)
	defer t.Contents.Remove()
	list, err := i.Subject.Run(ctx, t)
	if fault, ok := errors.AsType[*FaultError](err); ok {
		return Expected{}, fmt.Errorf("the reference implementation itself fails for %s: %w", suite.ConfigName(t.Params), fault)
	}
	return Expected{Want: list}, err
}
