package adapter

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/measure"
)

var tritonBench = format{
	Format: Format{"tritonbench", "TritonBench --output-json: the latency of every input and backend, and its other metrics"},
	detect: func(o outline) bool {
		for name := range o.members {
			if strings.HasPrefix(strings.TrimPrefix(name, "metrics."), tritonPrefix) {
				return true
			}
		}
		return false
	},
	read: readTritonBench,
}

const tritonPrefix = "tritonbench_"

// tritonKey matches the name of a number: operator, input, backend and metric.
var tritonKey = lazyregexp.New(`^tritonbench_(.+)\[x_(.*)-([^-\]]*)\]_(.+)$`)

// tritonMetrics are the metrics whose unit and direction TritonBench defines.
var tritonMetrics = map[string]struct {
	unit   string
	better measure.Better
}{
	"gbps": {"GB/s", measure.Higher}, "tflops": {"TFLOP/s", measure.Higher}, "speedup": {"x", measure.Higher},
	"accuracy": {"pass", measure.Higher}, "compile_time": {"s", measure.Lower}, "walltime": {"ms", measure.Lower},
	"cpu_peak_mem": {"GB", measure.Lower}, "gpu_peak_mem": {"GB", measure.Lower},
}

func readTritonBench(in *input, b *builder) error {
	var file map[string]jsontext.Value
	if err := in.document(&file); err != nil {
		return err
	}
	if inner, ok := file["metrics"]; ok && inner.Kind() == '{' { // with a name and an environment beside them
		file = nil
		if err := unmarshal(inner, &file); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(file)) {
		m := tritonKey.FindStringSubmatch(name)
		if m == nil || m[2] == "average" || m[2] == "hashes" {
			if v, ok := plainNumber(file[name]); ok && v == 0 && strings.HasSuffix(name, "-pass") {
				b.warn(warnSkipped, "", "%s is 0: some inputs did not run or failed", label(name))
			}
			continue // averages over inputs
		}
		params := []param{{"x", label(m[2])}, {"backend", label(m[3])}}
		c := measure.Case{CaseKey: measure.CaseKey{Benchmark: m[1], Config: configName(params), Cache: measure.Cold}, Params: paramMap(params)} // do_bench clears the L2 cache
		if err := tritonValue(b, c, m[4], file[name]); err != nil {
			return err
		}
	}
	return nil
}

// tritonValue adds one number. It is the median of the repetitions in one process, so it is one sample.
func tritonValue(b *builder, c measure.Case, metric string, value jsontext.Value) error {
	v, ok := plainNumber(value)
	if metric == "latency" {
		c.Timer = measure.TimerDevice
		round := measure.CaseRound{Samples: measure.Samples{1e6 * v}}
		if message, isText := plainText(value); !ok && isText {
			round = measure.CaseRound{Error: "the backend failed: " + label(message)}
		} else if !ok || math.IsNaN(v) {
			round = measure.CaseRound{Error: "the backend has no latency: it failed or was skipped"}
		}
		return b.time(c, round)
	}
	c.Metric = metric
	if !ok || math.IsNaN(v) {
		b.warn(warnSkipped, c.Name(), "the value is not a number")
		return nil
	}
	c.Better = guessBetter(metric)
	if known, ok := tritonMetrics[metric]; ok {
		c.Unit, c.Better = known.unit, known.better
	}
	return b.metric(c, []float64{v})
}
