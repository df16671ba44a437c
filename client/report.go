package client

import (
	"time"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// SchemaReport names the body of a report.
const SchemaReport = "pawl.report/v1"

// What a report may hold. A server refuses more, so a client does not try.
const (
	MaxReport  = 16 << 20 // bytes of its body
	MaxDepth   = 32
	MaxPoints  = 100_000
	MaxHistory = 256
	MaxBlobs   = 1_000
	MaxText    = 4 << 10 // bytes of any one string
	MaxBlob    = 1 << 30
)

// Report is what one run adds to the memory of a project.
type Report struct {
	Schema   string    `json:"schema"`
	Run      string    `json:"run"`      // the record's ULID: one run, one report
	Measured time.Time `json:"measured"` // when the run began
	Pawl     string    `json:"pawl,omitempty"`
	Suite    string    `json:"suite"`

	Commit Commit `json:"commit"`           // of the candidate
	Branch string `json:"branch,omitempty"` // as the sender names it
	Pull   int    `json:"pull,omitempty"`   // number of the pull request, if it is for one
	Dirty  bool   `json:"dirty,omitempty"`
	// History are the first parents of the commit, the newest first, as far as the
	// sender's clone has them: the server has no repository to ask.
	History []Commit `json:"history,omitempty"`

	Trust   measure.Trust   `json:"trust"`
	Device  gpu.Identity    `json:"device"`
	Testbed measure.Testbed `json:"testbed"`
	Health  Health          `json:"health"`

	Verdict  ratchet.Verdict `json:"verdict,omitempty"`
	Sentence string          `json:"sentence,omitempty"`

	Points []Point `json:"points"`
	Blobs  []Blob  `json:"blobs,omitempty"` // sent before the report, by digest
}

// Commit is a place in the history of the code.
type Commit struct {
	SHA    string     `json:"sha"`
	Parent string     `json:"parent,omitempty"` // the first
	At     *time.Time `json:"at,omitempty"`     // nil where the sender does not know: resolved by a later report
	Author string     `json:"author,omitempty"`
	Title  string     `json:"title,omitempty"`
}

// Health is how the device was while a run measured, for the page of a testbed.
// Zero means that the device did not tell.
type Health struct {
	TemperatureC   float64  `json:"temperature_c,omitempty"` // the highest
	SMClockMHz     float64  `json:"sm_clock_mhz,omitempty"`  // medians of the readings
	MemoryClockMHz float64  `json:"memory_clock_mhz,omitempty"`
	PowerW         float64  `json:"power_w,omitempty"`
	Load1          float64  `json:"load1,omitempty"`
	Reasons        []string `json:"reasons,omitempty"` // why the clock was not at its highest
	// Calibration is the time of pawl's own kernel, which is the same in every run.
	Calibration float64 `json:"calibration_ns,omitempty"`
	Noise       float64 `json:"noise,omitempty"`   // median over cases of the spread between rounds, a share
	Dropped     int     `json:"dropped,omitempty"` // rounds that do not count
	Seconds     float64 `json:"seconds,omitempty"`
	Dollars     float64 `json:"dollars,omitempty"`
}

// Point is the result of one case in one run.
type Point struct {
	measure.CaseKey
	Unit   string         `json:"unit"`
	Better measure.Better `json:"better,omitempty"` // empty means lower
	Timer  measure.Timer  `json:"timer,omitempty"`

	Value   float64 `json:"value"` // median over rounds of the rounds' medians
	Low     float64 `json:"low"`   // interval of it
	High    float64 `json:"high"`
	Spread  float64 `json:"spread"` // between rounds, as a share of the value
	Rounds  int     `json:"rounds"`
	Samples int     `json:"samples,omitempty"`

	Verdict  ratchet.Verdict `json:"verdict,omitempty"`
	Baseline float64         `json:"baseline,omitempty"` // that held when it was judged; 0 for none
	Moved    bool            `json:"moved,omitempty"`    // the baseline moved to this point

	Path   string   `json:"path,omitempty"`   // of the kernel, relative to the repository
	Owners []string `json:"owners,omitempty"` // of that path, by the repository's CODEOWNERS
}

// BlobKind is what a blob holds.
type BlobKind string

// The kinds of blobs.
const (
	BlobRecord  BlobKind = "record"  // the run document without its samples, zstd
	BlobSamples BlobKind = "samples" // the samples of it: pawl.samples/v1
	BlobVerdict BlobKind = "verdict" // pawl.verdict/v1, zstd
	BlobWhy     BlobKind = "why"     // what profiles said, zstd JSON
	BlobProfile BlobKind = "profile" // a profiler's own file
)

// Blob is a file beside a report. Its name is only shown: it is kept by its digest.
type Blob struct {
	Digest string   `json:"digest"` // SHA-256, hex
	Size   int64    `json:"size"`
	Kind   BlobKind `json:"kind"`
	Name   string   `json:"name,omitempty"`
}

// Receipt is the server's word that a report is kept: it survives whatever happens to
// the server. The same report gets the same receipt, however often it is sent.
type Receipt struct {
	Report   int64     `json:"report"`
	Run      string    `json:"run"`
	Received time.Time `json:"received"`
	Points   int       `json:"points"`
	Lane     Lane      `json:"lane"`
	Again    bool      `json:"again,omitempty"` // it was kept already
	URL      string    `json:"url,omitempty"`   // the run's page
}
