package adapter

import (
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/measure"
)

var pytestBenchmark = format{
	Format: Format{"pytest-benchmark", "pytest-benchmark --benchmark-json: stats.data of each test"},
	detect: func(o outline) bool {
		return o.has("machine_info") || o.has("benchmarks[].fullname", "benchmarks[].stats")
	},
	read: readPytest,
}

type (
	pytestFile struct {
		Machine struct {
			Node           string         `json:"node"`
			Arch           string         `json:"machine"`
			Python         string         `json:"python_version"`
			Implementation string         `json:"python_implementation"`
			System         string         `json:"system"`
			Release        string         `json:"release"`
			CPU            jsontext.Value `json:"cpu"` // output of py-cpuinfo; differs by its version
		} `json:"machine_info"`
		Commit struct {
			ID     text           `json:"id"`
			Dirty  jsontext.Value `json:"dirty"`
			Branch text           `json:"branch"`
		} `json:"commit_info"`
		Benchmarks []pytestResult `json:"benchmarks"`
		Date       string         `json:"datetime"`
		Version    string         `json:"version"`
	}
	pytestResult struct {
		Name     string         `json:"name"`
		Fullname string         `json:"fullname"`
		Params   jsontext.Value `json:"params"`
		Options  struct {
			Timer string `json:"timer"`
		} `json:"options"`
		Stats struct {
			Min        number  `json:"min"`
			Max        number  `json:"max"`
			Mean       number  `json:"mean"`
			Stddev     number  `json:"stddev"`
			Median     number  `json:"median"`
			Rounds     number  `json:"rounds"`
			Iterations number  `json:"iterations"`
			Data       numbers `json:"data"`
		} `json:"stats"`
	}
)

func readPytest(in *input, b *builder) error {
	var file pytestFile
	if err := in.document(&file); err != nil {
		return err
	}
	file.describe(b)
	for i := range file.Benchmarks {
		if err := file.Benchmarks[i].read(b); err != nil {
			return err
		}
	}
	return nil
}

func (f *pytestFile) describe(b *builder) {
	b.created(f.Date)
	m := &f.Machine
	b.header.Device = gpu.Identity{Kind: gpu.CPU}
	b.header.Environment = measure.Environment{
		Host: label(m.Node), OS: label(strings.ToLower(m.System) + " " + m.Release), Arch: label(m.Arch),
	}
	var cpu struct {
		Brand    string `json:"brand_raw"`
		OldBrand string `json:"brand"`
		Count    int    `json:"count"`
	}
	if len(m.CPU) > 0 {
		if err := unmarshal(m.CPU, &cpu); err != nil {
			b.warn(warnIgnored, "", "machine_info.cpu has an unknown format and is ignored")
		}
	}
	if cpu.Brand == "" {
		cpu.Brand = cpu.OldBrand
	}
	b.header.Device.Name, b.header.Device.Units = label(cpu.Brand), cpu.Count
	b.header.Environment.CPU, b.header.Environment.Cores = label(cpu.Brand), cpu.Count
	b.tool(strings.ToLower(m.Implementation), m.Python)
	b.tool("pytest-benchmark", f.Version)
	// Outside a repository the id is a word such as "unversioned".
	if _, err := hex.DecodeString(string(f.Commit.ID)); err == nil && len(f.Commit.ID) >= 40 {
		b.impl.Commit, b.impl.Ref = string(f.Commit.ID), label(string(f.Commit.Branch))
		b.impl.Dirty = string(f.Commit.Dirty) == "true"
	}
}

func (r *pytestResult) read(b *builder) error {
	name := r.Fullname
	if name == "" {
		name = r.Name
	}
	c := measure.Case{Timer: measure.TimerWall}
	c.Benchmark, c.Config = splitBrackets(name)
	if strings.Contains(r.Options.Timer, "process_time") || strings.Contains(r.Options.Timer, "thread_time") {
		c.Timer = measure.TimerCPU
	}
	params, unread, err := readParams(r.Params)
	if err != nil {
		return fmt.Errorf("case %s: params: %w", label(c.Name()), err)
	}
	if unread != "" {
		b.warn(warnIgnored, c.Name(), "parameter %s is not a plain value and is ignored", unread)
	}
	c.Params = paramMap(params)
	s := &r.Stats
	if s.Data == nil {
		return b.summary(c, measure.Summary{
			Count: count(float64(s.Rounds)), Mean: 1e9 * float64(s.Mean), Median: 1e9 * float64(s.Median),
			Min: 1e9 * float64(s.Min), Max: 1e9 * float64(s.Max), Stddev: 1e9 * float64(s.Stddev),
		}, "the file has no stats.data: write it with --benchmark-json FILE, or add --benchmark-save-data")
	}
	if told := count(float64(s.Rounds)); told > 0 && told != len(s.Data) {
		b.warn(warnMixed, c.Name(), "the file declares %d rounds but contains %d", told, len(s.Data))
	}
	return b.time(c, measure.CaseRound{Samples: s.Data.scaled(1e9), Batch: count(float64(s.Iterations))})
}

// splitBrackets splits a node id: "tests/test_mm.py::test_mm[512-fp16]".
func splitBrackets(name string) (benchmark, config string) {
	if i := strings.IndexByte(name, '['); i > 0 && strings.HasSuffix(name, "]") {
		return name[:i], name[i+1 : len(name)-1]
	}
	return name, ""
}
