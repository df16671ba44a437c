package client

import (
	"time"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// SchemaReport is the format of a report.
const SchemaReport = "pawl.report/v1"

// Limits of a report. A server rejects more, so a client does not send more.
const (
	MaxReport  = 16 << 20 // bytes of the body
	MaxDepth   = 32
	MaxPoints  = 100_000
	MaxHistory = 256
	MaxBlobs   = 1_000
	MaxText    = 4 << 10 // bytes of any string
	MaxBlob    = 1 << 30
)

// Report is what one run adds to the history of a project.
type Report struct {
	Schema   string    `json:"schema"`
	Run      string    `json:"run"`      // the record's ULID: one run, one report
	Measured time.Time `json:"measured"` // start of the run
	Pawl     string    `json:"pawl,omitempty"`
	Suite    string    `json:"suite"`

	Commit Commit `json:"commit"`           // commit of the candidate
	Branch string `json:"branch,omitempty"` // as named by the sender
	Pull   int    `json:"pull,omitempty"`   // number of the pull request, if any
	Dirty  bool   `json:"dirty,omitempty"`
	// History holds the first parents of the commit, newest first, as far as the sender's clone has them. The
	// server has no repository.
	History []Commit `json:"history,omitempty"`

	Trust   measure.Trust   `json:"trust"`
	Device  gpu.Identity    `json:"device"`
	Testbed measure.Testbed `json:"testbed"`
	Health  Health          `json:"health"`

	Verdict  ratchet.Verdict `json:"verdict,omitempty"`
	Sentence string          `json:"sentence,omitempty"`

	Points []Point `json:"points"`
	Blobs  []Blob  `json:"blobs,omitempty"` // sent before the report, identified by digest
}

// Commit is a commit and its place in the history.
type Commit struct {
	SHA    string     `json:"sha"`
	Parent string     `json:"parent,omitempty"` // first parent
	At     *time.Time `json:"at,omitempty"`     // nil if the sender does not know it; a later report resolves it
	Author string     `json:"author,omitempty"`
	Title  string     `json:"title,omitempty"`
}

// Health summarizes the state of the device during a run, for the testbed's page. Zero means that the
// device did not report the value.
type Health struct {
	TemperatureC   float64  `json:"temperature_c,omitempty"` // maximum
	SMClockMHz     float64  `json:"sm_clock_mhz,omitempty"`  // median of the readings, as are the next three
	MemoryClockMHz float64  `json:"memory_clock_mhz,omitempty"`
	PowerW         float64  `json:"power_w,omitempty"`
	Load1          float64  `json:"load1,omitempty"`
	Reasons        []string `json:"reasons,omitempty"` // why the clock was below its maximum
	// Calibration is the time of pawl's own kernel, which is the same in every run.
	Calibration float64 `json:"calibration_ns,omitempty"`
	Noise       float64 `json:"noise,omitempty"`   // median over cases of the relative spread between rounds
	Dropped     int     `json:"dropped,omitempty"` // number of rounds that do not count
	Seconds     float64 `json:"seconds,omitempty"`
	Dollars     float64 `json:"dollars,omitempty"`
}

// Point is the result of one case in one run.
type Point struct {
	measure.CaseKey
	Unit   string         `json:"unit"`
	Better measure.Better `json:"better,omitempty"` // empty means lower
	Timer  measure.Timer  `json:"timer,omitempty"`

	Value   float64 `json:"value"` // median of the rounds' medians
	Low     float64 `json:"low"`   // lower limit of the interval of Value
	High    float64 `json:"high"`
	Spread  float64 `json:"spread"` // between rounds, relative to Value
	Rounds  int     `json:"rounds"`
	Samples int     `json:"samples,omitempty"`

	Verdict  ratchet.Verdict `json:"verdict,omitempty"`
	Baseline float64         `json:"baseline,omitempty"` // baseline at the time of the verdict; 0 for none
	Moved    bool            `json:"moved,omitempty"`    // the baseline moved to this point

	Path   string   `json:"path,omitempty"`   // path of the kernel, relative to the repository
	Owners []string `json:"owners,omitempty"` // owners of that path, by the repository's CODEOWNERS
}

// BlobKind is the kind of content in a blob.
type BlobKind string

// The kinds of blobs.
const (
	BlobRecord  BlobKind = "record"  // the run document without its samples, zstd
	BlobSamples BlobKind = "samples" // samples of the run: pawl.samples/v1
	BlobVerdict BlobKind = "verdict" // pawl.verdict/v1, zstd
	BlobWhy     BlobKind = "why"     // findings from profiles, zstd JSON
	BlobProfile BlobKind = "profile" // a profiler's own file
)

// Blob is a file that belongs to a report. Its name is for display; it is stored by its digest.
type Blob struct {
	Digest string   `json:"digest"` // SHA-256, hex
	Size   int64    `json:"size"`
	Kind   BlobKind `json:"kind"`
	Name   string   `json:"name,omitempty"`
}

// Receipt confirms that the server has durably stored a report. The same report gets the same receipt,
// however often it is sent.
type Receipt struct {
	Report   int64     `json:"report"`
	Run      string    `json:"run"`
	Received time.Time `json:"received"`
	Points   int       `json:"points"`
	Lane     Lane      `json:"lane"`
	Again    bool      `json:"again,omitempty"` // it was already stored
	URL      string    `json:"url,omitempty"`   // page of the run
}
