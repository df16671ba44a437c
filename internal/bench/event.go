package bench

import (
	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/device"
	"github.com/goatnote-inc/pawl/internal/loop"
	"github.com/goatnote-inc/pawl/internal/oracle"
	"github.com/goatnote-inc/pawl/internal/trial"
	"github.com/goatnote-inc/pawl/measure"
)

// Event is something that happened during a run. It is one of the types below.
type Event interface{ benchEvent() }

type (
	// Recovered tells that the record of an earlier run, which had crashed, was saved.
	Recovered struct {
		Path   string
		Rounds int
	}
	// Building opens a build.
	Building struct{ Side, Command string }
	// Built closes a build.
	Built struct {
		Side    string
		Seconds float64
		Cached  bool // it was kept from an earlier build
	}
	// Identical tells that there is nothing to measure: what changed since the base can be ignored.
	Identical struct {
		Base    string
		Ignored int // files
	}
	// Waiting tells who holds what is needed: the device, or the place of the record.
	Waiting struct{ What, Holder string }
	// Listed tells of cases that are going to be measured, before their first result.
	Listed struct{ Cases []measure.Case }
	// Ready tells what is going to be measured on what.
	Ready struct {
		Run    string // the name of the record
		Commit string // that the candidate stands on; empty outside of a repository
		Device gpu.Identity
		State  gpu.State
		Sides  []string
		Cases  int
		Rounds []int
	}
	// Calibrated tells the median of pawl's own kernel.
	Calibrated struct {
		When   string
		Median float64
	}
	// Noticed passes on what a person should know of the device.
	Noticed struct{ Notice device.Notice }
	// Measuring passes on what happens in the trial.
	Measuring struct{ trial.Event }
	// Confirming tells that a gain is measured once more, with fresh rounds.
	Confirming struct{ Cases []string }
	// FuzzPlanned tells what is going to be tried, before anything is spent.
	FuzzPlanned struct {
		Benchmark        string
		Points, Replayed int
		Seconds          float64 // about
	}
	// Fuzzing passes on what happens in the search for wrong results.
	Fuzzing struct {
		Benchmark string
		oracle.Event
	}
	// Staged tells what a step before measuring came to.
	Staged struct{ loop.Stage }
	// Profiling tells that a tool is looking at a side of a case.
	Profiling struct{ Case, Side, Tool string }
	// Profiled tells that it is done.
	Profiled struct {
		Case, Side, Tool string
		Seconds          float64
	}
	// Explained tells what the profiles of a case mean.
	Explained struct{ Why }
	// Saved tells where the record is.
	Saved struct {
		Path string
		End  measure.End
	}
)

func (Recovered) benchEvent()  {}
func (Profiling) benchEvent()  {}
func (Profiled) benchEvent()   {}
func (Explained) benchEvent()  {}
func (Confirming) benchEvent() {}
func (Building) benchEvent()   {}
func (Built) benchEvent()      {}
func (Identical) benchEvent()  {}
func (Waiting) benchEvent()    {}
func (Listed) benchEvent()     {}
func (Ready) benchEvent()      {}
func (Calibrated) benchEvent() {}
func (Noticed) benchEvent()    {}
func (Measuring) benchEvent()  {}
func (Staged) benchEvent()     {}
func (Saved) benchEvent()      {}

func (FuzzPlanned) benchEvent() {}
func (Fuzzing) benchEvent()     {}
