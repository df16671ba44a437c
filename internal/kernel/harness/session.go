package harness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
)

// Session is a connection to one harness process. It is not safe for concurrent
// use: the protocol allows one request in flight.
type Session struct {
	Welcome Welcome

	command       Command
	process       *process
	lastID        int
	prepared      string // the prepared benchmark, for messages
	checkedLoaded bool   // whether look has checked what the processes loaded
	failed        *Error // once set, every request fails with it
}

// Start starts a harness and greets it. Bye or Kill ends the session.
func Start(ctx context.Context, c Command, hello Hello) (*Session, error) {
	s := &Session{command: c}
	if c.Silence <= 0 {
		s.command.Silence = time.Minute
	}
	if c.Limit <= 0 {
		s.command.Limit = maxSilences * s.command.Silence
	}
	if c.Grace <= 0 {
		s.command.Grace = exitGrace
	}
	if c.Most <= 0 {
		s.command.Most = maxSamples
	}
	p, err := start(ctx, c, "PAWL_PROTOCOL=1", "PAWL_IN=3", "PAWL_OUT=4")
	if e, ok := errors.AsType[*Error](err); ok {
		return nil, e
	}
	if err != nil {
		return nil, &Error{Kind: NotStarted, Role: c.Role, Command: c.Line, Detail: err.Error(), Hint: "check the command and the folder " + c.Dir}
	}
	s.process = p
	hello.Protocol = []int{Version}
	if err := s.ask(ctx, opHello, "say hello", hello, &s.Welcome); err != nil {
		s.Kill()
		return nil, s.explainNoHello(err)
	}
	if s.Welcome.Protocol != Version {
		s.Kill()
		return nil, s.fail(BadVersion, "say hello", fmt.Sprintf("it uses version %d, pawl uses version %d", s.Welcome.Protocol, Version),
			fmt.Sprintf("update the SDK in the harness (it reports %q)", s.Welcome.SDK))
	}
	if len(s.Welcome.Timers) == 0 {
		s.Welcome.Timers = []measure.Timer{measure.TimerWall} // every program has this one
	}
	return s, nil
}

// explainNoHello adds a hint for the most common causes, such as a program that is not a harness.
func (s *Session) explainNoHello(err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		switch {
		case e.Kind == Refused && e.Code == "unsupported":
			e.Kind = BadVersion
			e.Hint = "update the SDK in the harness, or pawl"
		case e.Kind == Crashed && s.process.cmd.ProcessState.ExitCode() == 127:
			e.Hint = "a program was not found: is it built, and is it in PATH?"
		case e.Hint == "" && e.Role == Oracle:
			e.Hint = "does it end with serve() from pawl_oracle.py? `pawl sdk oracle` writes that file"
		case e.Hint == "" && e.Role != Launcher:
			e.Hint = "does it call pawl_main() or pawl_harness.main()? If the program prints a benchmark format itself, set harness.format in the suite"
		}
	}
	return err
}

// Bind lets the processes of the harness run only on one core. It reports whether they do.
func (s *Session) Bind(core int) bool { return s.process.tree.Bind(core) }

// PID returns the process of the harness, or of the shell that started it.
func (s *Session) PID() int { return s.process.cmd.Process.Pid }

// Cases returns the benchmarks of the harness.
func (s *Session) Cases(ctx context.Context) ([]suite.Listed, error) {
	var reply struct {
		Benchmarks []suite.Listed `json:"benchmarks"`
	}
	err := s.ask(ctx, opCases, "list its cases", struct{}{}, &reply)
	return reply.Benchmarks, err
}

// codeLostDevice is the error code for a device that fails every further call of the process.
const codeLostDevice = "lost_device"

// codeNoImplementation is the error code for an implementation that the harness does not have.
const codeNoImplementation = "no_such_implementation"

// Prepare makes a case ready and releases the previous one.
func (s *Session) Prepare(ctx context.Context, p Prepare) (Prepared, error) {
	doing := "prepare " + p.Benchmark
	s.prepared = p.Benchmark
	var reply Prepared
	err := s.ask(ctx, opPrepare, doing, p, &reply)
	if e, ok := errors.AsType[*Error](err); ok && e.Code == codeNoImplementation && s.command.Alone {
		p.Implementation = measure.Candidate
		err = s.ask(ctx, opPrepare, doing, p, &reply)
	}
	if err != nil {
		return Prepared{}, err
	}
	if reply.Timer != p.Timer {
		return Prepared{}, s.fail(Garbage, doing, fmt.Sprintf("expected timer %q, got %.20q", p.Timer, reply.Timer), "")
	}
	if reply.Quantum < 0 || math.IsNaN(reply.Quantum) {
		reply.Quantum = 0
	}
	if !s.checkedLoaded { // look takes milliseconds: run it once when a case is ready, once at the end
		s.checkedLoaded = true
		err = s.checkLoaded()
	}
	if err == nil && p.Launch != nil {
		err = s.report(p.Launch.File)
	}
	return reply, err
}

// Measure takes samples of the prepared case. The argument what names the request in messages.
func (s *Session) Measure(ctx context.Context, what string, m Measure) (Measured, error) {
	doing := "measure " + what
	var reply Measured
	if err := s.ask(ctx, opMeasure, doing, m, &reply); err != nil {
		return Measured{}, err
	}
	if e := s.checkMeasured(doing, m, reply); e != nil {
		return Measured{}, e
	}
	if e := s.checkKept(doing, m.Keep, reply); e != nil {
		return Measured{}, e
	}
	reply.Batch = max(reply.Batch, 1)
	reply.Note = printable(truncate(reply.Note, 300))
	return reply, nil
}

func (s *Session) checkMeasured(doing string, asked Measure, m Measured) error {
	n := len(m.Samples)
	switch {
	case m.Count != n:
		return s.fail(BadCount, doing, fmt.Sprintf("it reports %s but sent %d", words.Plural(m.Count, "sample"), n), "")
	case n < asked.Samples || n == 0:
		return s.fail(BadCount, doing, fmt.Sprintf("expected %s, got %d", words.Plural(asked.Samples, "sample"), n), "")
	}
	for _, beside := range []struct {
		name string
		s    measure.Samples
	}{{"wall", m.Wall}, {"cpu", m.CPU}, {"clock_mhz", m.Clocks}} {
		if len(beside.s) != 0 && len(beside.s) != n {
			return s.fail(BadCount, doing, fmt.Sprintf("%d samples, but %d readings in %q", n, len(beside.s), beside.name), "")
		}
	}
	if i := slices.IndexFunc(m.Samples, func(v float64) bool { return !(v > 0) || math.IsInf(v, 0) }); i >= 0 {
		return s.fail(BadSample, doing, fmt.Sprintf("sample %d of %d is %v ns; a time must be finite and above zero", i+1, n, m.Samples[i]),
			"runs that are shorter than the resolution of the timer must be batched")
	}
	if problem := valuesProblem(m.Values); problem != "" {
		return s.fail(BadSample, doing, problem, "")
	}
	return nil
}

// Bye ends the session cleanly.
func (s *Session) Bye(ctx context.Context) error {
	defer s.Kill()
	if err := s.checkLoaded(); err != nil {
		return err
	}
	s.process.tree.scan() // record the processes that may outlive the harness
	if err := s.ask(ctx, opBye, "say bye", struct{}{}, nil); err != nil {
		return err
	}
	_ = s.process.in.Close()
	select {
	case <-s.process.done:
	case <-time.After(s.command.Grace):
		return s.fail(Hung, "exit after bye", fmt.Sprintf("it is still running after %v", s.command.Grace), "release all resources and return from main")
	}
	if code := s.process.cmd.ProcessState.ExitCode(); code != 0 {
		return s.fail(Crashed, "exit after bye", s.process.status(), "")
	}
	return s.report(s.process.witness.files()...)
}

// Kill kills the harness and everything it started. It may be called twice.
func (s *Session) Kill() { s.process.kill() }

// ask sends one request and waits for its reply.
func (s *Session) ask(ctx context.Context, op, doing string, request, reply any) error {
	if s.failed != nil {
		return s.failed
	}
	s.lastID++
	body, err := json.Marshal(request)
	if err != nil {
		return fmt.Errorf("cannot encode a %s request: %w", op, err)
	}
	line := fmt.Appendf(nil, `{"id":%d,"op":%q`, s.lastID, op)
	if len(body) > 2 {
		line = append(append(line, ','), body[1:len(body)-1]...)
	}
	_ = s.process.in.SetWriteDeadline(time.Now().Add(s.command.Silence))
	if _, err := s.process.in.Write(append(line, "}\n"...)); errors.Is(err, os.ErrDeadlineExceeded) {
		return s.fail(Hung, doing, "it does not read its requests", "")
	} else if err != nil {
		return s.pipeClosed(ctx, doing)
	}
	return s.await(ctx, op, doing, reply)
}

// A reply may come in parts, and each part resets the silence timer. These constants bound
// its total time and size.
const (
	maxSilences = 60 // default limit, as a multiple of the allowed silence
	maxSamples  = 20_000_000
)

// await reads messages until the reply is complete. Every message resets the silence timer.
func (s *Session) await(ctx context.Context, op, doing string, reply any) error {
	silence := time.NewTimer(s.command.Silence)
	defer silence.Stop()
	deadline := time.NewTimer(s.command.Limit)
	defer deadline.Stop()
	var parts Measured
	for {
		select {
		case <-ctx.Done():
			s.Kill()
			return fmt.Errorf("%s was stopped while asked to %s: %w", s.command.Role.describe(s.command.Line), doing, context.Cause(ctx))
		case <-silence.C:
			s.Kill()
			return s.fail(Hung, doing, hungDetail(s.command.Silence), "if it needs longer, raise harness.timeout in the suite")
		case <-deadline.C:
			return s.fail(Hung, doing, fmt.Sprintf("still not done after %v", s.command.Limit), "ask for fewer samples, or raise harness.timeout in the suite")
		case line, ok := <-s.process.lines:
			if !ok {
				return s.pipeClosed(ctx, doing)
			}
			done, err := s.handleMessage(line, op, doing, reply, &parts)
			if done || err != nil {
				return err
			}
			silence.Reset(s.command.Silence)
		}
	}
}

// handleMessage parses one message: the reply, or a part of it.
func (s *Session) handleMessage(line []byte, op, doing string, reply any, parts *Measured) (done bool, err error) {
	var head struct {
		header
		Error *struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	if err := json.Unmarshal(line, &head); err != nil || line[0] != '{' {
		return true, s.fail(Garbage, doing, excerpt(line), "PAWL_OUT is for replies only: print to stdout or stderr instead")
	}
	isPart := op == opMeasure && head.Op == opSamples
	if head.ID != s.lastID || (head.Op != op && !isPart) {
		return true, s.fail(OutOfOrder, doing, fmt.Sprintf("expected id %d op %q, got id %d op %.20q", s.lastID, op, head.ID, head.Op), "")
	}
	if head.Error != nil && head.Error.Code == codeLostDevice {
		return true, s.fail(LostDevice, doing, printable(truncate(head.Error.Message, 500)), "a kernel failed on it: run compute-sanitizer on this case")
	}
	if head.Error != nil {
		return true, &Error{
			Kind: Refused, Role: s.command.Role, Command: s.command.Line, Doing: doing, Code: head.Error.Code,
			Detail: printable(truncate(head.Error.Message, 500)), Stderr: s.process.tail.lastLines(5),
		}
	}
	if reply == nil {
		return true, nil
	}
	if isPart {
		var p Measured
		err = json.Unmarshal(line, &p)
		if mixed := parts.appendPart(p); mixed != nil {
			return true, s.fail(BadSample, doing, mixed.Error(), "")
		}
		if parts.size() > s.command.Most {
			return true, s.fail(BadCount, doing, fmt.Sprintf("more than %d samples", s.command.Most), "")
		}
	} else {
		err = json.Unmarshal(line, reply)
	}
	if err != nil {
		return true, s.fail(Garbage, doing, fmt.Sprintf("%v in %s", err, excerpt(line)), "")
	}
	if m, ok := reply.(*Measured); ok && !isPart {
		if mixed := parts.appendPart(*m); mixed != nil {
			return true, s.fail(BadSample, doing, mixed.Error(), "")
		}
		m.Samples, m.Wall, m.CPU, m.Clocks, m.Sums, m.Values = parts.Samples, parts.Wall, parts.CPU, parts.Clocks, parts.Sums, parts.Values
	}
	return !isPart, nil
}

// pipeClosed explains why the pipe was closed: the process has ended, or is about to.
func (s *Session) pipeClosed(ctx context.Context, doing string) error {
	if ctx.Err() != nil {
		s.Kill()
		return fmt.Errorf("%s was stopped while asked to %s: %w", s.command.Role.describe(s.command.Line), doing, context.Cause(ctx))
	}
	select {
	case err := <-s.process.fault:
		s.Kill()
		return s.fail(Garbage, doing, err.Error(), "")
	default:
	}
	select {
	case <-s.process.done:
	case <-time.After(s.command.Grace):
		s.Kill()
		return s.fail(Garbage, doing, "it closed its end of the pipe but kept running", "")
	}
	return s.fail(Crashed, doing, s.process.status(), "")
}

func (s *Session) fail(kind Kind, doing, detail, hint string) error {
	s.Kill()
	s.failed = &Error{Kind: kind, Role: s.command.Role, Command: s.command.Line, Doing: doing, Detail: detail, Hint: hint, Stderr: s.process.tail.lastLines(12)}
	return s.failed
}

// Lost reports whether e is the crash, the hang or the loss of the device that ended this session.
func (s *Session) Lost(e *Error) bool {
	return e == s.failed && (e.Kind == Crashed || e.Kind == Hung || e.Kind == LostDevice)
}

func truncate(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "..."
}
