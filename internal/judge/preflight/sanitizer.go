package preflight

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/kernel/build/cuda"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
)

// sanitize runs the smallest config of every benchmark once under each tool of
// compute-sanitizer, through the harness.
func (l *checker) sanitize(ctx context.Context, v suite.Variant) {
	g := Gate{Name: Sanitizer}
	switch {
	case !l.Target.Here:
		g.State, g.Text = Unknown, "not run: this machine has no GPU"
		if l.Target.Known() {
			g.Text = "not run: " + l.Target.String() + " is not in this machine"
		}
		l.add(g)
		return
	case v.Harness.Format != "pawl":
		g.State, g.Text = Unknown, "not run: the harness does not speak pawl's protocol"
		g.Fix = "run compute-sanitizer on it manually"
		l.add(g)
		return
	}
	tool, err := cuda.Tool("compute-sanitizer")
	if err != nil {
		g.State, g.Text = Unknown, "cannot run here: "+err.Error()
		l.add(g)
		return
	}
	for _, name := range SanitizerTools {
		l.add(l.sanitizeWith(ctx, tool, name, v))
	}
}

// SanitizerCommand returns the command line that runs a harness under a tool. The harness
// keeps its pipes and its output; the output of the sanitizer goes to the file.
func SanitizerCommand(program, tool, log, line string) string {
	return fmt.Sprintf("exec %s --tool %s --target-processes all --log-file %s --print-limit 20 /bin/sh -c %s", quote(program), tool, quote(log), quote("exec "+line))
}

// quote quotes a text as one shell word.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func (l *checker) sanitizeWith(ctx context.Context, program, tool string, v suite.Variant) Gate {
	g := Gate{Name: Sanitizer, Kernel: tool}
	dir, err := os.MkdirTemp("", "pawl-sanitizer-")
	if err != nil {
		g.State, g.Text = Unknown, "cannot run here: "+err.Error()
		return g
	}
	defer os.RemoveAll(dir)
	log := filepath.Join(dir, "log")
	var printed bytes.Buffer
	command := harness.Command{
		Line: SanitizerCommand(program, tool, log, v.Harness.Command), Dir: l.Dir, Silence: 10 * v.Harness.Timeout, Log: &printed, Env: suite.Variables(v.Harness.Env),
	}
	runErr := runOnce(ctx, command, l.UUID, smallest(v.Cases))
	said, _ := os.ReadFile(log)
	return sanitizerGate(g, ReadSanitizer(string(said)+"\n"+printed.String()), runErr)
}

// sanitizerGate turns the sanitizer's result into a gate. No error is a pass only if the
// sanitizer finished.
func sanitizerGate(g Gate, s SanitizerResult, runErr error) Gate {
	g.Number, g.Unit = float64(s.Errors), "errors"
	switch {
	case s.Errors > 0 || len(s.Findings) > 0:
		g.State = Stop
		g.Number = float64(max(s.Errors, len(s.Findings)))
		g.Text = fmt.Sprintf("%s found %.0f errors", g.Kernel, g.Number)
		if len(s.Findings) > 0 {
			f := s.Findings[0]
			g.Text += fmt.Sprintf(", the first: %s %s", f.What, f.Where)
		}
		g.Fix = map[string]string{
			"memcheck":  "check that every index is within its buffer, at tile edges first",
			"racecheck": "add a __syncthreads() between the write and the read of shared memory",
			"initcheck": "write every element before it is read; outputs must be written completely",
		}[g.Kernel]
	case s.Cannot != "":
		g.State, g.Text = Unknown, "cannot run here: "+s.Cannot
		if runErr != nil && s.Cannot == "it ended without a summary" {
			g.Text += ": " + runErr.Error()
		}
	case runErr != nil:
		g.State, g.Text = Unknown, fmt.Sprintf("%s found nothing, but the harness failed under it: %v", g.Kernel, runErr)
	default:
		g.State, g.Text = Pass, g.Kernel+" found nothing"
	}
	return g
}

// smallest returns the case with the least work of each benchmark.
func smallest(cases []suite.Case) []suite.Case {
	best := map[string]suite.Case{}
	for _, c := range cases {
		if had, ok := best[c.Benchmark]; !ok || c.Flops+c.Bytes < had.Flops+had.Bytes {
			best[c.Benchmark] = c
		}
	}
	var list []suite.Case
	for _, name := range slices.Sorted(maps.Keys(best)) {
		list = append(list, best[name])
	}
	return list
}

func runOnce(ctx context.Context, c harness.Command, uuid string, cases []suite.Case) error {
	s, err := harness.Start(ctx, c, harness.Hello{Pawl: "preflight", Device: harness.HelloDevice{Kind: gpu.NVIDIA, UUID: uuid}})
	if err != nil {
		return err
	}
	defer s.Kill()
	for _, c := range cases {
		if _, err := s.Prepare(ctx, harness.Prepare{
			Benchmark: c.Benchmark, Implementation: suite.Candidate, Params: c.Params.Map(), Cache: measure.Hot, Timer: s.Welcome.Timers[0], Seed: 1, Bytes: c.Bytes,
		}); err != nil {
			return err
		}
		if _, err := s.Measure(ctx, c.Name(), harness.Measure{Samples: 1}); err != nil {
			return err
		}
	}
	return s.Bye(ctx)
}
