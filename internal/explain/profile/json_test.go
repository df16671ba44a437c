package profile_test

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/explain/profile"
	"github.com/goatnote-inc/pawl/measure"
)

// example is a small profile that uses every field of the record.
func example() *profile.Profile {
	return &profile.Profile{
		Format: profile.Format,
		Tool:   profile.Tool{Name: "ncu", Version: "2024.1.1.0", Page: "raw+details", Settings: []profile.Setting{{Name: "clock_control", Value: "base"}}},
		Subject: profile.Subject{
			Case: "attention/B32_S512/candidate", Side: "candidate", Commit: "c0ffee", Dirty: true,
			Device:      gpu.Identity{Kind: gpu.NVIDIA, Name: "NVIDIA L4", ComputeCapability: "8.9", Units: 58},
			Nanoseconds: 1.25e6, Flops: 3.4e10, Bytes: 6.7e7,
		},
		Code: profile.Code{
			Kernels: []measure.Kernel{{Name: "attention<64>", Arch: "sm_89", Registers: 168, Spill: &measure.Spill{StoreBytes: 8, LoadBytes: 16}}},
			Functions: []profile.Function{{
				CodeDigest: measure.CodeDigest{Kernel: "attention<64>", Arch: "sm_89", Digest: "sha256:aa"},
				Mix:        &measure.Mix{Instructions: 200, InLoops: 120, Counts: []measure.MixCount{{Class: "load global", Bytes: 16, Count: 8, InLoops: 4}}},
			}},
		},
		Launches: []profile.Launch{{
			ID: 3, Kernel: "void attention<64>(float const*, float*)", Grid: [3]int{64, 32, 1}, Block: [3]int{256, 1, 1}, CC: "8.9",
			Fields: []profile.Field{{Name: "Stream", Text: "7"}},
			Metrics: []profile.Metric{
				{Name: "gpu__time_duration.sum", Section: "GPU Speed Of Light Throughput", Label: "Duration", Unit: "usecond", Value: new(1300.5)},
				{Section: "Occupancy", Label: "Achieved Occupancy", Unit: "%", Value: new(16.54), Low: new(16.0), High: new(17.0)},
				{Name: "launch__func_cache_config", Text: "CachePreferNone"},
			},
			Rules: []profile.Rule{{ID: "TheoreticalOccupancy", Section: "Occupancy", Kind: "OPT", Text: "<registers & shared memory>", Speedup: new(29.13), Scope: "local"}},
		}},
		Notes: []string{"==PROF== Connected to process 4120"},
	}
}

// The file is pinned: whoever must change it changes what others have stored.
func TestPinnedRecord(t *testing.T) {
	const file = "testdata/v1/profile.json"
	var b bytes.Buffer
	must(t, example().Write(&b))
	pinned, err := os.ReadFile(file)
	must(t, err)
	if diff := cmp.Diff(string(pinned), b.String()); diff != "" {
		t.Error(diff)
	}
	p, err := profile.ReadJSON(bytes.NewReader(pinned))
	must(t, err)
	if diff := cmp.Diff(example(), p); diff != "" {
		t.Error(diff)
	}
}

func TestReadJSONRefuses(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"another format", `{"format":"pawl.profile/v2","tool":{"name":"ncu"},"launches":[]}`, `its format is "pawl.profile/v2"`},
		{"no format", `{"tool":{"name":"ncu"}}`, `its format is ""`},
		{"a field it does not know", `{"format":"pawl.profile/v1","tool":{"name":"ncu","colour":"red"},"launches":[]}`, "colour"},
		{"a name twice", `{"format":"pawl.profile/v1","format":"pawl.profile/v1"}`, "duplicate"},
		{"a name in other letters", `{"format":"pawl.profile/v1","Tool":{"name":"ncu"}}`, "Tool"},
		{"something after it", `{"format":"pawl.profile/v1"} {}`, "after top-level value"},
		{"a number too large", `{"format":"pawl.profile/v1","launches":[{"metrics":[{"name":"x","value":1e999}]}]}`, "1e999"},
		{"a type", `{"format":"pawl.profile/v1","launches":{}}`, "launches"},
		{"objects without end", `{"format":"pawl.profile/v1","launches":[{"metrics":[` + strings.Repeat("{},", 3_000_000) + `{}]}]}`, "objects"},
		{"half of it", `{"format":"pawl.profile/v1"`, "EOF"},
	} {
		_, err := profile.ReadJSON(strings.NewReader(c.in))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func TestRoundTripLosesNothing(t *testing.T) {
	number := rapid.Custom(func(t *rapid.T) *float64 {
		if rapid.Bool().Draw(t, "missing") {
			return nil
		}
		return new(rapid.Float64Range(-math.MaxFloat64, math.MaxFloat64).Draw(t, "value"))
	})
	text := rapid.StringN(0, 20, -1)
	metric := rapid.Custom(func(t *rapid.T) profile.Metric {
		return profile.Metric{
			Name: text.Draw(t, "name"), Section: text.Draw(t, "section"), Label: text.Draw(t, "label"), Unit: text.Draw(t, "unit"),
			Value: number.Draw(t, "value"), Text: text.Draw(t, "text"), Low: number.Draw(t, "low"), High: number.Draw(t, "high"),
		}
	})
	rule := rapid.Custom(func(t *rapid.T) profile.Rule {
		return profile.Rule{ID: text.Draw(t, "id"), Kind: text.Draw(t, "kind"), Text: text.Draw(t, "text"), Speedup: number.Draw(t, "speedup"), Scope: text.Draw(t, "scope")}
	})
	size := rapid.IntRange(0, math.MaxInt32)
	launch := rapid.Custom(func(t *rapid.T) profile.Launch {
		l := profile.Launch{ID: size.Draw(t, "id"), Kernel: text.Draw(t, "kernel"), CC: text.Draw(t, "cc")}
		for i := range 3 {
			l.Grid[i], l.Block[i] = size.Draw(t, "grid"), size.Draw(t, "block")
		}
		l.Metrics = rapid.SliceOfN(metric, 0, 5).Draw(t, "metrics")
		l.Rules = rapid.SliceOfN(rule, 0, 3).Draw(t, "rules")
		l.Fields = []profile.Field{{Name: text.Draw(t, "field"), Text: text.Draw(t, "text")}}
		return l
	})
	rapid.Check(t, func(t *rapid.T) {
		p := &profile.Profile{
			Format: profile.Format, Tool: profile.Tool{Name: text.Draw(t, "tool"), Version: text.Draw(t, "version")},
			Launches: rapid.SliceOfN(launch, 0, 3).Draw(t, "launches"),
			Notes:    rapid.SliceOfN(text, 0, 3).Draw(t, "notes"),
		}
		if diff := cmp.Diff(p, again(t, p), cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
	})
}

// again is a profile after it was written and read.
func again(t rapid.TB, p *profile.Profile) *profile.Profile {
	t.Helper()
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	read, err := profile.Read(&b)
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// All real pages are the same after a round trip, and so are their facts.
func TestRoundTripOfTheRealPages(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(data(t), "ncu", "real", "*.csv"))
	must(t, err)
	if len(files) != 36 {
		t.Fatalf("%d exports, want 36", len(files))
	}
	for _, file := range append(files, filepath.Join(data(t), "ncu", "bsr_spmm_l4_details.txt")) {
		p := open(t, file)
		read := again(t, p)
		if diff := cmp.Diff(p, read); diff != "" {
			t.Errorf("%s: %s", filepath.Base(file), diff)
		}
		for i := range p.Launches {
			if diff := cmp.Diff(p.Launches[i].Facts(), read.Launches[i].Facts()); diff != "" {
				t.Errorf("%s: %s", filepath.Base(file), diff)
			}
		}
	}
}
