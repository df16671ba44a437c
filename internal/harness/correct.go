package harness

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/goatnote-inc/pawl/internal/tensor"
)

// What a harness may offer beyond timing, as it says in its greeting.
const (
	FeatureCheck   = "check"   // run a case on given inputs
	FeatureRun     = "run"     // run a case so many times, for a clock outside the process
	FeatureKeep    = "keep"    // hand out inputs and outputs of timed samples
	FeatureVerify  = "verify"  // draw inputs from a key, and sum up the outputs of every timed sample
	FeatureLaunch  = "launch"  // pawl's own launcher: prepare says what to launch
	FeatureCompute = "compute" // an oracle
)

// CodeIntegrity is the code of a Refused error that accuses the kernel: it wrote
// where it must not, or went on working after it had returned.
const CodeIntegrity = "integrity"

// Has tells whether the harness offers a feature.
func (w Welcome) Has(feature string) bool { return slices.Contains(w.Features, feature) }

// Launch is a kernel in a file, as pawl's own launcher starts it.
type Launch struct {
	Kind    string `json:"kind"` // cuda, opencl or host
	File    string `json:"file"` // absolute
	Kernel  string `json:"kernel"`
	Grid    [3]int `json:"grid"`
	Block   [3]int `json:"block"`
	Shared  int    `json:"shared"`
	Options string `json:"options,omitempty"`
}

// Check asks for one run of the prepared case on given inputs.
type Check struct {
	Inputs  string `json:"inputs"`        // safetensors, one for each in and inout argument
	Outputs string `json:"outputs"`       // is written: each out and inout argument
	Poison  uint64 `json:"poison,string"` // seed of what stands in the outputs before: tensor.Poison
}

// Run asks for iterations of the prepared case, back to back, without a reading of
// any clock: the time from the request to the answer is what counts. With Inputs and
// Outputs, one of each for an iteration, every iteration is a Check.
type Run struct {
	Iterations int      `json:"iterations"`
	Inputs     []string `json:"inputs,omitempty"`
	Outputs    []string `json:"outputs,omitempty"`
	Poison     uint64   `json:"poison,string"` // of iteration i: Poison+i
}

// Keep asks a measurement to hand out what some of its samples worked on.
type Keep struct {
	Dir   string `json:"dir"` // absolute; must exist
	Count int    `json:"count"`
	Seed  uint64 `json:"seed,string"` // chooses the samples; the outputs of sample k are poisoned with Seed+k
}

// Kept is one sample that was kept: what the last of its runs read and left.
type Kept struct {
	Sample  int    `json:"sample"` // position among the samples of the request, from 0
	Inputs  string `json:"inputs"`
	Outputs string `json:"outputs"`
}

// Compute asks an oracle for the right result.
type Compute struct {
	Benchmark string            `json:"benchmark"`
	Params    map[string]any    `json:"params"`
	Arguments []tensor.Argument `json:"arguments"`
	Inputs    string            `json:"inputs"`
	Outputs   string            `json:"outputs"` // is written: each output as F64 or F32
	Naive     bool              `json:"naive"`   // also NAME.naive, computed in the argument's own type
}

// Computed is the answer to Compute.
type Computed struct {
	Naive bool `json:"naive"` // whether the naive results are there
}

// Check runs the prepared case once on given inputs. A harness that cannot is an
// error of code unsupported, a kernel that misbehaved one of CodeIntegrity.
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
			Hint:   "register them in setup: pawl_input and pawl_output of pawl.h, input and output of pawl_harness.py",
		}
	}
	return nil
}

// Run runs the prepared case so many times and returns when all of it is done.
func (s *Session) Run(ctx context.Context, r Run) error {
	doing := fmt.Sprintf("run %s %d times", s.prepared, r.Iterations)
	var reply struct {
		Iterations int `json:"iterations"`
	}
	if err := s.ask(ctx, opRun, doing, r, &reply); err != nil {
		return err
	}
	if reply.Iterations != r.Iterations {
		return s.fail(BadCount, doing, fmt.Sprintf("it says that it ran %d times", reply.Iterations), "")
	}
	return nil
}

// Compute asks an oracle process for the right result.
func (s *Session) Compute(ctx context.Context, c Compute) (Computed, error) {
	var reply Computed
	err := s.ask(ctx, opCompute, "compute "+c.Benchmark, c, &reply)
	reply.Naive = reply.Naive && c.Naive
	return reply, err
}

// checkKept looks at what a measurement says it kept. Files have the names that were
// asked for: no answer can point pawl at another file.
func (s *Session) checkKept(doing string, asked *Keep, m Measured) error {
	if asked == nil {
		asked = &Keep{}
	}
	if len(m.Kept) > asked.Count {
		return s.fail(Garbage, doing, fmt.Sprintf("it was to keep %d samples and says %d", asked.Count, len(m.Kept)), "")
	}
	seen := map[int]bool{}
	for n, k := range m.Kept {
		if k.Sample < 0 || k.Sample >= len(m.Samples) || seen[k.Sample] {
			return s.fail(Garbage, doing, fmt.Sprintf("it says that it kept sample %d, of %d", k.Sample, len(m.Samples)), "")
		}
		seen[k.Sample] = true
		in, out := filepath.Join(asked.Dir, fmt.Sprintf("%d-in.safetensors", n)), filepath.Join(asked.Dir, fmt.Sprintf("%d-out.safetensors", n))
		if filepath.Clean(k.Inputs) != in || filepath.Clean(k.Outputs) != out {
			return s.fail(Garbage, doing, fmt.Sprintf("it was to keep a sample in %s and %s, and names other files", in, out), "")
		}
	}
	return nil
}
