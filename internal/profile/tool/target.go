// Package tool runs profilers on a case of a suite: one file a tool. It knows their
// command lines, what they need of the machine, and how to make them look at the
// kernel under test and at nothing else. What they wrote is read by package profile.
package tool

import (
	"time"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/harness"
	"github.com/goatnote-inc/pawl/internal/profile"
	"github.com/goatnote-inc/pawl/measure"
)

// Target is a case that is ready to be run under a tool.
type Target struct {
	Command harness.Command // how its harness, or its plain command, is started
	Plain   bool            // the command does not speak the protocol: it just runs
	Hello   harness.Hello
	Prepare harness.Prepare
	Warmup  int // runs before the one that counts
	// Exact says that the harness has the feature "profile": it marks the run that
	// counts where every tool can find it. Without it a tool goes by names and counts.
	Exact bool

	Runtime string // as the harness names it in its welcome: CUDA 12.4, OpenCL 3.0; empty when it has not been met

	Kernel string // regular expression of the kernel's name; empty for every kernel of the run
	NVTX   string // range to look at, for a harness that marks one; empty for none
	Device gpu.Identity
	Cache  measure.Cache
	Locked bool // pawl holds the clocks: the tool must leave them alone

	Dir     string // where the tool writes; exists
	Stem    string // of the files' names there
	Timeout time.Duration
}

// Result is what a tool saw.
type Result struct {
	Profile *profile.Profile
	Files   []string // what it left in Target.Dir, the record not among them
	Notes   []string // for people: what was not as it should be, and what to do
}
