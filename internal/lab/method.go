package lab

import "github.com/goatnote-inc/pawl/ratchet"

// Method is a rule that answers from two sides.
type Method struct {
	Name string // a word
	Rule string // what it does, in half a line
	Ask  func(Comparison) Outcome
}

// Methods are the rules that are measured side by side, pawl's first. Each gets its
// data in the way that its users are told to collect them, or better.
func Methods(p ratchet.Policy) []Method {
	return []Method{
		paired(p),
		stored(p, false),
		stored(p, true),
		classic(p),
		mannWhitney,
		benchstat,
		actionBenchmark,
		nvbenchLegacy,
		nvbenchRobust,
		threshold(1),
		threshold(10),
	}
}
