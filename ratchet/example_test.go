package ratchet_test

import (
	"fmt"

	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// record returns a run of 16 rounds in which the candidate takes so many times as long as the base.
func record(ratio float64) *measure.Run {
	run := &measure.Run{Header: measure.Header{ID: "01JNGBMS0000000000000000AB", Trust: measure.Trusted}}
	base := measure.Case{CaseKey: measure.CaseKey{Benchmark: "softmax", Config: "N512", Implementation: measure.Base}, Unit: "ns", Gate: true}
	candidate := base
	candidate.Implementation = measure.Candidate
	for i := range 16 {
		drift := 1 + 0.02*float64(i%5) // of the machine, for both sides
		own := 1 + 0.002*float64(i*7%3-1)
		run.Rounds = append(run.Rounds, measure.Round{Index: i})
		base.Rounds = append(base.Rounds, measure.CaseRound{Round: i, Samples: measure.Samples{1000 * drift, 1001 * drift, 1003 * drift}})
		candidate.Rounds = append(candidate.Rounds, measure.CaseRound{Round: i, Samples: measure.Samples{1000 * drift * ratio * own, 1001 * drift * ratio * own, 1002 * drift * ratio * own}})
	}
	run.Cases = []measure.Case{base, candidate}
	return run
}

func ExampleJudge() {
	for _, ratio := range []float64{1, 1.06, 0.8} {
		run := []*measure.Run{record(ratio)}
		result := ratchet.Judge(ratchet.Default(), ratchet.Gather(run, run, measure.Base, measure.Candidate))
		fmt.Println(result.Verdict)
		fmt.Println("  " + result.Cases[0].Sentence)
	}
	// Output:
	// maintained
	//   Not slower by 3.0 % or more: the time changed by 0.0 % (-0.2 to +0.1 %) in 16 rounds side by side.
	// regression
	//   6.0 % slower (5.8 to 6.1 %) in 16 rounds side by side. Identical code shows a result like this less than once in 1,000,000 comparisons.
	// improvement
	//   20.0 % faster (19.9 to 20.1 %) in 16 rounds side by side.
}

// A policy of your own: 10 % may be lost in one benchmark, 3 % elsewhere.
func ExamplePolicy() {
	p := ratchet.Default()
	p.Cases = []ratchet.CaseLimits{{Match: "softmax", Slower: 0.10}}
	run := []*measure.Run{record(1.06)}
	fmt.Println(p.Check(), ratchet.Judge(p, ratchet.Gather(run, run, measure.Base, measure.Candidate)).Verdict)
	// Output:
	// <nil> maintained
}

// A baseline moves on a gain that fresh rounds confirm, on the main branch, with right results.
func ExampleMayMove() {
	claim := ratchet.Claim{
		Case: "softmax/N512", Commit: "c0ffee", Main: true, Trust: measure.Trusted, Move: ratchet.Moves, Gain: 0.07,
		Trigger: ratchet.RunRef{ID: "first"}, Fresh: ratchet.RunRef{ID: "second"},
	}
	move, against := ratchet.MayMove(ratchet.Default(), claim)
	fmt.Println(move, against)
	claim.Correct = true
	fmt.Println(ratchet.MayMove(ratchet.Default(), claim))
	// Output:
	// holds [the results were not shown to be correct]
	// moves [a gain of 7.0 %, confirmed by fresh rounds, correct, on the main line]
}
