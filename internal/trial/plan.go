package trial

import (
	"context"
	"time"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/harness"
	"github.com/goatnote-inc/pawl/internal/tensor"
	"github.com/goatnote-inc/pawl/measure"
)

// MethodVersion is the version of how pawl times a case. Raise it with a change after which the same
// code gets other times, such as another warm-up, batch rule or clock reading: stored times of another
// version are not compared.
const MethodVersion = 3

// Plan is everything a trial needs to know before it begins.
type Plan struct {
	Sides  []Side
	Seed   uint64
	Turns  bool  // let the sides take turns inside a round, where their harnesses can
	Growth []int // rounds a side at each look, ascending; the first look comes after Growth[0]

	Budget       time.Duration // wall time on the device; 0 is no limit
	Dollars      float64       // 0 is no limit
	PricePerHour float64

	MaxTemperatureC float64 // warn above; 0 never warns

	// Decide is asked after each look which cases, by name, need more rounds.
	// Nil decides everything at the first look.
	Decide func(Look) (undecided []string)
	// Record is given every round as soon as it is finished, also the dropped ones.
	Record func(measure.Round, []measure.Result) error
	// Emit is told what happens; may be nil.
	Emit func(Event)
	// Watch reads the device while a side runs; may be nil where there is none.
	Watch Watch
	// Now tells the time.
	Now func() time.Time
}

// Side is one implementation, ready to run.
type Side struct {
	Name   string
	Cases  []Case // those it can measure; empty for a runner that finds its own
	Runner Runner
}

// Case is one case as a harness has to measure it. Its Key names the side's
// own implementation.
type Case struct {
	Key            measure.CaseKey
	Params         map[string]any
	Implementation string // what the harness calls it: a base is its own harness's candidate
	Timer          measure.Timer
	Samples        int
	Warmup         int // least number of warm-up samples
	Bytes          float64
	Arguments      []tensor.Argument // what the kernel is given, where that is declared
	Launch         *harness.Launch   // for pawl's own launcher
}

// Runner measures cases in one fresh process. A failure of a single case is in
// its result; an error means that the whole side is broken, with the results so far.
type Runner interface {
	Round(ctx context.Context, r Request) ([]measure.Result, error)
}

// Request is one side of one round.
type Request struct {
	Round int
	Seed  uint64
	Cases []Case // in the order to measure
	// Batch is how many runs a sample of a case has, by name, where a side has measured it before in this
	// round: samples of both are then of the same inputs.
	Batch map[string]int
	// Measured is told of each case as it is finished; never nil.
	Measured func(measure.Result)

	heat *heat
}

// Watch begins to read the device and returns the state at the beginning and a
// function that ends the reading with the state at the end, in which every slowdown
// seen in between is kept. An error at the end means that one may have been missed.
type Watch func(ctx context.Context) (before gpu.State, stop func() (gpu.State, error), err error)

// Look is what Decide sees: all rounds that count, by case name and side.
type Look struct {
	Rounds int  // rounds that count so far
	Final  bool // no more rounds will come, whatever is answered
	Cases  map[string]map[string][]measure.CaseRound
}

// Outcome is how a trial ended.
type Outcome struct {
	State     measure.EndState
	Reason    string
	Rounds    int      // rounds that count
	Undecided []string // cases for which the rounds ran out
	Seconds   float64
	Dollars   float64
	Warnings  []measure.Warning
}
