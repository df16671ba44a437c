package adapter

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/measure"
)

var triton = format{
	Format: Format{"triton", `triton do_bench(return_mode="all") and torch.utils.benchmark, printed as JSON lines`},
	detect: func(o outline) bool {
		return (o.has("samples") && !o.has("schema") && !o.has("case")) || o.has("raw_times") || o.has("number_per_run")
	},
	read: readTriton,
}

// tritonRecord is one line: the result of do_bench, or a torch Measurement.
type tritonRecord struct {
	Name    string         `json:"name"`
	Unit    string         `json:"unit"`
	Samples numbers        `json:"samples"`
	Params  jsontext.Value `json:"params"`
	Cache   string         `json:"cache"`  // "cold" where not told: do_bench clears the L2 cache before each run
	Device  string         `json:"device"` // torch.cuda.get_device_name()
	Driver  string         `json:"driver"`
	Tools   struct {
		Torch  string `json:"torch"`
		Triton string `json:"triton"`
		CUDA   string `json:"cuda"`
	} `json:"versions"`

	RawTimes numbers    `json:"raw_times"` // seconds, each the total for NumberPerRun runs
	PerRun   number     `json:"number_per_run"`
	Task     *torchTask `json:"task_spec"`
}

type torchTask struct {
	Stmt        string `json:"stmt"`
	Label       string `json:"label"`
	SubLabel    string `json:"sub_label"`
	Description string `json:"description"`
	Env         string `json:"env"`
	Threads     number `json:"num_threads"`
}

func readTriton(in *input, b *builder) error {
	return readRecords(in, b, "%d lines between the records are not JSON objects", (*tritonRecord).read)
}

func (r *tritonRecord) read(b *builder, line int) error {
	switch {
	case r.RawTimes != nil:
		return r.torch(b)
	case r.Samples == nil:
		b.warn(warnIgnored, "", "line %d: the object has neither samples nor raw_times", line)
		return nil
	}
	if err := r.describe(b); err != nil {
		return err
	}
	factor, ok := nanoseconds(r.Unit)
	if !ok {
		return fmt.Errorf("%q: unknown unit %q (known: ns, us, ms, s; do_bench returns ms)", label(r.Name), label(r.Unit))
	}
	c := measure.Case{Timer: measure.TimerDevice}
	c.Benchmark = r.Name
	switch r.Cache {
	case "", "cold":
		c.Cache = measure.Cold
	case "hot":
	default:
		return fmt.Errorf("%q: unknown cache %q (known: hot, cold)", label(r.Name), label(r.Cache))
	}
	if err := r.params(b, &c); err != nil {
		return err
	}
	return b.time(c, measure.CaseRound{Samples: r.Samples.scaled(factor)})
}

// torch reads a Measurement: host time around a block that ends in a
// synchronization, with a hot cache.
func (r *tritonRecord) torch(b *builder) error {
	if err := r.describe(b); err != nil {
		return err
	}
	runs := count(float64(r.PerRun))
	if runs == 0 {
		return errors.New("number_per_run is missing: raw_times are totals and cannot be read without it")
	}
	c := measure.Case{Timer: measure.TimerWall}
	if r.Task != nil {
		c.Benchmark = r.Task.Label
		if c.Benchmark == "" {
			c.Benchmark = r.Task.Stmt
		}
		c.Config = r.Task.config()
	}
	if c.Benchmark == "" {
		c.Benchmark = r.Name
	}
	if c.Config == "" {
		if err := r.params(b, &c); err != nil {
			return err
		}
	}
	return b.time(c, measure.CaseRound{Samples: r.RawTimes.scaled(1e9 / float64(runs)), Batch: runs})
}

func (t *torchTask) config() string {
	var parts []string
	for _, p := range []string{t.SubLabel, t.Description, t.Env} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	if n := count(float64(t.Threads)); n > 1 {
		parts = append(parts, fmt.Sprintf("threads%d", n))
	}
	return strings.Join(parts, "/")
}

func (r *tritonRecord) params(b *builder, c *measure.Case) error {
	params, unread, err := readParams(r.Params)
	if err != nil {
		return fmt.Errorf("%q: params: %w", label(c.Benchmark), err)
	}
	if unread != "" {
		b.warn(warnIgnored, c.Benchmark, "parameter %s is not a plain value and is ignored", unread)
	}
	c.Config, c.Params = configName(params), paramMap(params)
	return nil
}

// describe takes the device from the first record that names one. A different one
// later is an error, because a run has one device.
func (r *tritonRecord) describe(b *builder) error {
	device := &b.header.Device
	if r.Device == "" {
		return nil
	}
	if device.Name != "" {
		if device.Name != label(r.Device) {
			return fmt.Errorf("the device changes from %q to %q: one side cannot mix results of two devices, split the file", device.Name, label(r.Device))
		}
		return nil
	}
	*device = gpu.Identity{Kind: kindOf(r.Device), Name: label(r.Device), Driver: label(r.Driver)}
	b.tool("torch", r.Tools.Torch)
	b.tool("triton", r.Tools.Triton)
	b.tool("cuda", r.Tools.CUDA)
	return nil
}
