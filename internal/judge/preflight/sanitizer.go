package preflight

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/base/scratch"
	"github.com/goatnote-inc/pawl/internal/kernel/build/cuda"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
)

// sanitize runs the smallest config of every benchmark once under each tool of
// compute-sanitizer, through the harness.
func (l *checker) sanitize(ctx context.Context, v suite.Variant) {
	g := Gate{Name: Sanitizer}
	tool, err := cuda.Tool("compute-sanitizer")
	switch {
	case !l.Target.Here && l.Target.Known():
		l.add(g.with(Unknown, "", "not run: %s is not in this machine", l.Target))
	case !l.Target.Here:
		l.add(g.with(Unknown, "", "not run: this machine has no GPU"))
	case v.Harness.Format != "pawl":
		l.add(g.with(Unknown, "run compute-sanitizer on it manually", "not run: the harness does not speak pawl's protocol"))
	case err != nil:
		l.add(g.with(Unknown, "", "cannot run here: %v", err))
	default:
		for _, name := range SanitizerTools {
			l.add(l.sanitizeWith(ctx, tool, name, v))
		}
	}
}

// SanitizerCommand returns the command line that runs a harness under a tool. The harness
// keeps its pipes and its output; the output of the sanitizer goes to the file.
func SanitizerCommand(program, tool, log, line string) string {
	return fmt.Sprintf("exec %s --tool %s --target-processes all --log-file %s --print-limit 20 /bin/sh -c %s", quote(program), tool, quote(log), quote("exec "+line))
}

// quote quotes a text as one shell word.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// uncached makes PyTorch allocate each tensor on its own: inside one cached block, an access
// beyond the end of a tensor is still within the block, and the sanitizer would not see it.
const uncached = "PYTORCH_NO_CUDA_MEMORY_CACHING=1"

func (l *checker) sanitizeWith(ctx context.Context, program, tool string, v suite.Variant) Gate {
	g := Gate{Name: Sanitizer, Kernel: tool}
	folder, err := scratch.New("", "sanitizer")
	if err != nil {
		return g.with(Unknown, "", "cannot run here: %v", err)
	}
	defer folder.Remove()
	log := filepath.Join(folder.Path, "log")
	var printed bytes.Buffer
	command := harness.Command{
		Line: SanitizerCommand(program, tool, log, v.Harness.Command), Dir: l.Dir, Silence: 10 * v.Harness.Timeout, Log: &printed, Env: append(suite.Variables(v.Harness.Env), uncached),
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
		fix := map[string]string{
			"memcheck":  "check that every index is within its buffer, at tile edges first",
			"racecheck": "add a __syncthreads() between the write and the read of shared memory",
			"initcheck": "write every element before it is read; outputs must be written completely",
		}[g.Kernel]
		g.Number = float64(max(s.Errors, len(s.Findings)))
		g = g.with(Stop, fix, "%s found %.0f errors", g.Kernel, g.Number)
		if len(s.Findings) > 0 {
			g.Text += fmt.Sprintf(", the first: %s %s", s.Findings[0].What, s.Findings[0].Where)
		}
		return g
	case s.Cannot == noSummary && runErr != nil:
		return g.with(Unknown, "", "cannot run here: %s: %v", s.Cannot, runErr)
	case s.Cannot != "":
		return g.with(Unknown, "", "cannot run here: %s", s.Cannot)
	case runErr != nil:
		return g.with(Unknown, "", "%s found nothing, but the harness failed under it: %v", g.Kernel, runErr)
	}
	return g.with(Pass, "", "%s found nothing", g.Kernel)
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

// SanitizerResult is the result of compute-sanitizer.
type SanitizerResult struct {
	Errors   int       // count from its summary
	Findings []Finding // the first of them
	Finished bool      // it printed a summary: only then does no errors mean that there are none
	Cannot   string    // why it could not run; empty if it did
}

// Finding is one finding of a compute-sanitizer tool.
type Finding struct {
	What  string // "Invalid __global__ write of size 4 bytes"
	Where string // "at 0x160 in demo.cu:6:kernel(float *)"
}

// SanitizerTools are the tools of compute-sanitizer to run, each over the whole program.
var SanitizerTools = []string{"memcheck", "racecheck", "initcheck"}

var (
	summaryLine  = lazyregexp.New(`^========= ERROR SUMMARY: (\d+) errors?\b`)
	raceLine     = lazyregexp.New(`^========= RACECHECK SUMMARY: (\d+) hazards? displayed \((\d+) errors?, (\d+) warnings?\)`)
	findingLine  = lazyregexp.New(`^========= (Invalid |Uninitialized |Misaligned |Error: Race reported|Error: .*[Hh]azard|Potential .* hazard|Warp illegal|Illegal |Malloc/Free error|Barrier error|Program hit )(.*)$`)
	detailLine   = lazyregexp.New(`^=========\s{2,}(at .*|by thread .*|and .* access at .*)$`)
	cannotLine   = lazyregexp.New(`(Unable to find injection library.*|Target application doesn't exist.*|No supported GPUs? (?:was |were )?(?:detected|found).*|.*not supported on this (?:device|GPU|system).*|.*[Ii]nsufficient driver.*|.*CUDA driver version is insufficient.*)`)
	mostFindings = 20
)

// noSummary is why a sanitizer without a summary could not run.
const noSummary = "it ended without a summary"

// ReadSanitizer parses the output of compute-sanitizer. Only a summary means that it
// checked everything.
func ReadSanitizer(text string) SanitizerResult {
	var s SanitizerResult
	races := -1
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if len(line) > maxLogLine {
			continue
		}
		if m := raceLine.FindStringSubmatch(line); m != nil {
			races = count(m[2]) + count(m[3])
			s.Finished = true
			continue
		}
		if m := summaryLine.FindStringSubmatch(line); m != nil {
			s.Errors, s.Finished = count(m[1]), true
			continue
		}
		if m := findingLine.FindStringSubmatch(line); m != nil {
			if len(s.Findings) < mostFindings {
				s.Findings = append(s.Findings, Finding{What: m[1] + m[2]})
			}
			continue
		}
		if m := detailLine.FindStringSubmatch(line); m != nil && len(s.Findings) > 0 {
			if last := &s.Findings[len(s.Findings)-1]; last.Where == "" {
				last.Where = m[1]
			}
			continue
		}
		if m := cannotLine.FindStringSubmatch(line); m != nil && s.Cannot == "" {
			s.Cannot = strings.TrimSpace(strings.TrimPrefix(m[1], "========="))
		}
	}
	if races > s.Errors {
		s.Errors = races
	}
	if !s.Finished && s.Cannot == "" {
		s.Cannot = noSummary
	}
	if s.Finished {
		s.Cannot = ""
	}
	return s
}

func count(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 1 << 30 // a count that is too large must not become none
	}
	return n
}
