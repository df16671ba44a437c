package bench

import (
	"time"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/tune"
)

type (
	// TuneReady tells what is going to be searched, before anything is spent.
	TuneReady struct {
		Case      string
		Device    gpu.Identity
		Strategy  string
		Points    int
		Complete  bool   // the points are all there are, and no sample of them
		Resumed   int    // evaluations that the journal had
		Unchecked string // why results are not looked at; empty when they are
		Jobs      int    // builds at once
	}
	// TuneEvaluated tells of one more point.
	TuneEvaluated struct {
		Evaluation     tune.Evaluation
		Default, Best  tune.Evaluation
		Done, Of       int // points; Of is 0 where only the budget ends the search
		Failed, Pruned int
		Elapsed        time.Duration
		Left           time.Duration // of the budget; 0 without one
	}
	// ProofChecked tells what was seen of a finalist's results before it is measured.
	ProofChecked struct {
		Side    string
		Point   map[string]any
		Checked int
		Wrong   string // empty when nothing is
	}
)

func (TuneReady) benchEvent()     {}
func (TuneEvaluated) benchEvent() {}
func (ProofChecked) benchEvent()  {}
