package adapter

import (
	"fmt"
	"math"
	"strconv"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/measure"
)

var nvbench = format{
	Format: Format{"nvbench", "NVBench --jsonbin: GPU times and SM clocks of each state, from the files next to the JSON"},
	detect: func(o outline) bool {
		return o.has("meta.version.nvbench") || o.has("benchmarks[].states") || o.has("meta.argv", "devices[].sm_version")
	},
	read: readNVBench,
}

type (
	nvFile struct {
		Meta struct {
			Version struct {
				NVBench struct {
					String string `json:"string"`
					SHA    string `json:"git_sha"`
				} `json:"nvbench"`
			} `json:"version"`
		} `json:"meta"`
		Devices    []nvDevice    `json:"devices"`
		Benchmarks []nvBenchmark `json:"benchmarks"`
	}
	nvDevice struct {
		ID     int    `json:"id"`
		Name   string `json:"name"`
		SM     int    `json:"sm_version"` // 890 is compute capability 8.9
		SMs    int    `json:"number_of_sms"`
		Memory int64  `json:"global_memory_size"`
		L2     int64  `json:"l2_cache_size"`
		ECC    *bool  `json:"ecc_state"`
	}
	nvBenchmark struct {
		Name   string    `json:"name"`
		States []nvState `json:"states"`
	}
	nvState struct {
		Name      string      `json:"name"`
		Device    *int        `json:"device"`
		Axes      []nvNamed   `json:"axis_values"`
		Summaries []nvSummary `json:"summaries"`
		Skipped   bool        `json:"is_skipped"`
		Reason    string      `json:"skip_reason"`
	}
	nvSummary struct {
		Tag  string    `json:"tag"`
		Data []nvNamed `json:"data"`
	}
	// nvNamed is a value with its type. NVBench writes every value as a string,
	// because JSON numbers would lose bits of an int64.
	nvNamed struct {
		Name  string `json:"name"`
		Type  string `json:"type"`
		Value text   `json:"value"`
	}
)

func readNVBench(in *input, b *builder) error {
	var file nvFile
	if err := in.document(&file); err != nil {
		return err
	}
	b.tool("nvbench", file.Meta.Version.NVBench.String)
	devices := file.used()
	file.describe(b, devices)
	sidecars := sidecarReader{in: in, left: in.limits.sidecars}
	for i := range file.Benchmarks {
		bench := &file.Benchmarks[i]
		for j := range bench.States {
			if err := bench.States[j].read(b, &sidecars, bench.Name, len(devices) > 1); err != nil {
				return err
			}
		}
	}
	return nil
}

// used returns the devices that any state ran on, in order of appearance.
func (f *nvFile) used() []int {
	var order []int
	seen := map[int]bool{}
	for _, bench := range f.Benchmarks {
		for _, s := range bench.States {
			if s.Device != nil && !seen[*s.Device] {
				seen[*s.Device] = true
				order = append(order, *s.Device)
			}
		}
	}
	return order
}

func (f *nvFile) describe(b *builder, used []int) {
	b.header.Device = gpu.Identity{Kind: gpu.NVIDIA}
	for i := range f.Devices {
		d := &f.Devices[i]
		if len(used) > 0 && d.ID != used[0] {
			continue
		}
		b.header.Device = gpu.Identity{
			Kind: gpu.NVIDIA, Name: label(d.Name), Index: d.ID, Units: d.SMs, MemoryBytes: d.Memory, CacheBytes: d.L2,
		}
		if d.SM > 0 {
			b.header.Device.ComputeCapability = fmt.Sprintf("%d.%d", d.SM/100, d.SM/10%10)
		}
		if d.ECC != nil {
			b.ecc = map[bool]string{true: "on", false: "off"}[*d.ECC]
		}
		break
	}
	if len(used) > 1 {
		b.warn(warnMixed, "", "states ran on %d devices; the run records only device %d, and each config names its own: import one device at a time (nvbench --devices %d)",
			len(used), used[0], used[0])
	}
}

// nvClock is one of the ways NVBench measures a state.
type nvClock struct {
	prefix string // prefix of the tags
	time   string // the time that is the result
	timer  measure.Timer
	cache  measure.Cache
}

// nvClocks lists the measurements that are read. An isolated ("cold") one flushes the L2
// cache before every run. The batched ("hot") one is a single mean and is not read.
var nvClocks = []nvClock{
	{"nv/cold/", "gpu", measure.TimerDevice, measure.Cold},
	{"nv/cpu_only/", "cpu", measure.TimerWall, ""},
}

func (s *nvState) read(b *builder, sidecars *sidecarReader, benchmark string, manyDevices bool) error {
	var params []param
	if manyDevices && s.Device != nil {
		params = append(params, param{"Device", float64(*s.Device)})
	}
	for _, a := range s.Axes {
		value := any(label(string(a.Value)))
		if a.Type == "int64" || a.Type == "float64" {
			value = scalar(string(a.Value))
		}
		params = append(params, param{a.Name, value})
	}
	c := measure.Case{
		CaseKey: measure.CaseKey{Benchmark: benchmark, Config: configName(params)},
		Params:  paramMap(params),
	}
	if s.Skipped {
		b.warn(warnSkipped, c.Name(), "NVBench skipped this state: %s", label(s.Reason))
		return nil
	}
	for _, clock := range nvClocks {
		if s.has(clock.prefix) {
			c.Timer, c.Cache = clock.timer, clock.cache
			return s.measured(b, sidecars, c, clock)
		}
	}
	c.Timer, c.Cache = nvClocks[0].timer, nvClocks[0].cache
	return b.time(c, measure.CaseRound{Error: "NVBench reports no time for this state: see its log"})
}

// has reports whether the state has this measurement: its time, or its number of samples.
func (s *nvState) has(prefix string) bool {
	return s.find(prefix+"sample_size") != nil || s.find("nv/json/bin:"+prefix+"sample_times") != nil ||
		!math.IsNaN(s.value(prefix+"time/gpu/mean")) || !math.IsNaN(s.value(prefix+"time/cpu/mean"))
}

func (s *nvState) measured(b *builder, sidecars *sidecarReader, c measure.Case, clock nvClock) error {
	times := clock.prefix + "time/" + clock.time + "/"
	mean := s.value(times + "mean")
	if rate := s.value(clock.prefix + "bw/global/bytes_per_second"); rate > 0 && mean > 0 {
		if bytes := math.Round(rate * mean); !math.IsInf(bytes, 0) {
			c.Bytes = bytes // NVBench divides the declared traffic by the mean time
		}
	}
	count := s.value(clock.prefix + "sample_size")
	if count == 0 {
		return b.time(c, measure.CaseRound{Error: "NVBench accepted no samples of this state: see its log"})
	}
	file := s.find("nv/json/bin:" + clock.prefix + "sample_times")
	why := "NVBench wrote no samples: run it with --jsonbin FILE instead of --json FILE"
	if file != nil {
		seconds, err := sidecars.read(file)
		if err == nil {
			return s.samples(b, sidecars, c, clock, seconds)
		}
		b.warn(warnSidecar, c.Name(), "%v", err)
		why = "its sample file cannot be read: keep the -bin folder next to the JSON"
	}
	if !(mean > 0) || math.IsInf(mean, 0) {
		return b.time(c, measure.CaseRound{Error: "NVBench reports no finite time for this state: see its log"})
	}
	summary := measure.Summary{
		Mean: 1e9 * mean, Median: 1e9 * s.value(times+"median"), Min: 1e9 * s.value(times+"min"), Max: 1e9 * s.value(times+"max"),
		Stddev: 1e9 * s.value(times+"stdev/absolute"),
	}
	if count > 0 && count < math.MaxInt32 {
		summary.Count = int(count)
	}
	return b.summary(c, summary, why)
}

func (s *nvState) samples(b *builder, sidecars *sidecarReader, c measure.Case, clock nvClock, seconds numbers) error {
	round := measure.CaseRound{Samples: seconds.scaled(1e9)}
	if len(seconds) == 0 {
		round.Error = "NVBench accepted no samples of this state: see its log"
	}
	if file := s.find("nv/json/freqs-bin:" + clock.prefix + "sample_freqs"); file != nil {
		hertz, err := sidecars.read(file)
		if err != nil {
			b.warn(warnSidecar, c.Name(), "the SM clocks are ignored: %v", err)
		}
		round.Clocks = hertz.scaled(1e-6)
	}
	return b.time(c, round)
}

func (s *nvState) find(tag string) *nvSummary {
	for i := range s.Summaries {
		if s.Summaries[i].Tag == tag {
			return &s.Summaries[i]
		}
	}
	return nil
}

// value returns the number of a summary, or NaN if there is none.
func (s *nvState) value(tag string) float64 {
	if summary := s.find(tag); summary != nil {
		if v, err := strconv.ParseFloat(summary.data("value"), 64); err == nil {
			return v
		}
	}
	return math.NaN()
}

func (s *nvSummary) data(name string) string {
	for _, d := range s.Data {
		if d.Name == name {
			return string(d.Value)
		}
	}
	return ""
}
