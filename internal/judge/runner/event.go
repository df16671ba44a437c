package runner

import (
	"time"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/judge/loop"
	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/internal/kernel/correctness"
	"github.com/goatnote-inc/pawl/internal/kernel/device"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// Event reports progress of a run. It is one of the types below, or of those in package tuning.
type Event any

type (
	// Recovered reports that the record of an earlier, crashed run was saved.
	Recovered struct {
		Path   string
		Rounds int
	}
	// Resumed reports that the run continues an unfinished one.
	Resumed struct {
		Run    string // ID of both
		Rounds int    // finished before
	}
	// NotResumed reports why a run starts anew although there is an unfinished one.
	NotResumed struct {
		Why  string
		Path string // where its journal is now; empty if Recovered says it
	}
	// Building reports the start of a build.
	Building struct{ Side, Command string }
	// Built reports the end of a build.
	Built struct {
		Side    string
		Seconds float64
		Cached  bool // taken from an earlier build
	}
	// Identical reports that there is nothing to measure: all changes since the base can be ignored.
	Identical struct {
		Base    string
		Ignored int // number of ignored files
	}
	// LeftOut reports how many cases cannot have changed. They are not measured, but for a sample.
	LeftOut struct{ Cases, Unchanged, Sampled int }
	// Waiting names the holder of something the run needs: the device, or the place of the record.
	Waiting struct{ What, Holder string }
	// Listed reports cases that will be measured, before their first result.
	Listed struct{ Cases []measure.Case }
	// Ready reports what will be measured and on which device.
	Ready struct {
		Run    string // name of the record
		Commit string // commit of the candidate; empty outside a repository
		Device gpu.Identity
		State  gpu.State
		Sides  []string
		Cases  int
		Rounds []int
	}
	// Calibrated reports the median of pawl's own kernel.
	Calibrated struct {
		When   string
		Median float64
	}
	// Noticed passes on a notice about the device for the user.
	Noticed struct{ Notice device.Notice }
	// Measuring passes on an event of the trial.
	Measuring struct{ trial.Event }
	// Confirming reports that a gain is measured again, with fresh rounds.
	Confirming struct{ Cases []string }
	// FuzzPlanned reports what will be tried, before any time is spent.
	FuzzPlanned struct {
		Benchmark        string
		Points, Replayed int
		Seconds          float64 // estimate
	}
	// Fuzzing passes on an event of the search for wrong results.
	Fuzzing struct {
		Benchmark string
		correctness.Event
	}
	// Staged reports the result of a step before measuring.
	Staged struct{ loop.Stage }
	// Judged reports the verdict before the cases that changed are profiled, which may take up to Explain.
	Judged struct {
		Result  ratchet.Result
		Explain time.Duration
	}
	// Profiling reports that a tool starts to profile a side of a case.
	Profiling struct{ Case, Side, Tool string }
	// Profiled reports that the tool is done.
	Profiled struct {
		Case, Side, Tool string
		Seconds          float64
	}
	// Explained reports what the profiles of a case mean.
	Explained struct{ Explanation }
	// Saved reports where the record is.
	Saved struct {
		Path string
		End  measure.End
	}
)
