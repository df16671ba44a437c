package adapter

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/measure"
)

var googleBenchmark = format{
	Format: Format{"google-benchmark", "Google Benchmark JSON: one sample per repetition; counters are watched"},
	detect: func(o outline) bool {
		return o.has("context.library_build_type") || o.has("context.num_cpus", "context.executable") || o.has("benchmarks[].real_time")
	},
	read: readGoogle,
}

type (
	googleFile struct {
		Context struct {
			Date       string `json:"date"`
			Host       string `json:"host_name"`
			Executable string `json:"executable"`
			CPUs       int    `json:"num_cpus"`
			Scaling    bool   `json:"cpu_scaling_enabled"`
			Version    string `json:"library_version"`
			BuildType  string `json:"library_build_type"`
		} `json:"context"`
		Rows []googleRow `json:"benchmarks"`
	}
	googleRow struct {
		name, runName, runType string
		aggregate, unit        string
		iterations             number
		repetitions            number
		real, cpu              number
		failed, skipped        bool
		failure, skip          string
		counters               []counter
	}
	counter struct {
		name  string
		value float64
	}
)

// googleIgnored lists fields of a row that are ignored. A row is one flat object that mixes the
// user's counters with the tool's fields. A counter may be named like a field: the field comes first.
var googleIgnored = map[string]bool{
	"family_index": true, "per_family_instance_index": true, "repetition_index": true, "threads": true,
}

// UnmarshalJSONFrom reads the fields and counters of a row.
func (r *googleRow) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	*r = googleRow{unit: "ns", real: number(math.NaN()), cpu: number(math.NaN())}
	if d.PeekKind() != '{' {
		return fmt.Errorf("expected a benchmark, got %v", d.PeekKind())
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	fields := map[string]any{
		"name": &r.name, "run_name": &r.runName, "run_type": &r.runType, "aggregate_name": &r.aggregate, "time_unit": &r.unit,
		"iterations": &r.iterations, "repetitions": &r.repetitions, "real_time": &r.real, "cpu_time": &r.cpu,
		"error_occurred": &r.failed, "error_message": &r.failure, "skipped": &r.skipped, "skip_message": &r.skip,
	}
	for d.PeekKind() != '}' {
		token, err := d.ReadToken()
		if err != nil {
			return err
		}
		name := token.String()
		if into, ok := fields[name]; ok {
			delete(fields, name)
			err = json.UnmarshalDecode(d, into)
		} else {
			err = r.counter(d, name)
		}
		if err != nil {
			return err
		}
	}
	_, err := d.ReadToken()
	return err
}

func (r *googleRow) counter(d *jsontext.Decoder, name string) error {
	kind := d.PeekKind()
	if googleIgnored[name] || (kind != '0' && kind != 'n') {
		return d.SkipValue()
	}
	value, err := readNumber(d)
	r.counters = append(r.counters, counter{name, value})
	return err
}

// googleGroup holds the rows of one benchmark.
type googleGroup struct {
	name       string
	samples    []*googleRow
	aggregates []*googleRow
}

func readGoogle(in *input, b *builder) error {
	if in.timer == measure.TimerDevice {
		return errors.New(`timer "device" is not in these files: choose wall or cpu (with UseManualTime, wall is the manual time)`)
	}
	var file googleFile
	if err := in.document(&file, jsontext.AllowDuplicateNames(true)); err != nil {
		return err
	}
	context := &file.Context
	b.created(context.Date)
	b.header.Device = gpu.Identity{Kind: gpu.CPU, Units: context.CPUs}
	b.header.Environment = measure.Environment{Host: label(context.Host), Cores: context.CPUs}
	b.impl.Harness.Command = label(context.Executable)
	b.tool("google-benchmark", context.Version)
	if context.BuildType == "debug" {
		b.warn(warnDebug, "", "the benchmark library is a debug build: its timings are too high")
	}
	if context.Scaling {
		b.warn(warnScaling, "", "CPU frequency scaling was on: timings vary more than necessary")
	}
	for _, g := range groupRows(file.Rows) {
		if err := g.read(b, in.timer); err != nil {
			return err
		}
	}
	return nil
}

func groupRows(rows []googleRow) []*googleGroup {
	var order []*googleGroup
	byName := map[string]*googleGroup{}
	for i := range rows {
		r := &rows[i]
		name, aggregate := r.place(byName)
		g := byName[name]
		if g == nil {
			g = &googleGroup{name: name}
			byName[name] = g
			order = append(order, g)
		}
		if aggregate {
			g.aggregates = append(g.aggregates, r)
		} else {
			g.samples = append(g.samples, r)
		}
	}
	return order
}

// place returns the benchmark of a row, and whether the row is an aggregate.
// Before 1.5, rows had neither run_name nor run_type, and only the end of its
// name identifies an aggregate.
func (r *googleRow) place(known map[string]*googleGroup) (name string, aggregate bool) {
	name = r.name
	if r.runName != "" {
		name = r.runName
	}
	if r.runType != "" {
		return name, r.runType != "iteration"
	}
	for _, end := range []string{"mean", "median", "stddev", "cv", "BigO", "RMS"} {
		if base, ok := strings.CutSuffix(r.name, "_"+end); ok && known[base] != nil {
			r.aggregate = end
			return base, true
		}
	}
	return name, false
}

func (g *googleGroup) read(b *builder, timer measure.Timer) error {
	var c measure.Case
	c.Benchmark, c.Config = split(g.name)
	c.Timer = measure.TimerWall
	if timer == measure.TimerCPU {
		c.Timer = measure.TimerCPU
	}
	if len(g.samples) == 0 {
		return g.summary(b, c)
	}
	if skipped := g.withoutSkipped(); skipped != nil {
		b.warn(warnSkipped, c.Name(), "the benchmark was skipped: %s", label(skipped.skip))
		if len(g.samples) == 0 {
			return nil
		}
	}
	for _, r := range g.samples {
		if r.failed {
			// One failed repetition invalidates the others: the kernel is not correct.
			if good := len(g.samples) - 1; good > 0 {
				b.warn(warnSkipped, c.Name(), "a repetition failed, so the others (%d) are not counted", good)
			}
			return b.time(c, measure.CaseRound{Error: "the benchmark failed: " + label(r.failure)})
		}
	}
	round, err := g.round(c.Timer)
	if err != nil {
		return fmt.Errorf("case %s: %w", label(c.Name()), err)
	}
	if err := b.time(c, round); err != nil {
		return err
	}
	return g.counters(b, c)
}

// withoutSkipped removes the skipped rows and returns one of them.
func (g *googleGroup) withoutSkipped() (skipped *googleRow) {
	g.samples = slices.DeleteFunc(g.samples, func(r *googleRow) bool {
		if r.skipped {
			skipped = r
		}
		return r.skipped
	})
	return skipped
}

func (g *googleGroup) round(timer measure.Timer) (measure.CaseRound, error) {
	var wall, cpu []float64
	batch := math.Inf(1)
	for _, r := range g.samples {
		factor, ok := nanoseconds(r.unit)
		if !ok {
			return measure.CaseRound{}, fmt.Errorf("unknown time_unit %q (known: ns, us, ms, s)", label(r.unit))
		}
		wall = append(wall, float64(r.real)*factor)
		cpu = append(cpu, float64(r.cpu)*factor)
		batch = min(batch, float64(r.iterations))
	}
	round := measure.CaseRound{Samples: wall, CPU: cpu}
	if timer == measure.TimerCPU {
		round = measure.CaseRound{Samples: cpu, Wall: wall}
	}
	round.Batch = count(batch)
	return round, nil
}

// counters adds the user's counters as watched cases.
func (g *googleGroup) counters(b *builder, c measure.Case) error {
	var names []string
	values := map[string][]float64{}
	for _, r := range g.samples {
		for _, counter := range r.counters {
			if _, ok := values[counter.name]; !ok {
				names = append(names, counter.name)
			}
			values[counter.name] = append(values[counter.name], counter.value)
		}
	}
	for _, name := range names {
		w := measure.Case{CaseKey: c.CaseKey, Timer: c.Timer, Better: guessBetter(name)}
		w.Metric = name
		if base, ok := strings.CutSuffix(name, "_per_second"); ok {
			w.Unit = base + "/s"
		}
		if err := b.metric(w, values[name]); err != nil {
			return err
		}
	}
	return nil
}

func (g *googleGroup) summary(b *builder, c measure.Case) error {
	var s measure.Summary
	for _, r := range g.aggregates {
		factor, ok := nanoseconds(r.unit)
		if !ok {
			continue
		}
		value := float64(r.real) * factor
		if c.Timer == measure.TimerCPU {
			value = float64(r.cpu) * factor
		}
		switch r.aggregate {
		case "mean":
			s.Mean, s.Count = value, count(float64(r.repetitions))
		case "median":
			s.Median = value
		case "stddev":
			s.Stddev = value
		}
	}
	if !slices.ContainsFunc([]float64{s.Mean, s.Median}, func(v float64) bool { return v > 0 }) {
		b.warn(warnIgnored, c.Name(), "the benchmark has neither repetitions nor a mean")
		return nil
	}
	return b.summary(c, s, "the file contains only aggregates: run without --benchmark_report_aggregates_only")
}
