// Package tool runs profilers on a case of a suite, one file per tool. It contains their command
// lines, what they require of the machine, and how to limit them to the kernel under test. Package
// profile reads their output.
package tool

import (
	"time"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/explain/profile"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/measure"
)

// Target is a case that is ready to run under a tool.
type Target struct {
	Command harness.Command // starts the harness, or the plain command
	Plain   bool            // the command does not speak the protocol: it just runs
	Hello   harness.Hello
	Prepare harness.Prepare
	Warmup  int // runs before the one that counts
	// Exact means that the harness has the feature "profile": it marks the run that counts for
	// every tool. Without it, a tool selects launches by name and count.
	Exact bool

	Runtime string // from the harness's welcome: CUDA 12.4, OpenCL 3.0; empty if unknown

	Kernel string // regular expression of the kernel's name; empty for every kernel of the run
	NVTX   string // range to profile, for a harness that marks one; empty for none
	Device gpu.Identity
	Cache  measure.Cache
	Locked bool // pawl holds the clocks: the tool must not change them

	Dir     string // existing folder for the tool's files
	Stem    string // prefix of their names
	Timeout time.Duration
}

// Result is the result of a tool.
type Result struct {
	Profile *profile.Profile
	Files   []string // files left in Target.Dir, without the record
	Notes   []string // problems for the user, and what to do
}
