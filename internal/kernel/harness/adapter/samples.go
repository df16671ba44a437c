package adapter

import (
	"fmt"

	"github.com/goatnote-inc/pawl/measure"
)

var sampleLines = format{
	Format: Format{"samples", `JSON lines with "case", "unit" and "samples", from any program, printed or in the file $PAWL_SAMPLES`},
	detect: func(o outline) bool { return o.has("case", "samples") && !o.has("schema") },
	read:   readSamples,
}

// sampleRecord is one line: all samples of one metric of a case in this process.
type sampleRecord struct {
	Case    string  `json:"case"`
	Metric  string  `json:"metric"` // empty means time
	Unit    string  `json:"unit"`
	Better  string  `json:"better"`
	Samples numbers `json:"samples"`
	PerTurn int     `json:"samples_per_turn"` // 0 means that the program took no turns
}

func readSamples(in *input, b *builder) error {
	return readRecords(in, b, "lines between the records that are not JSON objects: %d", (*sampleRecord).read)
}

func (r *sampleRecord) read(b *builder, line int) error {
	if r.Case == "" || r.Samples == nil {
		b.warn(warnIgnored, "", "line %d: the object has no case or no samples", line)
		return nil
	}
	c := measure.Case{}
	c.Benchmark, c.Config = split(r.Case)
	if r.Metric == "" || r.Metric == measure.MetricTime {
		factor, ok := nanoseconds(r.Unit)
		if !ok {
			return fmt.Errorf("%q: unknown unit %q (known: ns, us, ms, s)", label(r.Case), label(r.Unit))
		}
		if r.Better != "" && r.Better != string(measure.Lower) {
			return fmt.Errorf("%q: a time is better when it is lower, not %q", label(r.Case), label(r.Better))
		}
		c.Timer = measure.TimerWall
		return b.time(c, measure.CaseRound{SamplesPerTurn: max(r.PerTurn, 0), Samples: r.Samples.scaled(factor)})
	}
	c.Metric, c.Unit = r.Metric, label(r.Unit)
	switch c.Better = measure.Better(r.Better); c.Better {
	case measure.Lower, measure.Higher:
	case "":
		c.Better = guessBetter(r.Metric)
	default:
		return fmt.Errorf("%q: better must be lower or higher, not %q", label(r.Case), label(r.Better))
	}
	return b.metric(c, r.Samples)
}
