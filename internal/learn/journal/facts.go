package journal

// Change is one variable that differs between two states of the source: the unit of "one
// variable at a time".
type Change struct {
	What   ChangeKind `json:"what"`
	File   string     `json:"file,omitempty"` // from the top of the repository
	Name   string     `json:"name"`           // the constant, the function, the parameter or the flag
	Before string     `json:"before,omitempty"`
	After  string     `json:"after,omitempty"`
	Added  int        `json:"added,omitempty"` // lines
	Gone   int        `json:"gone,omitempty"`
}

// ChangeKind says what kind of variable changed.
type ChangeKind string

// The kinds. Code that changed because a constant of it did is told as the constant alone.
const (
	Constant  ChangeKind = "constant"  // #define, constexpr, a numeric const, an assignment at the top of a Python file
	Parameter ChangeKind = "parameter" // of the suite: a default of what can be tuned
	Flag      ChangeKind = "flag"      // of the build
	Code      ChangeKind = "code"      // a function or kernel
	File      ChangeKind = "file"      // anything else of a file, or one that came or went
)

// Environment is what pawl doctor found.
type Environment struct {
	OK       bool     `json:"ok"`
	Problems []string `json:"problems,omitempty"`
}

// Built is what came of building the candidate.
type Built struct {
	OK    bool   `json:"ok"`
	Class string `json:"class,omitempty"` // of the first mistake, one of those below
	Where string `json:"where,omitempty"` // file:line
	Text  string `json:"text,omitempty"`  // not to be trusted
}

// The classes of what stops a build, or keeps what was built from being loaded.
const (
	MissingFile     = "missing file"
	UndefinedSymbol = "undefined symbol"
	Instantiation   = "instantiation" // a template that nobody instantiated
	ABI             = "abi"           // parts that were built for another library or compiler
	Toolchain       = "toolchain"     // no compiler, or one that cannot do it
	OtherMistake    = "other"
)

// Limits is what the device allows, and what the kernel asks for.
type Limits struct {
	Device       string   `json:"device,omitempty"`
	SharedMemory float64  `json:"shared_memory,omitempty"` // bytes of a block, the largest of the configs looked at
	SharedLimit  float64  `json:"shared_limit,omitempty"`  // bytes that a block may have
	Fits         bool     `json:"fits"`                    // everything does, not only shared memory
	Problems     []string `json:"problems,omitempty"`
	// Minimum is the least time that the smallest config can take on this device, by its
	// operations and bytes; 0 where nobody can tell.
	Minimum float64 `json:"minimum_ns,omitempty"`
}

// Checked is what looking for wrong results found.
type Checked struct {
	Points     int     `json:"points"`
	Failed     int     `json:"failed"`
	Smallest   string  `json:"smallest,omitempty"`  // the smallest config that was tried
	SmallestOK bool    `json:"smallest_ok"`         // and whether it was right
	Worst      float64 `json:"worst,omitempty"`     // largest difference seen
	FirstBad   string  `json:"first_bad,omitempty"` // the smallest config that is wrong
	// Tiles is that config's size in tiles, along the parameter whose edges the suite
	// names; 0 where it names none. 1.016 is one more than a tile of 64.
	Tiles     float64 `json:"first_bad_tiles,omitempty"`
	Replay    string  `json:"replay,omitempty"`     // command that repeats it
	NotFinite bool    `json:"not_finite,omitempty"` // NaN or infinity was among the results
}

// Measured is what a record says.
type Measured struct {
	Run     string         `json:"run"`              // its id
	Path    string         `json:"path,omitempty"`   // of the record, from the top of the repository
	Digest  string         `json:"digest,omitempty"` // of the record
	Verdict string         `json:"verdict,omitempty"`
	Trust   string         `json:"trust,omitempty"`
	Cases   []MeasuredCase `json:"cases"`
	// BaseBefore says that the base is the source that was measured before: the gain is that
	// of the change alone.
	BaseBefore bool `json:"base_before,omitempty"`
}

// MeasuredCase is one config, all implementations that were measured beside each other.
// Times are medians in nanoseconds, 0 where that side was not measured.
type MeasuredCase struct {
	Case      string  `json:"case"`           // benchmark/config
	Work      float64 `json:"work,omitempty"` // operations, or bytes, by which configs are ordered; 0 where nobody can tell
	Candidate float64 `json:"candidate"`
	Base      float64 `json:"base,omitempty"`
	Reference float64 `json:"reference,omitempty"`
	Verdict   string  `json:"verdict,omitempty"` // against the base
	// Gain is the logarithm of base over candidate with its standard error: 0.182 is 20 %
	// faster. Nil where there was no base, or no judge.
	Gain  *float64 `json:"gain,omitempty"`
	Error float64  `json:"gain_error,omitempty"`
	// Spread is the standard error of the logarithm of the candidate's median, by how rounds
	// differ; 0 where there is only one.
	Spread float64 `json:"spread,omitempty"`
}

// Profiled is what a profile shows.
type Profiled struct {
	Case       string             `json:"case"`
	Tool       string             `json:"tool"`
	Kernel     string             `json:"kernel,omitempty"` // not to be trusted
	Bottleneck string             `json:"bottleneck"`
	Findings   []Found            `json:"findings,omitempty"`
	Facts      map[string]float64 `json:"facts,omitempty"` // the quantities lessons ask for
}

// Found is a finding, and what its rule expects of its fixes.
type Found struct {
	Rule  string  `json:"rule"`
	Class string  `json:"class"`
	Fixes []Fix   `json:"fixes,omitempty"`
	Share float64 `json:"share,omitempty"`
}

// Fix is one thing to do about a finding.
type Fix struct {
	ID   string  `json:"id"`   // see FixID
	Gain float64 `json:"gain"` // share of the time that its rule expects it to save
}

// Tuned is what a search for parameters came to.
type Tuned struct {
	Case        string            `json:"case"`
	Evaluations int               `json:"evaluations"`
	Point       map[string]string `json:"point,omitempty"`
	Speedup     float64           `json:"speedup,omitempty"` // proved; 0 where it was not
	Run         string            `json:"run,omitempty"`     // that proved it
}
