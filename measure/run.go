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
	Digest string `json:"digest,omitempty"` // digest of the document; empty in a journal and in memory
}

// Header holds what is known before the first sample.
type Header struct {
	Schema  string    `json:"schema"`
	ID      string    `json:"id"` // ULID: sortable by time, unique without a server
	Created time.Time `json:"created"`
	Pawl    string    `json:"pawl,omitempty"` // version of pawl that took the measurement

	// Source is "measured" or "imported". Format is the name of the importing adapter.
	Source Source `json:"source"`
	Format string `json:"format,omitempty"`
	// Trust is empty in records of older versions of pawl, which had only one level: trusted.
	Trust      Trust       `json:"trust,omitempty"`
	Definition *Definition `json:"definition,omitempty"` // set if it differs from the base's
	// Accepted is the statement of a person who reviewed something that requires review: a changed
	// definition, or a gain that is too good to be true.
	Accepted string `json:"accepted,omitempty"`

	Suite           SuiteRef         `json:"suite"`
	Device          gpu.Identity     `json:"device"`
	Testbed         Testbed          `json:"testbed"`
	Environment     Environment      `json:"environment"`
	Implementations []Implementation `json:"implementations"`
	Plan            Plan             `json:"plan"`
}

// Source is the origin of the samples of a run.
type Source string

// The sources of a run.
const (
	Measured Source = "measured"
	Imported Source = "imported"
)

// SuiteRef identifies the suite that a run measured.
type SuiteRef struct {
	Name   string `json:"name,omitempty"`
	Path   string `json:"path,omitempty"`   // relative to the repository
	Digest string `json:"digest,omitempty"` // digest of the suite and everything it extends
}

// Environment describes the machine beyond the testbed. It helps to explain results, and never prevents a
// comparison.
type Environment struct {
	Host   string            `json:"host,omitempty"`
	OS     string            `json:"os,omitempty"` // "linux 6.1.0"
	Arch   string            `json:"arch,omitempty"`
	CPU    string            `json:"cpu,omitempty"`
	Cores  int               `json:"cores,omitempty"`
	Memory int64             `json:"memory_bytes,omitempty"`
	Vars   map[string]string `json:"vars,omitempty"` // CUDA_*, OMP_* and similar, nothing else
}

// Plan is the plan of the measurement. Its seed makes the order reproducible.
type Plan struct {
	Seed         uint64    `json:"seed,string"`
	Edition      int       `json:"edition,omitempty"`    // edition of the judging policy; unset before the second edition
	Dependence   []float64 `json:"dependence,omitempty"` // how much neighboring rounds of the testbed depend on each other, if known
	Growth       []int     `json:"growth,omitempty"`     // rounds per side at each look: 4, 6, 8, 12 and so on
	Turns        bool      `json:"turns,omitempty"`      // sides take turns within a round, as long as they can
	Samples      int       `json:"samples,omitempty"`
	Warmup       int       `json:"warmup,omitempty"`           // minimum number of warm-up samples
	Case         string    `json:"case,omitempty"`             // glob that restricted the run
	Override     int       `json:"samples_override,omitempty"` // samples of every case, overriding the suite
	Seconds      float64   `json:"budget_seconds,omitempty"`
	Dollars      float64   `json:"budget_dollars,omitempty"`
	PricePerHour float64   `json:"price_per_hour,omitempty"`
}

// The implementations of a gate. Any other name is a reference.
const (
	Candidate = "candidate" // the code under test
	Base      = "base"      // the same code at the commit it is compared with
)

// Implementation is one side of a run: what was built, from which source and with which tools.
type Implementation struct {
	Name      string     `json:"name"` // candidate, base, or a reference's name
	Commit    string     `json:"commit,omitempty"`
	Ref       string     `json:"ref,omitempty"`   // as given by the user: HEAD~1, main
	Dirty     bool       `json:"dirty,omitempty"` // built from a tree with uncommitted changes
	Toolchain []Tool     `json:"toolchain,omitempty"`
	Build     BuildFacts `json:"build"`
	Harness   Harness    `json:"harness"`
	// Recipe is the digest of how the side is built and started, including its tunables. It is empty in
	// records of older versions of pawl, which built every side with the candidate's recipe.
	Recipe string `json:"recipe,omitempty"`
	Digest string `json:"digest,omitempty"` // digest of build outputs, harness, suite and runtime files
}

// Tool is a program that affected the result, with the version it printed.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
}

// BuildFacts holds what is known about a build without running it.
type BuildFacts struct {
	Command   string       `json:"command,omitempty"`
	Seconds   float64      `json:"seconds,omitempty"`
	Cached    bool         `json:"cached,omitempty"`    // everything was reused from an earlier build
	Sandboxed bool         `json:"sandboxed,omitempty"` // built in the sandbox, as untrusted builds are
	Elsewhere bool         `json:"elsewhere,omitempty"` // built on another machine with equal tools
	Outputs   []FileDigest `json:"outputs,omitempty"`
	Kernels   []Kernel     `json:"kernels,omitempty"` // kernels of the CUDA outputs, by architecture
	Code      []CodeDigest `json:"code,omitempty"`    // digest of every function, to explain changes
}

// Harness is the program that ran the kernel.
type Harness struct {
	Command string       `json:"command,omitempty"`
	SDK     string       `json:"sdk,omitempty"`
	Device  string       `json:"device,omitempty"`  // as named by the harness
	Runtime string       `json:"runtime,omitempty"` // "CUDA 12.4", "OpenCL 3.0 PoCL"
	Files   []FileDigest `json:"files,omitempty"`
}

// FileDigest is a file and the digest of its content.
type FileDigest struct {
	Path   string `json:"path"`
	Digest string `json:"digest"`
}

// Calibration is one measurement of pawl's fixed kernel. Its code is the same in every run, so a change of
// its time is a change of the machine.
type Calibration struct {
	When    string  `json:"when"` // "open" or "close"
	Kernel  string  `json:"kernel"`
	Timer   Timer   `json:"timer"`
	Samples Samples `json:"samples"`
}

// Ending holds what is known after the last sample.
type Ending struct {
	End      End       `json:"end"`
	Warnings []Warning `json:"warnings,omitempty"`
	// Secret is the seed of the choices that the sides must not predict: batch sizes of the outside
	// clock, and which results were compared. It is revealed only when the run ends.
	Secret string `json:"secret,omitempty"`
	// Loaded lists, by implementation, the code files that its processes loaded from its own tree.
	Loaded map[string][]string `json:"loaded,omitempty"`
}

// End says how a run ended and what it cost.
type End struct {
	State   EndState `json:"state"`
	Reason  string   `json:"reason,omitempty"`
	Seconds float64  `json:"seconds,omitempty"` // wall time on the device
	Dollars float64  `json:"dollars,omitempty"`
}

// EndState says whether a run is complete and, if not, why.
type EndState string

// The ways a run ends.
const (
	Complete    EndState = "complete"
	Interrupted EndState = "interrupted" // by the user or a crash; built from what the journal holds
	OverBudget  EndState = "budget"
	Throttled   EndState = "throttled" // the device kept throttling
	Failed      EndState = "failed"    // a side failed
)

// WarnCommand is the code of the warning that says what a command without a suite reports.
const WarnCommand = "command"

// Warning is a caveat that is stored with the numbers.
type Warning struct {
	Code    string `json:"code"` // stable: "temperature", "spread", "foreign_process", ...
	Message string `json:"message"`
	Case    string `json:"case,omitempty"`
	Round   *int   `json:"round,omitempty"`
}
