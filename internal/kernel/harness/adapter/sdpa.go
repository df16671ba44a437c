package adapter

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/goatnote-inc/pawl/measure"
)

var sdpa = format{
	Format: Format{"sdpa", "attention sweeps with raw_latencies in milliseconds: one config, a nested one, or a whole sweep"},
	detect: func(o outline) bool {
		for _, at := range []string{"", "results.", "results[]."} {
			if o.has(at+"raw_latencies") || o.has(at+"statistics.median_ms") {
				return true
			}
		}
		return false
	},
	read: readSDPA,
}

type (
	// sdpaFile covers three layouts: the result at the top, one result below
	// "results" with the config at the top, or a list of them.
	sdpaFile struct {
		sdpaResult
		Results     jsontext.Value `json:"results"`
		Timestamp   string         `json:"timestamp"`
		GPU         string         `json:"gpu"`
		Torch       string         `json:"pytorch_version"`
		Environment *sdpaEnv       `json:"environment"`
		Metadata    struct {
			Date  string `json:"date"`
			GPU   string `json:"gpu"`
			CUDA  string `json:"cuda_version"`
			Torch string `json:"pytorch_version"`
		} `json:"metadata"`
	}
	sdpaResult struct {
		Name       string         `json:"name"`
		Backend    string         `json:"backend"`
		Config     sdpaConfig     `json:"config"`
		Statistics sdpaStatistics `json:"statistics"`
		Latencies  numbers        `json:"raw_latencies"`
	}
	sdpaStatistics struct {
		Median     number `json:"median_ms"`
		Mean       number `json:"mean_ms"`
		Std        number `json:"std_ms"`
		Min        number `json:"min_ms"`
		Max        number `json:"max_ms"`
		Samples    number `json:"n_samples"`
		Iterations number `json:"iterations"`
	}
	// sdpaConfig accepts two spellings of each dimension.
	sdpaConfig struct {
		Batch      number `json:"batch"`
		BatchSize  number `json:"batch_size"`
		Heads      number `json:"heads"`
		NumHeads   number `json:"num_heads"`
		Seq        number `json:"seq"`
		SeqLen     number `json:"seq_len"`
		Dim        number `json:"dim"`
		HeadDim    number `json:"head_dim"`
		Dtype      string `json:"dtype"`
		Backend    string `json:"backend"`
		Iterations number `json:"iterations"`
		Warmup     number `json:"warmup"`
	}
)

func readSDPA(in *input, b *builder) error {
	var file sdpaFile
	if err := in.document(&file); err != nil {
		return err
	}
	results, err := file.all()
	if err != nil {
		return err
	}
	if err := file.describe(in, b); err != nil {
		return err
	}
	b.header.Suite.Name = "sdpa"
	for i := range results {
		if err := results[i].read(b); err != nil {
			return fmt.Errorf("result %d of %d: %w", i+1, len(results), err)
		}
	}
	return nil
}

func (f *sdpaFile) all() ([]sdpaResult, error) {
	if len(f.Results) == 0 || f.Results.Kind() == 'n' {
		return []sdpaResult{f.sdpaResult}, nil
	}
	if f.Results.Kind() == '[' {
		var list []sdpaResult
		err := unmarshal(f.Results, &list)
		return list, err
	}
	one := f.sdpaResult
	err := unmarshal(f.Results, &one)
	return []sdpaResult{one}, err
}

func (f *sdpaFile) describe(in *input, b *builder) error {
	b.created(f.Timestamp)
	if b.header.Created.IsZero() {
		b.created(f.Metadata.Date)
	}
	env := f.Environment
	if env == nil { // the sweep writes it once, next to its results
		raw, err := in.readBeside("env.json", in.limits.document)
		if err != nil {
			return fmt.Errorf("cannot read env.json next to the results: %w", err)
		}
		env = &sdpaEnv{}
		if raw != nil && unmarshal(raw, env) != nil {
			b.warn(warnIgnored, "", "env.json next to the results has an unknown format and is ignored")
			env = &sdpaEnv{}
		}
	}
	for _, name := range []string{f.Metadata.GPU, f.GPU} {
		if name != "" {
			env.GPU.Name = name
		}
	}
	for _, version := range []string{f.Metadata.Torch, f.Torch} {
		if version != "" {
			env.Torch = version
		}
	}
	if f.Metadata.CUDA != "" {
		env.CUDA = f.Metadata.CUDA
	}
	env.describe(b)
	return nil
}

func (r *sdpaResult) read(b *builder) error {
	c, err := r.key()
	if err != nil {
		return err
	}
	b.header.Plan.Warmup = max(b.header.Plan.Warmup, count(float64(r.Config.Warmup)))
	b.header.Plan.Samples = max(b.header.Plan.Samples, count(float64(r.Config.Iterations)))
	s := &r.Statistics
	told := max(count(float64(s.Samples)), count(float64(s.Iterations)))
	if r.Latencies == nil {
		if s.Median == 0 && s.Mean == 0 {
			return fmt.Errorf("case %s has neither raw_latencies nor statistics: is this the result of a sweep?", c.Name())
		}
		return b.summary(c, measure.Summary{
			Count: told, Mean: 1e6 * float64(s.Mean), Median: 1e6 * float64(s.Median), Stddev: 1e6 * float64(s.Std),
			Min: 1e6 * float64(s.Min), Max: 1e6 * float64(s.Max),
		}, "the file has no raw_latencies: configure the sweep to write them")
	}
	if told > 0 && told != len(r.Latencies) {
		b.warn(warnMixed, c.Name(), "the file declares %d samples but contains %d", told, len(r.Latencies))
	}
	return b.time(c, measure.CaseRound{Samples: r.Latencies.scaled(1e6)})
}

// key names the case after its shape. Half precision and the automatic backend are
// the usual defaults, and are named only if they differ.
func (r *sdpaResult) key() (measure.Case, error) {
	cfg := &r.Config
	c := measure.Case{Timer: measure.TimerDevice}
	c.Benchmark = "sdpa"
	var params []param
	size := 1.0
	for _, d := range []struct {
		name   string
		values [2]number
	}{
		{"B", [2]number{cfg.Batch, cfg.BatchSize}},
		{"H", [2]number{cfg.Heads, cfg.NumHeads}},
		{"S", [2]number{cfg.Seq, cfg.SeqLen}},
		{"D", [2]number{cfg.Dim, cfg.HeadDim}},
	} {
		n := max(count(float64(d.values[0])), count(float64(d.values[1])))
		if n == 0 {
			return c, errors.New("config: batch, heads, seq and dim are required, each a whole number above zero")
		}
		size *= float64(n)
		params = append(params, param{d.name, float64(n)})
	}
	sequence := params[2].value.(float64) //nolint:forcetypeassert // set in the loop above
	c.Flops = 4 * size * sequence         // two matrix products, one multiply and one add each
	dtype := strings.TrimPrefix(cfg.Dtype, "torch.")
	if bytes := map[string]float64{"": 2, "float16": 2, "bfloat16": 2, "float32": 4}[dtype]; bytes > 0 {
		c.Bytes = 4 * size * bytes // q, k and v are read, the output is written
	}
	if dtype != "" && dtype != "float16" {
		params = append(params, param{"dtype", label(dtype)})
	}
	backend := cfg.Backend
	if r.Backend != "" {
		backend = r.Backend
	}
	if backend != "" && backend != "auto" {
		params = append(params, param{"backend", label(backend)})
	}
	c.Config, c.Params = configName(params), paramMap(params)
	return c, nil
}
