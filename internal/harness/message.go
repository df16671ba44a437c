package harness

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/tensor"
	"github.com/goatnote-inc/pawl/measure"
)

// Version is the protocol version this package speaks.
const Version = 1

// CalibrationBenchmark is the fixed kernel that an SDK brings.
const CalibrationBenchmark = "pawl.calibration"

// The operations of the protocol.
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

// HelloDevice is the device the harness is to use.
type HelloDevice struct {
	Kind gpu.Kind `json:"kind"`
	UUID string   `json:"uuid,omitempty"`
}

// Welcome is what a harness says of itself.
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

// Prepare asks for a case to be made ready.
type Prepare struct {
	Benchmark      string         `json:"benchmark"`
	Implementation string         `json:"implementation"`
	Params         map[string]any `json:"params"`
	Cache          measure.Cache  `json:"cache"`
	Timer          measure.Timer  `json:"timer"`
	Seed           uint64         `json:"seed,string"`
	Key            string         `json:"key,omitempty"` // 64 hexadecimal digits: inputs are drawn from it before every run
	Bytes          float64        `json:"bytes"`

	Arguments []tensor.Argument `json:"arguments,omitempty"` // where the suite declares them
	Launch    *Launch           `json:"launch,omitempty"`    // for pawl's own launcher
}

// Prepared is the answer to Prepare.
type Prepared struct {
	Timer   measure.Timer `json:"timer"`
	Quantum float64       `json:"quantum_ns"`
}

// Measure asks for samples of the prepared case: a number, a time, or the
// longer of the two.
type Measure struct {
	Samples int   `json:"samples"`
	Busy    int64 `json:"busy_ns"`
	Warmup  bool  `json:"warmup"`
	Keep    *Keep `json:"keep,omitempty"`

	Batch  int     `json:"batch,omitempty"` // runs of a sample from now on; 0 leaves it
	Verify *Verify `json:"verify,omitempty"`
}

// Verify asks a measurement for sums of what its samples leave. The sample numbered First gets the
// inputs that every harness with the same key draws for it.
type Verify struct {
	Key   uint64 `json:"key,string"` // of the signs
	First int    `json:"first"`
}

// An output of a sample has so many blocks, and a block so many numbers: the sum of its elements with
// random signs, that of their squares, how many are NaN or infinite and in neither, and how many there are.
const (
	SumBlocks = 32
	BlockSums = 4
)

// Measured is the answer to Measure.
type Measured struct {
	Count   int             `json:"count"`
	Batch   int             `json:"batch"`
	Samples measure.Samples `json:"samples"`
	Wall    measure.Samples `json:"wall"`
	CPU     measure.Samples `json:"cpu"`
	Clocks  measure.Samples `json:"clock_mhz"`
	Note    string          `json:"note"` // for people: how these samples were taken
	Kept    []Kept          `json:"kept"` // none from a harness that registers no arguments
	Sums    Sums            `json:"sums"` // for each sample, each output and each block
}

// Sums are numbers that travel as the bytes they are, in hexadecimal.
type Sums []float64

// UnmarshalText reads sums as a harness writes them.
func (s *Sums) UnmarshalText(text []byte) error {
	b, err := hex.DecodeString(string(text))
	if err != nil || len(b)%8 != 0 {
		return fmt.Errorf("sums are not whole numbers of 64 bits in hexadecimal")
	}
	*s = make(Sums, len(b)/8)
	for i := range *s {
		(*s)[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
	}
	return nil
}

// part adds the samples of a part in front of the reply that follows it.
func (m *Measured) part(p Measured) {
	m.Samples = append(m.Samples, p.Samples...)
	m.Wall = append(m.Wall, p.Wall...)
	m.CPU = append(m.CPU, p.CPU...)
	m.Clocks = append(m.Clocks, p.Clocks...)
	m.Sums = append(m.Sums, p.Sums...)
}
