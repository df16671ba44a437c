package diagnose

import (
	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/profile"
)

// Bottleneck is what a kernel spends its time on.
type Bottleneck string

// The classes.
const (
	Memory    Bottleneck = "memory"    // the memory system is the limit
	Compute   Bottleneck = "compute"   // a pipe of the SM is
	Latency   Bottleneck = "latency"   // neither: warps wait
	Launch    Bottleneck = "launch"    // the work is too small for its launch, or for the device
	Occupancy Bottleneck = "occupancy" // too few warps can run to hide the waiting
	Balanced  Bottleneck = "balanced"  // memory and compute alike
	Unknown   Bottleneck = "unknown"   // the profile does not say
)

// Diagnosis is what one launch shows.
type Diagnosis struct {
	Kernel     string     `json:"kernel"`
	Bottleneck Bottleneck `json:"bottleneck"`
	Sentence   string     `json:"sentence"` // the one that stands at the top of a report
	Lines      []string   `json:"lines"`    // what an expert would say first, with the numbers; two at least where enough is known
	Findings   []Finding  `json:"findings"` // the most promising first
	Missing    []string   `json:"missing,omitempty"`
}

// Finding is one thing that a profile shows.
type Finding struct {
	Rule     string     `json:"rule"` // its id
	Title    string     `json:"title"`
	Class    Bottleneck `json:"class"`
	Sentence string     `json:"sentence"`
	// Share is how much of the runtime it may cost, from 0 to 1; missing where nobody
	// can tell. Basis says who estimates it: the tool, or pawl.
	Share    *float64   `json:"share,omitempty"`
	Basis    string     `json:"basis,omitempty"`
	Evidence []Evidence `json:"evidence"`
	Fixes    []Fix      `json:"fixes,omitempty"`    // the most promising first
	Intended bool       `json:"intended,omitempty"` // it is there, and probably on purpose: no fault
}

// Evidence is a quantity with the limit it is read against.
type Evidence struct {
	Quantity string  `json:"quantity"` // of profile.Facts
	About    string  `json:"about"`    // what it is, in words
	Value    float64 `json:"value"`
	Unit     string  `json:"unit,omitempty"`
	Limit    float64 `json:"limit,omitempty"`
	Compare  string  `json:"compare,omitempty"` // how value stands to limit where the rule speaks: <, >, ...
}

// Fix is what to do about a finding.
type Fix struct {
	Do      string  `json:"do"`
	Example string  `json:"example,omitempty"` // a few lines of code
	Watch   string  `json:"watch,omitempty"`   // what may get worse by it
	Gain    float64 `json:"gain,omitempty"`    // share of the runtime it may save, as far as anybody can tell
	// Number is its place in the rule, from 1: what fixes are known by, as their order here is
	// by what they gain.
	Number int `json:"-"`
}

// Seen is what is known of one side of a case.
type Seen struct {
	Profile *profile.Profile
	Launch  profile.Launch // of the profile, the one that counts
	Facts   profile.Facts
	Card    *gpu.Card // nil where the device is none that pawl knows
}
