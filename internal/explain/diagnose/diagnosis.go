package diagnose

import (
	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/explain/profile"
)

// Bottleneck is what limits a kernel.
type Bottleneck string

// Classes of bottlenecks.
const (
	Memory    Bottleneck = "memory"    // the memory system is the limit
	Compute   Bottleneck = "compute"   // a pipe of the SM is the limit
	Latency   Bottleneck = "latency"   // neither is the limit: warps wait
	Launch    Bottleneck = "launch"    // the work is too small for its launch, or for the device
	Occupancy Bottleneck = "occupancy" // too few warps can run to hide the waiting
	Balanced  Bottleneck = "balanced"  // memory and compute limit equally
	Unknown   Bottleneck = "unknown"   // the profile does not say
)

// Diagnosis holds what the profile of one launch shows.
type Diagnosis struct {
	Kernel     string     `json:"kernel"`
	Bottleneck Bottleneck `json:"bottleneck"`
	Sentence   string     `json:"sentence"` // headline of a report
	Lines      []string   `json:"lines"`    // main points with numbers; at least two if enough is known
	Findings   []Finding  `json:"findings"` // most promising first
	Missing    []string   `json:"missing,omitempty"`
}

// Finding is one thing that a profile shows.
type Finding struct {
	Rule     string     `json:"rule"` // ID of the rule
	Title    string     `json:"title"`
	Class    Bottleneck `json:"class"`
	Sentence string     `json:"sentence"`
	// Share is the share of the runtime it may cost, from 0 to 1; nil if unknown. Basis is the
	// source of the estimate: the tool, or pawl.
	Share    *float64   `json:"share,omitempty"`
	Basis    string     `json:"basis,omitempty"`
	Evidence []Evidence `json:"evidence"`
	Fixes    []Fix      `json:"fixes,omitempty"`    // most promising first
	Intended bool       `json:"intended,omitempty"` // present, but probably on purpose
}

// Evidence is a quantity with the limit it is compared with.
type Evidence struct {
	Quantity string  `json:"quantity"` // name in profile.Facts
	About    string  `json:"about"`    // description
	Value    float64 `json:"value"`
	Unit     string  `json:"unit,omitempty"`
	Limit    float64 `json:"limit,omitempty"`
	Compare  string  `json:"compare,omitempty"` // comparison of value with limit: <, >, ...
}

// Fix is a suggested fix for a finding.
type Fix struct {
	Do      string  `json:"do"`
	Example string  `json:"example,omitempty"` // a few lines of code
	Watch   string  `json:"watch,omitempty"`   // what may get worse
	Gain    float64 `json:"gain,omitempty"`    // share of the runtime it may save; 0 if unknown
	// Number is its position in the rule, from 1. It identifies the fix,
	// because fixes are sorted by gain here.
	Number int `json:"-"`
}

// Subject holds what is known of one side of a case.
type Subject struct {
	Profile *profile.Profile
	Launch  profile.Launch // the main launch of the profile
	Facts   profile.Facts
	Card    *gpu.Card // nil if pawl does not know the device
}
