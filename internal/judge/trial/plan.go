package trial

import (
	"context"
	"time"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/internal/kernel/tensor"
	"github.com/goatnote-inc/pawl/measure"
)

// MethodVersion is the version of pawl's timing method. Increase it with a change after which the same
// code gets different times, such as a new warm-up, batch rule or clock reading. Stored times of another
// version are not compared.
const MethodVersion = 7

// Plan is the input of a trial.
type Plan struct {
	Sides  []Side
	Seed   uint64
	Turns  bool  // let the sides take turns within a round, if their harnesses can
	Cores  []int // bind the sides of a round that use one thread to one of these CPU cores; empty binds nothing
	Growth []int // rounds per side at each look, ascending; the first look is after Growth[0]

	Budget       time.Duration // wall time on the device; 0 means no limit
	Dollars      float64       // 0 means no limit
	PricePerHour float64

	MaxTemperatureC float64 // warn above this; 0 means never

	// Decide returns, at each look, the names of the cases that need more rounds. final means that no more rounds
	// follow, whatever it returns. Nil means that every case is decided at the first look.
	Decide func(final bool) (undecided []string)
	// Past holds the rounds that an earlier process finished. The trial goes through them again, without measuring,
	// and then measures the next one. Replayed is called with each of them; may be nil.
	Past     []PastRound
	Replayed func(PastRound)
	// Record is called with every round that is finished here, including dropped ones.
	Record func(measure.Round, []measure.Result) error
	// Emit is called with every event; may be nil.
	Emit func(Event)
	// Watch reads the device while a side runs; may be nil.
	Watch Watch
	// FreeMemory returns how many bytes of the device's memory are free. If it is set, sides take turns only as long as
	// their processes fit the device together; may be nil.
	FreeMemory func(ctx context.Context) (int64, error)
	// Now returns the time.
	Now func() time.Time
}

// PastRound is a finished round as its record has it.
type PastRound struct {
	Round   measure.Round
	Results []measure.Result
}

// Side is one implementation, ready to run.
type Side struct {
	Name   string
	Cases  []Case // cases it can measure; empty for a runner that finds its own
	Runner Runner
}

// Case is one case for a harness to measure. Its Key names the side's own
// implementation.
type Case struct {
	Key            measure.CaseKey
	Params         map[string]any
	Implementation string // the harness's name for it: a base is the candidate of its own harness
	Timer          measure.Timer
	Samples        int
	Warmup         int // min number of warm-up samples
	Bytes          float64
	Arguments      []tensor.Argument // arguments of the kernel, if declared
	Launch         *harness.Launch   // set for pawl's own launcher
}

// Runner measures cases in one fresh process. The failure of a single case is in its
// result. An error means that the whole side is broken; the results so far come with it.
type Runner interface {
	Round(ctx context.Context, r Request) ([]measure.Result, error)
}

// Request is one side of one round.
type Request struct {
	Round int
	Seed  uint64
	Cases []Case // in the order of measurement
	// Batch holds the runs per sample, by case name, if another side has already measured the case in
	// this round. Samples of both sides then use the same inputs.
	Batch map[string]int
	// Measured is called with each finished case; never nil.
	Measured func(measure.Result)

	heat  *deviceActivity
	place place // of a plain command
}

// Watch starts reading the device. It returns the state at the start, and a function that
// stops reading and returns the state at the end, with every slowdown seen in between. An
// error at the end means that a slowdown may have been missed.
type Watch func(ctx context.Context) (before gpu.State, stop func() (gpu.State, error), err error)

// Outcome describes how a trial ended.
type Outcome struct {
	State    measure.EndState
	Reason   string
	Rounds   int // rounds that count
	Seconds  float64
	Dollars  float64
	Warnings []measure.Warning
}

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
