package harness

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/kernel/tensor"
)

// Features that a harness may offer beyond timing. It lists them in its greeting.
const (
	FeatureCheck   = "check"   // run a case on given inputs
	FeatureRun     = "run"     // run a case a given number of times, timed from outside the process
	FeatureKeep    = "keep"    // hand over inputs and outputs of timed samples
	FeatureVerify  = "verify"  // draw inputs from a key, and sum up the outputs of every timed sample
	FeatureLaunch  = "launch"  // pawl's own launcher: prepare says what to launch
	FeatureCompute = "compute" // an oracle
)

// CodeIntegrity is the code of a Refused error that blames the kernel: it wrote
// out of bounds, or kept working after it returned.
const CodeIntegrity = "integrity"

// Has reports whether the harness offers a feature.
func (w Welcome) Has(feature string) bool { return slices.Contains(w.Features, feature) }

// Launch describes a kernel in a file for pawl's own launcher.
type Launch struct {
	Kind    string `json:"kind"` // cuda, opencl or host
	File    string `json:"file"` // absolute
	Kernel  string `json:"kernel"`
	Grid    [3]int `json:"grid"`
	Block   [3]int `json:"block"`
	Shared  int    `json:"shared"`
	Options string `json:"options,omitempty"`

	Cluster     [3]int `json:"cluster,omitzero"` // blocks per cluster; zero without clusters
	Cooperative bool   `json:"cooperative,omitempty"`
	Dependent   bool   `json:"dependent,omitempty"`
}

// Check asks for one run of the prepared case on given inputs.
type Check struct {
	Inputs  string `json:"inputs"`        // safetensors file with each in and inout argument
	Outputs string `json:"outputs"`       // file to write: each out and inout argument
	Poison  uint64 `json:"poison,string"` // seed of the outputs' previous content: tensor.Poison
}

// Run asks for iterations of the prepared case, back to back, without reading any
// clock: only the time from the request to the reply counts. With Inputs and
// Outputs, one of each per iteration, every iteration is a Check.
type Run struct {
	Iterations int      `json:"iterations"`
	Inputs     []string `json:"inputs,omitempty"`
	Outputs    []string `json:"outputs,omitempty"`
	Poison     uint64   `json:"poison,string"` // iteration i uses Poison+i
}

// Keep asks a measurement to hand over the inputs and outputs of some of its samples.
type Keep struct {
	Dir   string `json:"dir"` // absolute; must exist
	Count int    `json:"count"`
	Seed  uint64 `json:"seed,string"` // chooses the samples; the outputs of sample k are poisoned with Seed+k
}

// Kept is one kept sample: the inputs and outputs of the last of its runs.
type Kept struct {
	Sample  int    `json:"sample"` // index among the samples of the request, from 0
	Inputs  string `json:"inputs"`
	Outputs string `json:"outputs"`
}

// Compute asks an oracle for the correct result.
type Compute struct {
	Benchmark string            `json:"benchmark"`
	Params    map[string]any    `json:"params"`
	Arguments []tensor.Argument `json:"arguments"`
	Inputs    string            `json:"inputs"`
	Outputs   string            `json:"outputs"` // file to write: each output as F64 or F32
	Naive     bool              `json:"naive"`   // also write NAME.naive, computed in the argument's own type
}

// Computed is the reply to Compute.
type Computed struct {
	Naive bool `json:"naive"` // whether the naive results were written
}

// Check runs the prepared case once on given inputs. If the harness cannot, the error
// has the code unsupported; if the kernel misbehaved, it has CodeIntegrity.
func (s *Session) Check(ctx context.Context, c Check) error {
	doing := "check " + s.prepared
	var reply struct {
		Supported bool `json:"supported"`
	}
	if err := s.ask(ctx, opCheck, doing, c, &reply); err != nil {
		return err
	}
	if !reply.Supported {
		return &Error{
			Kind: Refused, Role: s.command.Role, Command: s.command.Line, Doing: doing, Code: "unsupported",
			Detail: "it registers no arguments",
			Hint:   "register them in setup, with pawl_input and pawl_output of pawl.h, or input and output of pawl_harness.py",
		}
	}
	return nil
}

// Run runs the prepared case r.Iterations times and returns when all runs are done.
func (s *Session) Run(ctx context.Context, r Run) error {
	doing := fmt.Sprintf("run %s %d times", s.prepared, r.Iterations)
	var reply struct {
		Iterations int `json:"iterations"`
	}
	if err := s.ask(ctx, opRun, doing, r, &reply); err != nil {
		return err
	}
	if reply.Iterations != r.Iterations {
		return s.fail(BadCount, doing, "it reports "+words.Plural(reply.Iterations, "run"), "")
	}
	return nil
}

// Compute asks an oracle process for the correct result.
func (s *Session) Compute(ctx context.Context, c Compute) (Computed, error) {
	var reply Computed
	err := s.ask(ctx, opCompute, "compute "+c.Benchmark, c, &reply)
	reply.Naive = reply.Naive && c.Naive
	return reply, err
}

// checkKept checks the samples that a measurement reports as kept. Files must have the
// requested names, so that a reply cannot point pawl at another file.
func (s *Session) checkKept(doing string, asked *Keep, m Measured) error {
	if asked == nil {
		asked = &Keep{}
	}
	if len(m.Kept) > asked.Count {
		return s.fail(Garbage, doing, fmt.Sprintf("expected at most %s, got %d", words.Plural(asked.Count, "kept sample"), len(m.Kept)), "")
	}
	seen := map[int]bool{}
	for n, k := range m.Kept {
		if k.Sample < 0 || k.Sample >= len(m.Samples) || seen[k.Sample] {
			return s.fail(Garbage, doing, fmt.Sprintf("kept sample %d is out of range (%s, counted from 0) or listed twice", k.Sample, words.Plural(len(m.Samples), "sample")), "")
		}
		seen[k.Sample] = true
		in, out := filepath.Join(asked.Dir, fmt.Sprintf("%d-in.safetensors", n)), filepath.Join(asked.Dir, fmt.Sprintf("%d-out.safetensors", n))
		if filepath.Clean(k.Inputs) != in || filepath.Clean(k.Outputs) != out {
			return s.fail(Garbage, doing, fmt.Sprintf("expected a kept sample in %s and %s, got other files", in, out), "")
		}
	}
	return nil
}
