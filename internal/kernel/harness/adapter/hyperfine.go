package adapter

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/measure"
)

var hyperfine = format{
	Format: Format{"hyperfine", "hyperfine --export-json: the times of each command, and its peak memory if recorded"},
	detect: func(o outline) bool { return o.has("results[].command") && !o.has("results[].raw_latencies") },
	read:   readHyperfine,
}

type hyperfineFile struct {
	Results []hyperfineResult `json:"results"`
}

type hyperfineResult struct {
	Command    string           `json:"command"`
	Mean       number           `json:"mean"`
	Stddev     number           `json:"stddev"`
	Median     number           `json:"median"`
	Min        number           `json:"min"`
	Max        number           `json:"max"`
	Times      numbers          `json:"times"`
	Memory     numbers          `json:"memory_usage_byte"`
	ExitCodes  []jsontext.Value `json:"exit_codes"` // null for a command that was ended by a signal
	Parameters jsontext.Value   `json:"parameters"`
}

func readHyperfine(in *input, b *builder) error {
	var file hyperfineFile
	if err := in.document(&file); err != nil {
		return err
	}
	b.header.Device = gpu.Identity{Kind: gpu.CPU} // the file does not describe the machine
	for i := range file.Results {
		if err := file.Results[i].read(b); err != nil {
			return err
		}
	}
	return nil
}

func (r *hyperfineResult) read(b *builder) error {
	params, _, err := readParams(r.Parameters)
	if err != nil {
		return fmt.Errorf("command %q: parameters: %w", label(r.Command), err)
	}
	for i, p := range params {
		if s, ok := p.value.(string); ok { // hyperfine writes numbers as strings
			params[i].value = scalar(s)
		}
	}
	c := measure.Case{
		CaseKey: measure.CaseKey{Benchmark: r.Command, Config: configName(params)},
		Params:  paramMap(params),
		Timer:   measure.TimerWall,
	}
	if r.Times == nil {
		return b.summary(c, measure.Summary{
			Mean: 1e9 * float64(r.Mean), Median: 1e9 * float64(r.Median), Min: 1e9 * float64(r.Min), Max: 1e9 * float64(r.Max),
			Stddev: 1e9 * float64(r.Stddev),
		}, "the file has no times: write it with hyperfine --export-json")
	}
	failed := 0
	for _, code := range r.ExitCodes {
		if string(code) != "0" {
			failed++
		}
	}
	if failed > 0 {
		b.warn(warnMixed, c.Name(), "%d of %d runs of the command failed; their times are included in the samples", failed, len(r.ExitCodes))
	}
	if err := b.time(c, measure.CaseRound{Samples: r.Times.scaled(1e9)}); err != nil {
		return err
	}
	if len(r.Memory) == 0 {
		return nil
	}
	c.Metric, c.Unit, c.Better, c.Timer = "peak_memory", "B", measure.Lower, ""
	return b.metric(c, r.Memory)
}
