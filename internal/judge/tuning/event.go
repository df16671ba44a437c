package tuning

import (
	"time"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/tune"
)

// Events of a search and its proof.
type (
	// Ready reports what will be searched, before any time is spent.
	Ready struct {
		Case      string
		Device    gpu.Identity
		Strategy  string
		Points    int
		Complete  bool   // Points counts the whole space, not a sample of it
		Resumed   int    // evaluations from the journal
		Unchecked string // why results are not checked; empty when they are
		Jobs      int    // parallel builds
	}
	// Evaluated reports one more evaluated point.
	Evaluated struct {
		Evaluation     tune.Evaluation
		Default, Best  tune.Evaluation
		Done, Of       int // points; Of is 0 if only the budget ends the search
		Failed, Pruned int
		Elapsed        time.Duration
		Left           time.Duration // rest of the budget; 0 without one
	}
	// ProofChecked reports the check of a finalist's results before it is measured.
	ProofChecked struct {
		Side    string
		Point   map[string]any
		Checked int
		Wrong   string // what is wrong; empty if nothing is
	}
)
