package journal

// Change is one thing that differs between two states of the source.
type Change struct {
	What   ChangeKind `json:"what"`
	Name   string     `json:"name"` // parameter, flag variable, or path from the top of the repository
	Before string     `json:"before,omitempty"`
	After  string     `json:"after,omitempty"`
	Added  int        `json:"added,omitempty"` // lines, as git counts them
	Gone   int        `json:"gone,omitempty"`
}

// ChangeKind is the kind of a change.
type ChangeKind string

// The kinds.
const (
	Parameter ChangeKind = "parameter" // default of a tunable parameter of the suite
	Flag      ChangeKind = "flag"      // of the build, as the suite has it
	File      ChangeKind = "file"
)

// Environment is what pawl doctor found.
type Environment struct {
	OK       bool     `json:"ok"`
	Problems []string `json:"problems,omitempty"`
}

// Built is the result of building the candidate.
type Built struct {
	OK    bool   `json:"ok"`
	Class string `json:"class,omitempty"` // of the first error, one of the constants below
	Where string `json:"where,omitempty"` // file:line
	Text  string `json:"text,omitempty"`  // untrusted
}

// The classes of failures to build, or to load what was built.
const (
	MissingFile     = "missing file"
	UndefinedSymbol = "undefined symbol"
	Instantiation   = "instantiation" // a template that is not instantiated
	ABI             = "abi"           // parts built for another library or compiler
	Toolchain       = "toolchain"     // no compiler, or one that cannot build it
	OtherMistake    = "other"
)

// Limits is what the device allows and what the kernel needs.
type Limits struct {
	Device       string   `json:"device,omitempty"`
	SharedMemory float64  `json:"shared_memory,omitempty"` // bytes per block, the largest of the configs
	SharedLimit  float64  `json:"shared_limit,omitempty"`  // bytes that a block may have
	Fits         bool     `json:"fits"`
	Problems     []string `json:"problems,omitempty"`
	Minimum      float64  `json:"minimum_ns,omitempty"` // least time of the smallest config by its work; 0 if unknown
}

// Checked is the result of a correctness check.
type Checked struct {
	Points     int     `json:"points"`
	Failed     int     `json:"failed"`
	Smallest   string  `json:"smallest,omitempty"` // smallest config that was checked
	SmallestOK bool    `json:"smallest_ok"`
	Worst      float64 `json:"worst,omitempty"`           // largest difference
	FirstBad   string  `json:"first_bad,omitempty"`       // smallest wrong config
	Tiles      float64 `json:"first_bad_tiles,omitempty"` // its size in tiles; 0 if the suite names no edges
	Replay     string  `json:"replay,omitempty"`          // command that repeats it
	NotFinite  bool    `json:"not_finite,omitempty"`      // a result was NaN or infinite
}

// Wrong reports whether a result was wrong.
func (c *Checked) Wrong() bool { return c.Failed > 0 || c.NotFinite || !c.SmallestOK }

// Measured is the content of a record.
type Measured struct {
	Run     string         `json:"run"`
	Path    string         `json:"path,omitempty"` // from the top of the repository
	Digest  string         `json:"digest,omitempty"`
	Verdict string         `json:"verdict,omitempty"`
	Trust   string         `json:"trust,omitempty"`
	Cases   []MeasuredCase `json:"cases"`
	// BaseBefore says that the base is the source that was measured before: the gain is that
	// of the change alone.
	BaseBefore bool `json:"base_before,omitempty"`
}

// MeasuredCase is one config with all implementations measured side by side. Times are medians
// in nanoseconds, 0 if not measured.
type MeasuredCase struct {
	Case      string   `json:"case"`           // benchmark/config
	Work      float64  `json:"work,omitempty"` // operations or bytes; orders configs
	Candidate float64  `json:"candidate"`
	Base      float64  `json:"base,omitempty"`
	Reference float64  `json:"reference,omitempty"`
	Verdict   string   `json:"verdict,omitempty"`    // against the base
	Gain      *float64 `json:"gain,omitempty"`       // logarithm of base over candidate; nil without a base
	Error     float64  `json:"gain_error,omitempty"` // its standard error
	Spread    float64  `json:"spread,omitempty"`     // standard error of the logarithm of the candidate's median
}

// Profiled is what a profile shows.
type Profiled struct {
	Case       string             `json:"case"`
	Tool       string             `json:"tool"`
	Kernel     string             `json:"kernel,omitempty"` // untrusted
	Bottleneck string             `json:"bottleneck"`
	Findings   []Found            `json:"findings,omitempty"`
	Facts      map[string]float64 `json:"facts,omitempty"` // quantities that lessons use
}

// Found is a finding.
type Found struct {
	Rule  string  `json:"rule"`
	Class string  `json:"class"`
	Fixes []Fix   `json:"fixes,omitempty"`
	Share float64 `json:"share,omitempty"`
}

// Fix is one thing to do about a finding.
type Fix struct {
	ID   string  `json:"id"`   // see FixID
	Gain float64 `json:"gain"` // share of the time that its rule expects to save
}

// Tuned is the result of a search for parameters.
type Tuned struct {
	Case        string            `json:"case"`
	Evaluations int               `json:"evaluations"`
	Point       map[string]string `json:"point,omitempty"`
	Speedup     float64           `json:"speedup,omitempty"` // proven; 0 if not
	Run         string            `json:"run,omitempty"`     // that proves it
}
