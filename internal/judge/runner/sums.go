package runner

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/internal/kernel/correctness"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/internal/kernel/tensor"
)

// checked reports whether the suite defines the correct result of a case.
func (v *verifier) checked(c trial.Case) bool { return v.Suite.Benchmark(c.Key.Benchmark).Check != nil }

// recordTolerance records how far an output may be from the correct result. Tolerances may depend on the
// inputs, so the widest one seen counts.
func (v *verifier) recordTolerance(c trial.Case, o correctness.Comparison) {
	name := c.Key.Name()
	if v.slack[name] == nil {
		v.slack[name] = map[string]correctness.Slack{}
	}
	v.slack[name][o.Output] = v.slack[name][o.Output].Widest(o.Slack)
}

// deviations is how many standard deviations two correct results may differ by. A sum of elements with random
// signs grows with the square root of their number; chance alone exceeds six in two of a billion blocks.
const deviations = 6

// agree compares the outputs of base and candidate, sample by sample and block by block. It describes the
// first difference larger than the tolerances allow, or returns "". Each side may be off by its tolerance. Missing
// sums are a difference.
func (v *verifier) agree(c trial.Case, samples int, base, candidate []float64) string {
	outputs := outputsOf(c)
	if each := len(outputs) * harness.SumBlocks * harness.BlockSums; each == 0 || len(base) != samples*each || len(candidate) != samples*each {
		return fmt.Sprintf("got %d output sums, and %d for the base, but %d samples have %d", len(candidate), len(base), samples, samples*each)
	}
	for at := 0; at < len(base); at += harness.BlockSums {
		n := at / (harness.SumBlocks * harness.BlockSums)
		name := outputs[n%len(outputs)]
		slack, known := v.slack[c.Key.Name()][name]
		if !known {
			continue // never compared with the oracle
		}
		if wrong := block(base[at:]).differs(block(candidate[at:]), slack); wrong != "" {
			return fmt.Sprintf("%s in sample %d: %s", name, n/len(outputs)+1, wrong)
		}
	}
	return ""
}

// outputsOf returns the names of the outputs of a case, in the order of the suite.
func outputsOf(c trial.Case) []string {
	var list []string
	for _, a := range c.Arguments {
		if a.Role == tensor.Out || a.Role == tensor.InOut {
			list = append(list, a.Name)
		}
	}
	return list
}

// block holds the [harness.BlockSums] numbers of one block.
type block []float64

func (want block) differs(got block, slack correctness.Slack) string {
	size := want[3]
	if got[2] != want[2] || got[3] != size {
		return fmt.Sprintf("of %.0f elements, %.0f are NaN or infinite; of the base's %.0f, %.0f are", got[3], got[2], size, want[2])
	}
	spread := math.Sqrt(want[1] / max(size, 1)) // of the base's elements
	allowed := deviations*math.Sqrt2*math.Sqrt(size)*(slack.Abs+slack.Rel*spread) + rounding*math.Sqrt(size*want[1])
	if diff := math.Abs(want[0] - got[0]); !(diff <= allowed) {
		return fmt.Sprintf("a sum over %.0f elements differs by %.3g from the base's on the same inputs; %.3g is allowed", size, diff, allowed)
	}
	return ""
}

// rounding is the relative difference that two compilers may cause in the same sum.
const rounding = 1e-12

// freshInputs makes the inputs of a scored run of a case. Every element is newly drawn, so results
// of earlier runs cannot be reused.
func freshInputs(c trial.Case, seed uint64) ([]tensor.Tensor, error) {
	return correctness.Inputs(c.Arguments, correctness.Normal, seed)
}

// addSums adds the outputs of a run to sums, the same way harnesses do. The elements of all runs
// are divided evenly among blocks, each with a sign drawn from key.
func addSums(c trial.Case, sums []float64, outputs []tensor.Tensor, number, runs int, key uint64) error {
	for n, name := range outputsOf(c) {
		t := find(outputs, name)
		if t == nil {
			return fmt.Errorf("output %q is missing", name)
		}
		values := make([]float64, t.Len())
		t.Read(values, 0)
		each := (len(values)*runs + harness.SumBlocks - 1) / harness.SumBlocks
		var signs uint64
		for i, x := range values {
			at := number*len(values) + i
			b := sums[(n*harness.SumBlocks+at/each)*harness.BlockSums:]
			if i%64 == 0 {
				signs = word(key+uint64(n), uint64(at))
			}
			addElement(b, x, signs>>(i%64)&1 == 1)
		}
	}
	return nil
}

// addElement adds one element to a block.
func addElement(b []float64, x float64, positive bool) {
	b[3]++
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0):
		b[2]++
		return
	case positive:
		b[0] += x
	default:
		b[0] -= x
	}
	b[1] += x * x
}

// word returns 64 bits that depend on key and position.
func word(key, at uint64) uint64 {
	var in [16]byte
	binary.LittleEndian.PutUint64(in[:], key)
	binary.LittleEndian.PutUint64(in[8:], at)
	sum := sha256.Sum256(in[:])
	return binary.LittleEndian.Uint64(sum[:])
}

func find(list []tensor.Tensor, name string) *tensor.Tensor {
	for i := range list {
		if list[i].Name == name {
			return &list[i]
		}
	}
	return nil
}
