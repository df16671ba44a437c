package profile

import (
	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/measure"
)

// Format names the record and its version.
const Format = "pawl.profile/v1"

// Profile holds a tool's measurements of the launches of a kernel.
type Profile struct {
	Format  string  `json:"format"`
	Tool    Tool    `json:"tool"`
	Subject Subject `json:"subject,omitzero"` // what pawl profiled; empty for a file from elsewhere
	// Code holds what is known of the code without running it, so that two
	// profiles can be compared by their code.
	Code     Code     `json:"code,omitzero"`
	Launches []Launch `json:"launches"`
	Notes    []string `json:"notes,omitempty"` // messages of the tool
}

// Tool is the profiler and its settings. The values depend on both.
type Tool struct {
	Name     string    `json:"name"`               // ncu, nsys, rocprofv3, perf, callgrind, opencl
	Version  string    `json:"version,omitempty"`  // as printed by the tool: 2024.1.1.0
	Page     string    `json:"page,omitempty"`     // page that was read: raw, details, text
	Settings []Setting `json:"settings,omitempty"` // clock_control, cache_control, set, ...
}

// Setting is one option that changes what a tool measures.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Subject describes what pawl profiled.
type Subject struct {
	Case   string       `json:"case"`
	Side   string       `json:"side"` // candidate, base, or a reference's name
	Commit string       `json:"commit,omitempty"`
	Dirty  bool         `json:"dirty,omitempty"`
	Device gpu.Identity `json:"device,omitzero"`
	// Nanoseconds is the median measured without a profiler. Times under a profiler are only good for ratios.
	Nanoseconds float64 `json:"nanoseconds,omitempty"`
	Flops       float64 `json:"flops,omitempty"` // per run, as declared by the suite
	Bytes       float64 `json:"bytes,omitempty"`
}

// Code is information from compilers and disassemblers.
type Code struct {
	Kernels   []measure.Kernel `json:"kernels,omitempty"`
	Functions []Function       `json:"functions,omitempty"`
}

// Function is the machine code of one function.
type Function struct {
	measure.CodeDigest
	Mix *measure.Mix `json:"mix,omitempty"`
}

// Launch is one launch of a kernel, or one call of a host function.
type Launch struct {
	ID      int      `json:"id"`
	Kernel  string   `json:"kernel"` // as printed by the tool
	Grid    [3]int   `json:"grid,omitzero"`
	Block   [3]int   `json:"block,omitzero"`
	CC      string   `json:"compute_capability,omitempty"` // "8.9"; of an AMD GPU "gfx942"
	Fields  []Field  `json:"fields,omitempty"`             // other information: process, stream, NVTX ranges
	Metrics []Metric `json:"metrics"`
	Rules   []Rule   `json:"rules,omitempty"` // the tool's own findings
}

// Field is information about a launch that is not a metric.
type Field struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// Metric is one value. It has a name (dram__bytes.sum), or a label in a section
// ("Memory Throughput" is two metrics, in two sections), or all three.
type Metric struct {
	Name    string `json:"name,omitempty"`
	Section string `json:"section,omitempty"`
	Label   string `json:"label,omitempty"`
	Unit    string `json:"unit,omitempty"`
	// Value is nil if the tool printed no number; Text then holds what it printed.
	Value *float64 `json:"value,omitempty"`
	Text  string   `json:"text,omitempty"`
	// Low and High are set if the value is the mean of several launches.
	Low  *float64 `json:"low,omitempty"`
	High *float64 `json:"high,omitempty"`
}

// Rule is a finding of the tool itself.
type Rule struct {
	ID      string   `json:"id"`
	Section string   `json:"section,omitempty"`
	Kind    string   `json:"kind"` // OPT, WRN, INF, ERR
	Text    string   `json:"text"`
	Speedup *float64 `json:"speedup,omitempty"` // the tool's estimate in percent
	Scope   string   `json:"scope,omitempty"`   // of the estimate: global (the runtime) or local (its section)
}
