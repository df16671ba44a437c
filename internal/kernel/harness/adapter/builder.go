package adapter

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/measure"
)

// Codes of import warnings; docs/reference/import-formats.md lists them.
const (
	warnSkipped   = "import_skipped"   // the tool did not measure it, or measured it and failed
	warnSummary   = "import_summary"   // only a summary is known, no samples
	warnSidecar   = "import_sidecar"   // a file of samples is missing or wrong
	warnIgnored   = "import_ignored"   // something in the source was not understood
	warnDuplicate = "import_duplicate" // a case occurs twice
	warnMixed     = "import_mixed"     // samples of one case were taken under different conditions
	warnDebug     = "debug_build"
	warnScaling   = "cpu_scaling"
)

// builder collects the cases of a source and checks every number.
type builder struct {
	header          measure.Header
	impl            measure.Implementation
	ecc             string
	cases           []measure.Case
	seen            map[measure.CaseKey]int // how often each key occurred
	warnings        []measure.Warning
	omittedWarnings int // number of warnings beyond the limit
	limits          limits
}

func newBuilder(format string, lim limits) *builder {
	return &builder{
		header: measure.Header{Schema: measure.SchemaRun, Source: measure.Imported, Format: format, Trust: measure.TrustImported},
		impl:   measure.Implementation{Name: Candidate},
		seen:   map[measure.CaseKey]int{},
		limits: lim,
	}
}

func (b *builder) warn(code, caseName, message string, args ...any) {
	if len(b.warnings) >= b.limits.warnings {
		b.omittedWarnings++
		return
	}
	caseName = clip(caseName, 4*maxName) // the key may not be cleaned up yet, and has four parts
	b.warnings = append(b.warnings, measure.Warning{Code: code, Case: caseName, Message: fmt.Sprintf(message, args...)})
}

// time adds a case with timings in nanoseconds. A round without samples must say why.
func (b *builder) time(c measure.Case, r measure.CaseRound) error {
	c.Unit, c.Gate = "ns", true
	c, err := b.name(c)
	if err != nil {
		return err
	}
	if len(r.Samples) == 0 && r.Error == "" {
		r.Error = "the source contains no samples of this case"
	}
	for i, v := range r.Samples {
		if math.IsNaN(v) || math.IsInf(v, 0) || v <= 0 {
			return fmt.Errorf("case %s: sample %d of %d is %v ns, but a time must be finite and above zero: measure this case again", c.Name(), i+1, len(r.Samples), v)
		}
	}
	r.Wall = b.companion(c, "wall times", r.Wall, len(r.Samples))
	r.CPU = b.companion(c, "CPU times", r.CPU, len(r.Samples))
	r.Clocks = b.companion(c, "clock readings", r.Clocks, len(r.Samples))
	c.Rounds = []measure.CaseRound{r}
	b.cases = append(b.cases, c)
	return nil
}

// companion checks a series with one value per sample. If it is broken, it is left
// out: the samples do not need it.
func (b *builder) companion(c measure.Case, what string, s measure.Samples, want int) measure.Samples {
	if len(s) == 0 {
		return nil
	}
	if len(s) != want {
		b.warn(warnIgnored, c.Name(), "%d %s for %d samples: all of them are ignored", len(s), what, want)
		return nil
	}
	for i, v := range s {
		if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
			b.warn(warnIgnored, c.Name(), "value %d of the %s is %v: all of them are ignored", i+1, what, v)
			return nil
		}
	}
	return s
}

// metric adds a case that is watched, not gated: a value that a tool reports besides
// the time. Readings that are not numbers are left out, with a warning.
func (b *builder) metric(c measure.Case, samples []float64) error {
	switch c.Metric = label(c.Metric); c.Metric {
	case "":
		b.warn(warnIgnored, c.Name(), "a metric without a printable name is ignored")
		return nil
	case measure.MetricTime: // a counter with that name is not the case's own time
		c.Metric = "counter " + measure.MetricTime
	}
	c.Reported, c.Unit = true, cmp.Or(c.Unit, c.Metric) // a tool that states no unit counts the metric itself
	c, err := b.name(c)
	if err != nil {
		return err
	}
	kept := make(measure.Samples, 0, len(samples))
	for _, v := range samples {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			kept = append(kept, v)
		}
	}
	if dropped := len(samples) - len(kept); dropped > 0 {
		b.warn(warnIgnored, c.Name(), "%d of %d readings are not finite and are ignored", dropped, len(samples))
	}
	round := measure.CaseRound{Samples: kept}
	if len(kept) == 0 {
		round.Error = "the source contains no finite reading of this metric"
	}
	c.Rounds = []measure.CaseRound{round}
	b.cases = append(b.cases, c)
	return nil
}

// summary adds a case that has only a summary, in nanoseconds, and why. The case
// stays gated: missing samples must not let a gate pass.
func (b *builder) summary(c measure.Case, s measure.Summary, why string) error {
	c.Unit, c.Gate = "ns", true
	c, err := b.name(c)
	if err != nil {
		return err
	}
	for _, v := range []*float64{&s.Mean, &s.Median, &s.Min, &s.Max, &s.Stddev} {
		if math.IsNaN(*v) || math.IsInf(*v, 0) || *v < 0 {
			*v = 0 // zero is "not told"
		}
	}
	c.NoSamples, c.Summary, c.Rounds = true, &s, []measure.CaseRound{}
	b.warn(warnSummary, c.Name(), "this case has only a summary and cannot be judged: %s", why)
	b.cases = append(b.cases, c)
	return nil
}

// name makes the key of a case valid: bounded, printable and unique.
func (b *builder) name(c measure.Case) (measure.Case, error) {
	if len(b.cases) >= b.limits.cases {
		return c, fmt.Errorf("more than %d cases: import fewer benchmarks at a time", b.limits.cases)
	}
	c.Implementation = Candidate
	c.Benchmark, c.Config, c.Metric = label(c.Benchmark), label(c.Config), label(c.Metric)
	if c.Benchmark == "" {
		return c, fmt.Errorf("benchmark %d has no name: give it one", len(b.cases)+1)
	}
	first := c.CaseKey
	b.seen[first]++
	for n := b.seen[first]; n > 1; n++ {
		// The number after "#" counts occurrences from 1.
		c.Config = label(fmt.Sprintf("%s#%d", first.Config, n))
		if b.seen[c.CaseKey] == 0 {
			b.seen[first] = n
			b.seen[c.CaseKey] = 1
			b.warn(warnDuplicate, c.Name(), "%s occurs more than once; the number after # counts the occurrences", first.Name())
			break
		}
	}
	return c, nil
}

// created sets the creation time from the source's date.
func (b *builder) created(date string) {
	if date == "" {
		return
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999", "2006/01/02 15:04:05", "20060102-150405"} {
		if t, err := time.Parse(layout, date); err == nil {
			b.header.Created = t.UTC()
			return
		}
	}
	b.warn(warnIgnored, "", "cannot parse the date %q", label(date))
}

// tool records a program that affected the results.
func (b *builder) tool(name, version string) {
	if version != "" {
		b.impl.Toolchain = append(b.impl.Toolchain, measure.Tool{Name: name, Version: label(version)})
	}
}

// run returns the finished run. A source without cases is an error, because an
// import is expected to contain numbers.
func (b *builder) run() (*measure.Run, error) {
	if len(b.cases) == 0 {
		if len(b.warnings) > 0 {
			return nil, fmt.Errorf("no cases found; the first of %d warnings: %s", len(b.warnings)+b.omittedWarnings, b.warnings[0].Message)
		}
		return nil, errors.New("no benchmarks found: did the filter match any?")
	}
	if b.omittedWarnings > 0 {
		b.warnings = append(b.warnings, measure.Warning{Code: warnIgnored, Message: fmt.Sprintf("%d more warnings are not shown", b.omittedWarnings)})
	}
	round := measure.Round{Order: []string{Candidate}, Cases: make([]string, len(b.cases))}
	for i, c := range b.cases {
		round.Cases[i] = c.Name()
	}
	round.Sides = []measure.Side{{Implementation: Candidate, Started: b.header.Created}}
	b.header.Testbed = measure.NewTestbed(b.header.Device, gpu.State{ECC: b.ecc}, gpu.ClockPolicy{})
	b.header.Implementations = []measure.Implementation{b.impl}
	return &measure.Run{
		Header: b.header,
		Rounds: []measure.Round{round},
		Cases:  b.cases,
		Ending: measure.Ending{End: measure.End{State: measure.Complete}, Warnings: b.warnings},
	}, nil
}
