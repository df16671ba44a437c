package harness

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/kernel/tensor"
	"github.com/goatnote-inc/pawl/measure"
)

// Version is the protocol version that this package speaks.
const Version = 1

// CalibrationBenchmark is the fixed kernel that every SDK includes.
const CalibrationBenchmark = "pawl.calibration"

// Operations of the protocol.
const (
	opHello   = "hello"
	opCases   = "cases"
	opPrepare = "prepare"
	opMeasure = "measure"
	opSamples = "samples" // a part of a measure reply
	opCheck   = "check"
	opRun     = "run"
	opProfile = "profile"
	opCompute = "compute" // oracles only
	opBye     = "bye"
)

type header struct {
	ID int    `json:"id"`
	Op string `json:"op"`
}

// Hello introduces pawl.
type Hello struct {
	Protocol []int       `json:"protocol"`
	Pawl     string      `json:"pawl"`
	Device   HelloDevice `json:"device"`
}

// HelloDevice is the device that the harness must use.
type HelloDevice struct {
	Kind gpu.Kind `json:"kind"`
	UUID string   `json:"uuid,omitempty"`
}

// Welcome is the harness's description of itself, the reply to Hello.
type Welcome struct {
	Protocol    int             `json:"protocol"`
	SDK         string          `json:"sdk"`
	Timers      []measure.Timer `json:"timers"` // best first
	Calibration bool            `json:"calibration"`
	Features    []string        `json:"features"`
	Device      struct {
		Name    string `json:"name"`
		Runtime string `json:"runtime"`
	} `json:"device"`
}

// Prepare asks the harness to make a case ready.
type Prepare struct {
	Benchmark      string         `json:"benchmark"`
	Implementation string         `json:"implementation"`
	Params         map[string]any `json:"params"`
	Cache          measure.Cache  `json:"cache"`
	Timer          measure.Timer  `json:"timer"`
	Seed           uint64         `json:"seed,string"`
	Key            string         `json:"key,omitempty"` // 64 hexadecimal digits: key from which inputs are drawn before every run
	Bytes          float64        `json:"bytes"`

	Arguments []tensor.Argument `json:"arguments,omitempty"` // set if the suite declares them
	Launch    *Launch           `json:"launch,omitempty"`    // set for pawl's own launcher
}

// Prepared is the reply to Prepare.
type Prepared struct {
	Timer   measure.Timer `json:"timer"`
	Quantum float64       `json:"quantum_ns"`
}

// Measure asks for samples of the prepared case: a count, a duration, or the
// longer of the two.
type Measure struct {
	Samples int   `json:"samples"`
	Busy    int64 `json:"busy_ns"`
	Warmup  bool  `json:"warmup"`
	Keep    *Keep `json:"keep,omitempty"`

	Batch  int     `json:"batch,omitempty"` // runs per sample from now on; 0 keeps the current value
	Verify *Verify `json:"verify,omitempty"`
}

// Verify asks a measurement for sums of its samples' outputs. For sample number First, every harness
// with the same key draws the same inputs.
type Verify struct {
	Key   uint64 `json:"key,string"` // key of the random signs
	First int    `json:"first"`
}

// SumBlocks is the number of blocks of an output, and BlockSums the number of sums of a block: the sum of
// the elements with random signs, the sum of their squares, the count of NaN or infinite elements (which
// are in neither sum), and the count of elements.
const (
	SumBlocks = 32
	BlockSums = 4
)

// Measured is the reply to Measure.
type Measured struct {
	Count   int             `json:"count"`
	Batch   int             `json:"batch"`
	Samples measure.Samples `json:"samples"`
	Wall    measure.Samples `json:"wall"`
	CPU     measure.Samples `json:"cpu"`
	Clocks  measure.Samples `json:"clock_mhz"`
	Note    string          `json:"note"` // how these samples were taken, for users
	Kept    []Kept          `json:"kept"` // empty for a harness that registers no arguments
	Sums    Sums            `json:"sums"` // by sample, output and block
	// Values are other metrics of the same runs. A metric may have any number of them.
	Values []measure.Values `json:"values"`
}

// Sums are numbers that are sent as their raw bytes in hexadecimal, to keep them exact.
type Sums []float64

// UnmarshalText parses sums as a harness writes them.
func (s *Sums) UnmarshalText(text []byte) error {
	b, err := hex.DecodeString(string(text))
	if err != nil || len(b)%8 != 0 {
		return fmt.Errorf("sums must be 64-bit values in hexadecimal")
	}
	*s = make(Sums, len(b)/8)
	for i := range *s {
		(*s)[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
	}
	return nil
}

// appendPart appends the samples of p, a part of a reply.
func (m *Measured) appendPart(p Measured) (err error) {
	m.Samples = append(m.Samples, p.Samples...)
	m.Wall = append(m.Wall, p.Wall...)
	m.CPU = append(m.CPU, p.CPU...)
	m.Clocks = append(m.Clocks, p.Clocks...)
	m.Sums = append(m.Sums, p.Sums...)
	m.Values, err = MergeValues(m.Values, p.Values)
	return err
}

// size returns the length of the longest series.
func (m *Measured) size() int {
	longest := max(len(m.Samples), len(m.Wall), len(m.CPU), len(m.Clocks))
	for _, v := range m.Values {
		longest = max(longest, len(v.Samples))
	}
	return longest
}
