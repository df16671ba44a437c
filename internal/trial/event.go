package trial

import (
	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/measure"
)

// Event is something that happened during a trial. It is one of the types below.
type Event interface{ event() }

// RoundStarted opens a round.
type RoundStarted struct {
	Number, Of int // from 1; Of is the number of rounds planned up to the next look
	Order      []string
	Cases      int
	Attempt    int // 0, or how often this round was dropped before
}

// SideStarted opens one side of a round.
type SideStarted struct {
	Round int
	Side  string
	State gpu.State
}

// CaseMeasured tells one finished case of one side.
type CaseMeasured struct {
	Round  int
	Side   string
	Result measure.Result
}

// RoundDone closes a round.
type RoundDone struct {
	Number, Of int
	Round      measure.Round // with its index in the record, which counts dropped rounds too
	Seconds    float64
	Dollars    float64 // spent so far
}

// Looked tells what a look decided.
type Looked struct {
	Rounds    int
	Undecided []string
}

// Warned passes a warning on when it arises.
type Warned struct{ Warning measure.Warning }

func (RoundStarted) event() {}
func (SideStarted) event()  {}
func (CaseMeasured) event() {}
func (RoundDone) event()    {}
func (Looked) event()       {}
func (Warned) event()       {}
