package bench

import (
	"fmt"
	"math"

	"github.com/goatnote-inc/pawl/internal/harness"
	"github.com/goatnote-inc/pawl/internal/oracle"
	"github.com/goatnote-inc/pawl/internal/tensor"
	"github.com/goatnote-inc/pawl/internal/trial"
)

// checked reports whether the suite says what is right of a case.
func (v *verifier) checked(c trial.Case) bool { return v.benchmark(c.Key.Benchmark).Check != nil }

// allow remembers how far the rules let an output be from what is right. They may depend on the
// inputs: the widest that was seen counts.
func (v *verifier) allow(c trial.Case, o oracle.Comparison) {
	name := c.Key.Name()
	if v.slack[name] == nil {
		v.slack[name] = map[string]oracle.Slack{}
	}
	v.slack[name][o.Output] = v.slack[name][o.Output].Widest(o.Slack)
}

// Sums of elements with random signs grow with the root of their number. deviations is how many times
// that two right results may differ: chance alone exceeds six in two of a billion blocks.
const deviations = 6

// agree says how the candidate's outputs differ from the base's by more than the rules allow, sample by
// sample and block by block. Sums that are missing are a difference. Each side may be off by what they allow.
func (v *verifier) agree(c trial.Case, samples int, base, candidate []float64) string {
	outputs := outputsOf(c)
	if each := len(outputs) * harness.SumBlocks * harness.BlockSums; each == 0 || len(base) != samples*each || len(candidate) != samples*each {
		return fmt.Sprintf("%d sums of outputs, and %d of the base's, where %d samples have %d", len(candidate), len(base), samples, samples*each)
	}
	for at := 0; at < len(base); at += harness.BlockSums {
		n := at / (harness.SumBlocks * harness.BlockSums)
		name := outputs[n%len(outputs)]
		slack, known := v.slack[c.Key.Name()][name]
		if !known {
			continue // its results were never compared with the oracle's
		}
		if wrong := block(base[at:]).differs(block(candidate[at:]), slack); wrong != "" {
			return fmt.Sprintf("%s in sample %d: %s", name, n/len(outputs)+1, wrong)
		}
	}
	return ""
}

// outputsOf names what a case writes, in the order of the suite.
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

func (want block) differs(got block, slack oracle.Slack) string {
	size := want[3]
	if got[2] != want[2] || got[3] != size {
		return fmt.Sprintf("of %.0f elements %.0f are NaN or infinite, of the base's %.0f are %.0f", got[3], got[2], size, want[2])
	}
	spread := math.Sqrt(want[1] / max(size, 1)) // of the base's elements
	allowed := deviations*math.Sqrt2*math.Sqrt(size)*(slack.Abs+slack.Rel*spread) + rounding*math.Sqrt(size*want[1])
	if diff := math.Abs(want[0] - got[0]); !(diff <= allowed) {
		return fmt.Sprintf("a sum over %.0f elements is off by %.3g from the base's on the same inputs, where %.3g is allowed", size, diff, allowed)
	}
	return ""
}

// rounding is what two compilers may make of the same sum.
const rounding = 1e-12
