package suite

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/base/strictyaml"
	"github.com/goatnote-inc/pawl/internal/kernel/suite/expr"
	"github.com/goatnote-inc/pawl/measure"
)

// Values that must be one of a few words.
type (
	deviceKind  string
	format      string
	timer       string
	turns       string
	cacheMode   string
	better      string
	policyRule  string
	keeping     string
	confinement string
	trust       string
	valueType   string
	inputKind   string
	cover       string
	repeats     string
	spills      string
	profileSet  string
	gateMode    string
	failingKind string
	acceptor    string
)

const auto = "auto"

func (deviceKind) Words() []string  { return []string{auto, "nvidia", "amd", "cpu"} }
func (format) Words() []string      { return Formats() }
func (timer) Words() []string       { return []string{auto, "device", "kernel", "wall", "cpu"} }
func (turns) Words() []string       { return []string{auto, "always", "never"} }
func (cacheMode) Words() []string   { return []string{"hot", "cold"} }
func (better) Words() []string      { return []string{"lower", "higher"} }
func (policyRule) Words() []string  { return []string{"paired", "classic"} }
func (keeping) Words() []string     { return []string{"none", "file", "branch"} }
func (confinement) Words() []string { return []string{auto, "always", "never"} }

func (trust) Words() []string      { return []string{"trusted", "checked", "self-timed"} }
func (cover) Words() []string      { return []string{"full", "pairwise"} }
func (repeats) Words() []string    { return []string{"bitwise", "bounded", "no"} }
func (profileSet) Words() []string { return []string{"full", "cheap"} }
func (spills) Words() []string     { return []string{auto, "allow", "warn", "stop"} }
func (gateMode) Words() []string   { return []string{Enforce, Advise} }
func (failingKind) Words() []string {
	return []string{"regression", "broken", "missing", "inconclusive", FailOnError}
}
func (acceptor) Words() []string { return []string{"write", "maintain", "admin"} }
func (valueType) Words() []string {
	return []string{"i32", "i64", "i16", "i8", "u8", "bool", "f32", "f64"}
}

func (inputKind) Words() []string {
	return []string{"normal", "uniform", "large", "denormal", "equal_rows", "constant", "zeros", "infinities", "ones_and_zeros"}
}

// Values of harness.format for which no output is read.
const (
	Python  = "python"  // the times that Python's timers measure, as pawl records them
	Process = "process" // the time of the whole command, from start to exit
)

// Formats returns the valid values of harness.format: the protocol, detection, the result
// formats of other tools, and those for which no output is read.
func Formats() []string {
	return []string{
		"pawl", auto, "nvbench", "google-benchmark", "pytest-benchmark", "hyperfine", "criterion", "go", "triton", "sdpa", "vllm", "sglang", "tritonbench", "asv", "bmf", "nccl-tests", "samples", "lines", Python, Process,
	}
}

// Names that a suite defines.
type (
	metricName         string
	implementationName string
	benchmarkName      string
	paramName          string
	envName            string
	argumentName       string
)

// rule defines which names are valid.
type rule struct {
	what           string // the kind of thing that is named
	pattern        *lazyregexp.Regexp
	description    string   // the pattern in words
	reserved       []string // match the pattern, but are not allowed
	reservedReason string
}

var (
	metricRule = rule{
		what:        "metric",
		pattern:     lazyregexp.New(`^[A-Za-z][A-Za-z0-9_./-]{0,63}$`),
		description: "letters, digits and _./-, at most 64, starting with a letter",
	}
	implementationRule = rule{
		what:           "implementation",
		pattern:        lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_.+-]{0,63}$`),
		description:    "letters, digits and _.+-, at most 64, starting with a letter or digit",
		reserved:       []string{Candidate, Base},
		reservedReason: "it is always measured, with the build and harness of the suite",
	}
	// Other tools use their own names ("BM_gemm<float>/1024"), so any text that prints on one
	// line is valid.
	benchmarkRule = rule{
		what:           "benchmark",
		pattern:        lazyregexp.New(`^[^\s\p{C}]([^\p{C}]{0,198}[^\s\p{C}])?$`),
		description:    "printable characters, at most 200, no space at either end",
		reserved:       []string{calibration},
		reservedReason: "pawl measures it itself",
	}
	paramRule = rule{
		what:           "parameter",
		pattern:        lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`),
		description:    "letters, digits and _, at most 64, not starting with a digit",
		reserved:       append(expr.Reserved(), measuredVariables...),
		reservedReason: "it means something else in expressions",
	}
	envRule = rule{
		what:           "environment variable",
		pattern:        lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`),
		description:    "letters, digits and _, at most 128, not starting with a digit",
		reserved:       []string{"PAWL_IN", "PAWL_OUT", "PAWL_PROTOCOL", "PAWL_SAMPLES", "PAWL_PREFIX"},
		reservedReason: "pawl sets it",
	}
	// It is also a name in C and in a tensor file.
	argumentRule = rule{
		what:        "argument",
		pattern:     lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`),
		description: "letters, digits and _, at most 64, not starting with a digit",
	}
)

// ValidMetric reports whether a text can be the name of a metric that a harness reports.
func ValidMetric(name string) bool {
	return metricRule.pattern.MatchString(name) && name != measure.MetricTime
}

func (metricName) rule() rule         { return metricRule }
func (implementationName) rule() rule { return implementationRule }
func (benchmarkName) rule() rule      { return benchmarkRule }
func (paramName) rule() rule          { return paramRule }
func (envName) rule() rule            { return envRule }
func (argumentName) rule() rule       { return argumentRule }

// check returns what is wrong with a name, and how to fix it.
func (r rule) check(name string) (problem, hint string) {
	switch {
	case !r.pattern.MatchString(name):
		return fmt.Sprintf("%q cannot be the name of %s", strictyaml.Shorten(name), article(r.what)), r.description
	case slices.Contains(r.reserved, name):
		return fmt.Sprintf("%q cannot be the name of %s", name, article(r.what)), r.reservedReason
	}
	return "", ""
}

func article(noun string) string {
	if strings.ContainsRune("aeiou", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}

// The implementations that every run contains.
const (
	Candidate = measure.Candidate
	Base      = measure.Base
)

// calibration is the benchmark that the SDKs provide for pawl itself.
const calibration = "pawl.calibration"

// measuredVariables lists the variables of a metric that are not parameters.
var measuredVariables = []string{"time", "flops", "bytes"}
