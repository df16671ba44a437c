package diagnose_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	"github.com/goatnote-inc/pawl/internal/base/golden"
	"github.com/goatnote-inc/pawl/internal/explain/diagnose"
	"github.com/goatnote-inc/pawl/internal/explain/profile"
	"github.com/goatnote-inc/pawl/measure"
)

// pair is two sides of a case with a known cause.
type pair struct {
	About  string
	Cause  string
	Device string
	CC     string
	Tool   string
	Says   []string // that the sentence contains
	Before pairSide
	After  pairSide
}

type pairSide struct {
	MeasuredNS float64            `yaml:"measured_ns"`
	Facts      map[string]float64 `yaml:"facts"`
	Code       *struct {
		Digest     string
		Registers  int
		SpillBytes int `yaml:"spill_bytes"`
		Mix        []struct {
			Class   string
			Bytes   int
			Count   int
			InLoops int `yaml:"in_loops"`
		}
	}
}

func pairs(t testing.TB) map[string]pair {
	t.Helper()
	files, err := filepath.Glob("testdata/pairs/*.yaml")
	if err != nil || len(files) < 12 {
		t.Fatalf("%d pairs, %v", len(files), err)
	}
	all := map[string]pair{}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var p pair
		d := yaml.NewDecoder(bytes.NewReader(data))
		d.KnownFields(true)
		if err := d.Decode(&p); err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		all[strings.TrimSuffix(filepath.Base(f), ".yaml")] = p
	}
	return all
}

func (p pair) side(s pairSide) diagnose.Subject {
	tool := p.Tool
	if tool == "" {
		tool = "ncu"
	}
	launch := profile.Launch{Kernel: "kernel", CC: p.CC}
	record := &profile.Profile{
		Format: profile.Format, Tool: profile.Tool{Name: tool, Version: "2024.1.1.0"},
		Subject: profile.Subject{Nanoseconds: s.MeasuredNS}, Launches: []profile.Launch{launch},
	}
	if s.Code != nil {
		arch := "sm_" + strings.ReplaceAll(p.CC, ".", "")
		mix := measure.Mix{}
		for _, c := range s.Code.Mix {
			mix = mix.Add(measure.Mix{
				Instructions: c.Count, InLoops: c.InLoops,
				Counts: []measure.MixCount{{Class: c.Class, Bytes: c.Bytes, Count: c.Count, InLoops: c.InLoops}},
			})
		}
		record.Code = profile.Code{
			Kernels: []measure.Kernel{{Name: "kernel", Arch: arch, Registers: s.Code.Registers, Spill: &measure.Spill{StoreBytes: s.Code.SpillBytes}}},
			Functions: []profile.Function{{
				CodeDigest: measure.CodeDigest{Kernel: "kernel", Arch: arch, Digest: "sha256:" + s.Code.Digest}, Mix: &mix,
			}},
		}
	}
	return diagnose.Subject{Profile: record, Launch: launch, Facts: s.Facts}
}

// The known cause is the first, read forwards and, as what made it faster, backwards.
func TestPairs(t *testing.T) {
	for name, p := range pairs(t) {
		t.Run(name, func(t *testing.T) {
			before, after := p.side(p.Before), p.side(p.After)
			slower := compare(t, before, after)
			if len(slower.Causes) == 0 || slower.Causes[0].Name != p.Cause {
				t.Fatalf("%s\n%s", slower.Sentence, names(slower))
			}
			for _, words := range p.Says {
				if !strings.Contains(slower.Sentence, words) {
					t.Errorf("%q does not say %q", slower.Sentence, words)
				}
			}
			if len(slower.Causes[0].Fixes) == 0 || !strings.Contains(slower.Sentence, "try first") || len(slower.Causes[0].Chain) == 0 {
				t.Errorf("%q says nothing to try, or has no chain: %+v", slower.Sentence, slower.Causes[0])
			}
			t.Log(slower.Sentence, "\n", names(slower))
			faster := compare(t, after, before)
			if len(faster.Causes) == 0 || faster.Causes[0].Name != p.Cause || len(faster.Causes[0].Fixes) > 0 {
				t.Errorf("%s\n%s", faster.Sentence, names(faster))
			}
			t.Log(faster.Sentence)
		})
	}
}

// What people read of the pairs, and that the page of the lab shows it.
func TestPairsInWords(t *testing.T) {
	all := pairs(t)
	page, err := os.ReadFile("../../../docs/lab/differences.md")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(all)) {
		p := all[name]
		d := compare(t, p.side(p.Before), p.side(p.After))
		fmt.Fprintf(&b, "%s: %s\n  %s\n", name, p.About, d.Sentence)
		for _, c := range d.Causes {
			fmt.Fprintf(&b, "  - %s", c.Name)
			if c.Explains != nil {
				fmt.Fprintf(&b, ", %.0f %%", 100**c.Explains)
			}
			if c.Symptom {
				b.WriteString(", a symptom")
			}
			fmt.Fprintf(&b, ": %s\n", stepsOf(c))
		}
		if row := "| " + p.About + " | " + d.Sentence + " |"; !strings.Contains(string(page), row) {
			t.Errorf("docs/lab/differences.md lacks %s", row)
		}
	}
	golden.Check(t, "difference/pairs.txt", b.String())
}

func names(d *diagnose.Difference) string {
	var b strings.Builder
	for _, c := range d.Causes {
		b.WriteString(c.Name)
		if c.Explains != nil {
			fmt.Fprintf(&b, " %.2f", *c.Explains)
		}
		if c.Symptom {
			b.WriteString(" (symptom)")
		}
		b.WriteString("; ")
	}
	return b.String()
}

// The pairs obey the machine: the time is the product of its factors, and a stall is
// part of the latency. A pair that does not would show what no profiler shows.
func TestPairsArePossible(t *testing.T) {
	for name, p := range pairs(t) {
		for _, f := range []map[string]float64{p.Before.Facts, p.After.Facts} {
			if _, ok := f["warp_latency"]; !ok {
				continue // a trace, which counts no instructions
			}
			cycles := f["instructions"] / (f["sms"] * 4) * f["warp_latency"] / f["active_warps"] / (f["sm_active_pct"] / 100)
			if ns := cycles / f["sm_clock_hz"] * 1e9; math.Abs(math.Log(ns/f["time_ns"])) > 0.01 {
				t.Errorf("%s: %v ns, its factors make %v", name, f["time_ns"], ns)
			}
			sum := 0.0
			for _, q := range slices.Sorted(maps.Keys(f)) {
				if strings.HasPrefix(q, "stall_") && !strings.HasSuffix(q, "_pct") {
					sum += f[q]
				}
			}
			if math.Abs(sum-f["warp_latency"]) > 0.01*sum {
				t.Errorf("%s: stalls of %v make a latency of %v", name, sum, f["warp_latency"])
			}
		}
	}
}

// The cause stays the first where the change is smaller, down to a third of it, and where
// every number is off by two percent, as a profiler's are from pass to pass. The clock is
// off by one: if it moved by more, that is a cause of its own.
func TestPairsSmallerAndNoisy(t *testing.T) {
	for name, p := range pairs(t) {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				size := rapid.Float64Range(0.33, 1).Draw(t, "size")
				before, after := p.Before, p.After
				before.Facts, after.Facts = maps.Clone(before.Facts), maps.Clone(after.Facts)
				for _, q := range slices.Sorted(maps.Keys(p.Before.Facts)) {
					x, y := p.Before.Facts[q], p.After.Facts[q]
					if !isMeasured(q) {
						continue
					}
					if x > 0 && y > 0 {
						y = x * math.Pow(y/x, size)
					} else {
						y = x + (y-x)*size
					}
					off := 0.02
					if q == "sm_clock_hz" {
						off = 0.01
					}
					before.Facts[q] = x * rapid.Float64Range(1-off, 1+off).Draw(t, q)
					after.Facts[q] = y * rapid.Float64Range(1-off, 1+off).Draw(t, q)
				}
				d, err := diagnose.Compare(p.side(before), p.side(after))
				if err != nil || len(d.Causes) == 0 || d.Causes[0].Name != p.Cause {
					t.Fatalf("%v %s\n%s", err, d.Sentence, names(d))
				}
			})
		})
	}
}

// costly are the quantities that pawl's cheap set of metrics does not have.
var costly = []string{
	"load_bytes_per_sector", "store_bytes_per_sector", "excess_sectors_pct", "global_sectors", "l1_bytes", "l2_bytes", "branch_efficiency_pct",
	"divergent_branches", "threads_on_per_warp", "pipe_fma_pct", "pipe_fp64_pct", "pipe_max_pct", "flops", "flops_tensor", "flops_fp64", "intensity",
}

// The cheap set, which a pull request can afford, is enough.
func TestPairsOfTheCheapSet(t *testing.T) {
	for name, p := range pairs(t) {
		t.Run(name, func(t *testing.T) {
			for _, q := range costly {
				delete(p.Before.Facts, q)
				delete(p.After.Facts, q)
			}
			for _, d := range []*diagnose.Difference{compare(t, p.side(p.Before), p.side(p.After)), compare(t, p.side(p.After), p.side(p.Before))} {
				if len(d.Causes) == 0 || d.Causes[0].Name != p.Cause {
					t.Errorf("%s\n%s", d.Sentence, names(d))
				}
			}
		})
	}
}

// isMeasured tells a quantity that a tool counts from what a launch is configured with,
// which is exact.
func isMeasured(q string) bool {
	exact := []string{"registers", "shared_bytes", "block_size", "grid_size", "threads", "waves", "occupancy_max_pct", "sms", "launches", "local_loads", "local_stores"}
	return !strings.HasPrefix(q, "limit_") && !slices.Contains(exact, q)
}

// Whatever the numbers, Compare answers, and what it answers can be written down.
func TestCompareTakesAnything(t *testing.T) {
	var quantities []string
	for _, q := range profile.Quantities() {
		quantities = append(quantities, q.Name)
	}
	facts := rapid.MapOf(rapid.SampledFrom(quantities), rapid.OneOf(
		rapid.Float64(), rapid.SampledFrom([]float64{0, -1, 1, 100, 1e308, math.NaN(), math.Inf(1), math.SmallestNonzeroFloat64}),
	))
	rapid.Check(t, func(t *rapid.T) {
		d, err := diagnose.Compare(diagnose.Subject{Facts: facts.Draw(t, "before")}, diagnose.Subject{Facts: facts.Draw(t, "after")})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := json.Marshal(d); err != nil || d.Sentence == "" {
			t.Fatalf("%v %q", err, d.Sentence)
		}
		for _, c := range d.Causes {
			if c.Sentence == "" || c.Explains != nil && (*c.Explains < 0 || *c.Explains > 1) {
				t.Fatalf("%+v", c)
			}
		}
	})
}

func TestSameIsSaid(t *testing.T) {
	p := pairs(t)["clocks"]
	same := p.side(p.Before)
	if d := compare(t, same, same); !d.Identical || len(d.Causes)+len(d.Changes) > 0 || !strings.HasPrefix(d.Sentence, "No notable change") {
		t.Errorf("%+v", d)
	}
	// The same code in more time, and no quantity says why.
	slow := p.side(p.Before)
	slow.Facts = maps.Clone(slow.Facts)
	slow.Facts["time_ns"] *= 1.3
	if d := compare(t, same, slow); !strings.Contains(d.Sentence, "machine code is identical: check the clocks, the data and the machine") {
		t.Errorf("%s", d.Sentence)
	}
	// Nothing is known of the time.
	if d := compare(t, diagnose.Subject{Facts: profile.Facts{"registers": 32}}, diagnose.Subject{Facts: profile.Facts{"registers": 64}}); len(d.Changes) != 1 || d.Timer != "" {
		t.Errorf("%+v", d)
	}
}

// One kernel that became three others, in a trace: all launches count, not only those
// of the kernel with the most time.
func TestSplitKernel(t *testing.T) {
	trace := func(times map[string]float64) diagnose.Subject {
		p := &profile.Profile{Tool: profile.Tool{Name: "nsys"}}
		for _, kernel := range slices.Sorted(maps.Keys(times)) {
			p.Launches = append(p.Launches, profile.Launch{Kernel: kernel, Metrics: []profile.Metric{
				{Name: "time_ns", Value: new(times[kernel])}, {Name: "launches", Value: new(1.0)},
			}})
		}
		s, err := diagnose.NewSubject(p, nil)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	d := compare(t, trace(map[string]float64{"fused": 100e3}), trace(map[string]float64{"first": 60e3, "second": 50e3, "third": 40e3}))
	if d.Before != 100e3 || d.After != 150e3 || len(d.Causes) == 0 || d.Causes[0].Name != "launches" || !strings.Contains(d.Sentence, "launches is 3 (was 1)") {
		t.Errorf("%+v", d)
	}
}

func TestIncomparable(t *testing.T) {
	a, b := diagnose.Subject{Profile: &profile.Profile{Tool: profile.Tool{Name: "ncu", Version: "2022.3.0"}}}, diagnose.Subject{Profile: &profile.Profile{Tool: profile.Tool{Name: "ncu", Version: "2024.1.1"}}}
	if d, err := diagnose.Compare(a, b); err == nil || !strings.Contains(err.Error(), "2022.3.0") {
		t.Errorf("%+v %v", d, err)
	}
}

// stepsOf describes the chain of a cause, each step following from the one before.
func stepsOf(c diagnose.Cause) string {
	list := make([]string, len(c.Chain))
	for i, change := range c.Chain {
		list[i] = change.String()
	}
	return strings.Join(list, ", so ")
}
