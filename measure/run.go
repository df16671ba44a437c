package measure

import (
	"time"

	"github.com/goatnote-inc/pawl/gpu"
)

// Schema names of the two forms of a record.
const (
	SchemaRun     = "pawl.run/v1"
	SchemaJournal = "pawl.journal/v1"
)

// Run is one whole measurement of a suite on a device.
type Run struct {
	Header
	Calibration []Calibration `json:"calibration,omitempty"`
	Rounds      []Round       `json:"rounds"`
	Cases       []Case        `json:"cases"`
	Ending
	Digest string `json:"digest,omitempty"` // of the document; empty in a journal and in memory
}

// Header is what is known before the first sample is taken.
type Header struct {
	Schema  string    `json:"schema"`
	ID      string    `json:"id"` // ULID: sorts by time, unique without a server
	Created time.Time `json:"created"`
	Pawl    string    `json:"pawl,omitempty"` // version of the pawl that measured

	// Source is "measured" or "imported", Format the importing adapter's name.
	Source Source `json:"source"`
	Format string `json:"format,omitempty"`
	// Trust is empty in records of an older pawl, which knew only one level: trusted.
	Trust      Trust       `json:"trust,omitempty"`
	Definition *Definition `json:"definition,omitempty"` // where it is not the base's
	// Accepted is the word of a person who has looked at what needs one: a changed
	// definition, or a gain that is too good to be true.
	Accepted string `json:"accepted,omitempty"`

	Suite           SuiteRef         `json:"suite"`
	Device          gpu.Identity     `json:"device"`
	Testbed         Testbed          `json:"testbed"`
	Environment     Environment      `json:"environment"`
	Implementations []Implementation `json:"implementations"`
	Plan            Plan             `json:"plan"`
}

// Source tells where the samples of a run come from.
type Source string

// The sources of a run.
const (
	Measured Source = "measured"
	Imported Source = "imported"
)

// SuiteRef names the suite a run measured.
type SuiteRef struct {
	Name   string `json:"name,omitempty"`
	Path   string `json:"path,omitempty"`   // relative to the repository
	Digest string `json:"digest,omitempty"` // of the suite with everything it extends
}

// Environment is what the machine was, beyond the testbed: kept to explain, not
// to refuse a comparison.
type Environment struct {
	Host   string            `json:"host,omitempty"`
	OS     string            `json:"os,omitempty"` // "linux 6.1.0"
	Arch   string            `json:"arch,omitempty"`
	CPU    string            `json:"cpu,omitempty"`
	Cores  int               `json:"cores,omitempty"`
	Memory int64             `json:"memory_bytes,omitempty"`
	Vars   map[string]string `json:"vars,omitempty"` // CUDA_*, OMP_* and the like, never anything else
}

// Plan is how the run was to be measured; with its seed the order is reproducible.
type Plan struct {
	Seed         uint64    `json:"seed,string"`
	Edition      int       `json:"edition,omitempty"`    // of the policy that judges it; records before the second have none
	Dependence   []float64 `json:"dependence,omitempty"` // how much rounds of the testbed resemble their neighbors, where that is known
	Growth       []int     `json:"growth,omitempty"`     // rounds a side after each look: 4, 6, 8, 12 and so on
	Turns        bool      `json:"turns,omitempty"`      // sides took turns inside a round
	Samples      int       `json:"samples,omitempty"`
	Warmup       int       `json:"warmup,omitempty"`           // the least number of warm-up samples
	Case         string    `json:"case,omitempty"`             // the glob that the run was narrowed to
	Override     int       `json:"samples_override,omitempty"` // samples of every case, whatever the suite says
	Seconds      float64   `json:"budget_seconds,omitempty"`
	Dollars      float64   `json:"budget_dollars,omitempty"`
	PricePerHour float64   `json:"price_per_hour,omitempty"`
}

// The implementations of a gate; any other name is a reference.
const (
	Candidate = "candidate" // the code under test
	Base      = "base"      // the same at the commit it is compared with
)

// Implementation is one side of a run: what was built, from what, with what.
type Implementation struct {
	Name      string     `json:"name"` // candidate, base, or a reference's name
	Commit    string     `json:"commit,omitempty"`
	Ref       string     `json:"ref,omitempty"`   // as the user wrote it: HEAD~1, main
	Dirty     bool       `json:"dirty,omitempty"` // built from a tree with uncommitted changes
	Toolchain []Tool     `json:"toolchain,omitempty"`
	Build     BuildFacts `json:"build"`
	Harness   Harness    `json:"harness"`
	// Recipe is the digest of how the side is built and started, with its tunables. It is empty in
	// records of an older pawl, which built every side by the candidate's recipe.
	Recipe string `json:"recipe,omitempty"`
	Digest string `json:"digest,omitempty"` // of build outputs, harness, suite and runtime files
}

// Tool is a program that shaped the result, with the version it printed.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
}

// BuildFacts is what is known of a build without running it.
type BuildFacts struct {
	Command   string       `json:"command,omitempty"`
	Seconds   float64      `json:"seconds,omitempty"`
	Cached    bool         `json:"cached,omitempty"`    // all of it was kept from an earlier build
	Sandboxed bool         `json:"sandboxed,omitempty"` // it ran in the sandbox, as a stranger's build does
	Outputs   []FileDigest `json:"outputs,omitempty"`
	Kernels   []Kernel     `json:"kernels,omitempty"` // of CUDA outputs, by architecture
	Code      []CodeDigest `json:"code,omitempty"`    // of every function, to explain what changed
}

// Harness is the program that ran the kernel.
type Harness struct {
	Command string       `json:"command,omitempty"`
	SDK     string       `json:"sdk,omitempty"`
	Device  string       `json:"device,omitempty"`  // as the harness names it
	Runtime string       `json:"runtime,omitempty"` // "CUDA 12.4", "OpenCL 3.0 PoCL"
	Files   []FileDigest `json:"files,omitempty"`
}

// FileDigest is a file and the digest of its content.
type FileDigest struct {
	Path   string `json:"path"`
	Digest string `json:"digest"`
}

// Calibration is one measurement of pawl's fixed kernel: the same code in every
// run, so a change in it is a change of the machine.
type Calibration struct {
	When    string  `json:"when"` // "open" or "close"
	Kernel  string  `json:"kernel"`
	Timer   Timer   `json:"timer"`
	Samples Samples `json:"samples"`
}

// Ending is what is known after the last sample.
type Ending struct {
	End      End       `json:"end"`
	Warnings []Warning `json:"warnings,omitempty"`
	// Secret is the seed of what the sides could not be allowed to foresee: batch sizes
	// of the clock outside, which results were compared. It is told when all is over.
	Secret string `json:"secret,omitempty"`
	// Loaded lists, by implementation, the files of code that its processes loaded from its own tree.
	Loaded map[string][]string `json:"loaded,omitempty"`
}

// End tells how a run ended and what it cost.
type End struct {
	State   EndState `json:"state"`
	Reason  string   `json:"reason,omitempty"`
	Seconds float64  `json:"seconds,omitempty"` // wall time on the device
	Dollars float64  `json:"dollars,omitempty"`
}

// EndState tells whether a run is whole.
type EndState string

// The ways a run ends.
const (
	Complete    EndState = "complete"
	Interrupted EndState = "interrupted" // by the user, or by a crash: made from what the journal holds
	OverBudget  EndState = "budget"
	Throttled   EndState = "throttled" // the device slowed itself down again and again
	Failed      EndState = "failed"    // a side broke
)

// Warning is a caveat that travels with the numbers.
type Warning struct {
	Code    string `json:"code"` // stable: "temperature", "spread", "foreign_process", ...
	Message string `json:"message"`
	Case    string `json:"case,omitempty"`
	Round   *int   `json:"round,omitempty"`
}
