package adapter

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/measure"
)

var asv = format{
	Format: Format{"asv", "airspeed velocity, results/MACHINE/COMMIT-ENV.json: samples with asv run --record-samples"},
	detect: func(o outline) bool { return o.has("commit_hash", "result_columns", "results") },
	read:   readASV,
}

type asvFile struct {
	Version number `json:"version"`
	Commit  string `json:"commit_hash"`
	Python  text   `json:"python"`
	Machine struct {
		Arch    text `json:"arch"`
		CPU     text `json:"cpu"`
		Machine text `json:"machine"`
		OS      text `json:"os"`
	} `json:"params"`
	Columns []string                    `json:"result_columns"`
	Results map[string][]jsontext.Value `json:"results"` // values in the order of the columns, cut off after the last that is known
}

// asvResult is one benchmark, with an entry for each combination of its parameters.
type asvResult struct {
	params  [][]text
	values  numbers // the medians
	samples []numbers
	runs    numbers // runs of a sample
	repeats numbers
}

func readASV(in *input, b *builder) error {
	var file asvFile
	if err := in.document(&file); err != nil {
		return err
	}
	if file.Version != 0 && file.Version != 2 {
		return fmt.Errorf("version %v of the file is not known (known: 2)", float64(file.Version))
	}
	cpu := label(string(file.Machine.CPU))
	b.header.Device = gpu.Identity{Kind: gpu.CPU, Name: cpu}
	b.header.Environment = measure.Environment{
		Host: label(string(file.Machine.Machine)), OS: label(string(file.Machine.OS)), Arch: label(string(file.Machine.Arch)), CPU: cpu,
	}
	b.impl.Commit = label(file.Commit) // the date of the file is the commit's and not that of the run
	b.tool("python", string(file.Python))
	for _, name := range slices.Sorted(maps.Keys(file.Results)) {
		r, err := file.result(name)
		if err == nil {
			err = r.emit(b, name)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", label(name), err)
		}
	}
	return nil
}

// result reads the columns of one benchmark.
func (f *asvFile) result(name string) (r asvResult, err error) {
	row := f.Results[name]
	for i, column := range f.Columns {
		if i >= len(row) {
			break
		}
		var into any
		switch column {
		case "result":
			into = &r.values
		case "params":
			into = &r.params
		case "samples":
			into = &r.samples
		case "stats_number":
			into = &r.runs
		case "stats_repeat":
			into = &r.repeats
		default:
			continue
		}
		if err := unmarshal(row[i], into); err != nil {
			return r, fmt.Errorf("%s: %w", column, err)
		}
	}
	return r, nil
}

func (r asvResult) emit(b *builder, name string) error {
	if r.values == nil {
		b.warn(warnSkipped, name, "it has no result: it failed")
		return nil
	}
	combinations := 1
	for _, axis := range r.params {
		if combinations *= len(axis); combinations > b.limits.cases {
			return errors.New("too many combinations of parameters")
		}
	}
	if combinations != len(r.values) {
		return fmt.Errorf("%d results for %d combinations of parameters: is the file damaged?", len(r.values), combinations)
	}
	for i := range r.values {
		if err := r.one(b, name, i); err != nil {
			return err
		}
	}
	return nil
}

// one adds one combination of parameters. The start of a function's name says what it measures.
func (r asvResult) one(b *builder, name string, i int) error {
	c := measure.Case{CaseKey: measure.CaseKey{Benchmark: name}}
	c.Config, c.Params = r.config(i)
	v := r.values[i]
	if math.IsNaN(v) {
		b.warn(warnSkipped, c.Name(), "it has no result: it failed or was skipped")
		return nil
	}
	function := name[strings.LastIndexByte(name, '.')+1:]
	kind, _, _ := strings.Cut(function, "_")
	switch strings.ToLower(kind) {
	case "time", "timeraw":
		return r.time(b, c, i)
	case "mem", "peakmem":
		c.Metric, c.Unit, c.Better = strings.ToLower(kind), "B", measure.Lower
	case "track":
		c.Metric, c.Better = function, guessBetter(function) // the unit stands in another file
	default:
		b.warn(warnIgnored, c.Name(), "the name does not say what is measured (known: time_, timeraw_, mem_, peakmem_, track_)")
		return nil
	}
	return b.metric(c, []float64{v})
}

func (r asvResult) time(b *builder, c measure.Case, i int) error {
	c.Timer = measure.TimerWall
	if i < len(r.samples) && len(r.samples[i]) > 0 {
		return b.time(c, measure.CaseRound{Samples: r.samples[i].scaled(1e9), Batch: count(at(r.runs, i))})
	}
	return b.summary(c, measure.Summary{Median: 1e9 * r.values[i], Count: count(at(r.repeats, i))}, "the file has no samples: use asv run --record-samples")
}

func at(list numbers, i int) float64 {
	if i >= len(list) {
		return 0
	}
	return list[i]
}

// config returns the parameters of a combination. The last varies fastest, and the file has no names for them.
func (r asvResult) config(i int) (string, map[string]any) {
	if len(r.params) == 0 {
		return "", nil
	}
	parts, params := make([]string, len(r.params)), map[string]any{}
	for axis, values := range slices.Backward(r.params) {
		value := strings.Trim(string(values[i%len(values)]), `'"`)
		i /= len(values)
		parts[axis], params[fmt.Sprintf("p%d", axis+1)] = clean(value), scalar(value)
	}
	return strings.Join(parts, "_"), params
}
