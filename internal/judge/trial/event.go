package trial

import (
	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/measure"
)

// Event is something that happens during a trial. It is one of the types below.
type Event any

// RoundStarted is sent at the start of a round.
type RoundStarted struct {
	Number, Of int // from 1; Of is the number of rounds planned until the next look
	Order      []string
	Cases      int
}

// SideStarted is sent at the start of one side of a round.
type SideStarted struct {
	Round int
	Side  string
	State gpu.State
}

// CaseMeasured is sent for each finished case of a side.
type CaseMeasured struct {
	Round  int
	Side   string
	Result measure.Result
}

// RoundDone is sent at the end of a round.
type RoundDone struct {
	Number, Of int
	Round      measure.Round // its index in the record also counts dropped rounds
	Seconds    float64
}

// Looked is sent after a look, with its result.
type Looked struct {
	Rounds    int
	Undecided []string
}

// Warned is sent with a warning when it arises.
type Warned struct{ Warning measure.Warning }
