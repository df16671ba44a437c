package lab

import "github.com/goatnote-inc/pawl/ratchet"

// Method is a rule that decides between two sides.
type Method struct {
	Name string // short name
	Rule string // what it does, in half a line
	Ask  func(Comparison) Outcome
}

// Methods returns the rules that are compared, pawl's first. Each gets its data as its documentation asks
// users to collect them, or better.
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
