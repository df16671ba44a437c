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

// freshInputs makes the inputs of a scored run of a case. Every element is newly drawn, so results
// of earlier runs cannot be reused.
func freshInputs(c trial.Case, seed uint64) ([]tensor.Tensor, error) {
	return correctness.Inputs(c.Arguments, correctness.Normal, seed)
}

// addSums adds the outputs of a run to sums, the same way harnesses do. The elements of all runs
// are divided evenly among blocks, each with a sign drawn from key.
func addSums(c trial.Case, sums []float64, outputs []tensor.Tensor, number, runs int, key uint64) error {
	for n, name := range outputsOf(c) {
		t := tensor.Find(outputs, name)
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
