package suite

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const tunedSuite = `version: 1
build: {command: "make BLOCK=${BLOCK} UNROLL=${UNROLL}", outputs: [harness]}
harness: {command: ./harness}
benchmarks:
  sum:
    matrix: {N: [1024, 4096]}
    arguments: {x: {in: f32, shape: [N]}, y: {out: f32, shape: [N / BLOCK]}}
    tune:
      parameters:
        BLOCK: [64, 128, 256]
        UNROLL: {values: [1, 2, 4], default: 2, when: BLOCK >= 128}
        fast: [false, true]
      constraints: [BLOCK * UNROLL <= N / 2, BLOCK * UNROLL <= 512]
      # the smaller config has no room for the largest block
  max:
    matrix: {N: [16]}
    tune: {parameters: {BLOCK: [64, 128, 256], UNROLL: {values: [2, 4], default: 2}}}
`

func TestTuned(t *testing.T) {
	s := parse(t, tunedSuite)
	for _, tt := range []struct {
		values  map[string]any
		command string
		params  string // of the first config
		size    int    // of y there
		want    string // the error
	}{
		{nil, "make BLOCK=64 UNROLL=2", "N: 1024, BLOCK: 64, UNROLL: 2, fast: false", 16, ""},
		{map[string]any{"BLOCK": 128}, "make BLOCK=128 UNROLL=2", "N: 1024, BLOCK: 128, UNROLL: 2, fast: false", 8, ""},
		{map[string]any{"BLOCK": 128.0, "UNROLL": 4.0, "fast": true}, "make BLOCK=128 UNROLL=4", "N: 1024, BLOCK: 128, UNROLL: 4, fast: true", 8, ""},
		{map[string]any{"fast": true}, "make BLOCK=64 UNROLL=2", "N: 1024, BLOCK: 64, UNROLL: 2, fast: true", 16, ""},
		{map[string]any{"BLOCK": 65}, "", "", 0, `65 is not a value of tunable "BLOCK" of benchmark "sum"`},
		{map[string]any{"BLOCK": "64"}, "", "", 0, `64 is not a value of tunable "BLOCK"`},
		{map[string]any{"BLOCK": []any{64}}, "", "", 0, `[64] is not a value of tunable "BLOCK"`},
		{map[string]any{"BLOK": 64}, "", "", 0, `"BLOK" is not a tunable of benchmark "sum" (known: BLOCK, UNROLL, fast)`},
		{map[string]any{"BLOCK": 256.0, "UNROLL": 4.0}, "", "", 0, `the constraints of benchmark "sum" reject these values for every config: BLOCK * UNROLL <= 512 is false`},
	} {
		tuned, err := s.Tuned("sum", tt.values)
		if tt.want != "" {
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v: %v, want %s", tt.values, err, tt.want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%v: %v", tt.values, err)
			continue
		}
		b, config := tuned.Benchmarks[0], tuned.Benchmarks[0].Configs[0]
		arguments, err := b.Arguments(config.Params)
		if err != nil || arguments[1].Shape[0] != tt.size {
			t.Errorf("%v: %v, %v", tt.values, arguments, err)
		}
		variants := tuned.Variants()
		if got := b.Complete(config.Params).String(); got != tt.params || len(variants) != 1 || variants[0].Build.Command != tt.command || config.Name != "N1024" {
			t.Errorf("%v: {%s} of %s, %v", tt.values, got, config.Name, variants)
		}
		if same := tuned.Digest == s.Digest; same {
			t.Errorf("%v: a tuned suite has the digest of the suite", tt.values)
		}
	}
	if !s.TunesBuild(Candidate, s.Benchmarks[0]) || s.TunesBuild("other", s.Benchmarks[0]) {
		t.Error("BLOCK stands in the build, and there is no other")
	}
	if _, err := s.Tuned("other", nil); err == nil {
		t.Error("a benchmark that is not there was tuned")
	}
	if s.Benchmarks[0].Complete(Params{{"N", 8.0}}).String() != "N: 8, BLOCK: 64, UNROLL: 2, fast: false" {
		t.Error("the suite itself was changed")
	}
}

// Tuning a suite changes no case, and a value that a condition rules out changes nothing.
func TestTunedKeepsCases(t *testing.T) {
	s := parse(t, tunedSuite)
	names := func(s *Suite, values map[string]any) (list []string) {
		b := s.Benchmarks[0]
		for _, c := range s.Cases() {
			if ok, _ := b.Allows(c.Params, values); ok && c.Benchmark == b.Name {
				list = append(list, c.String()+" "+c.Params.String())
			}
		}
		return list
	}
	rapid.Check(t, func(t *rapid.T) {
		values := map[string]any{}
		for _, p := range s.Benchmarks[0].Tune.Parameters {
			if rapid.Bool().Draw(t, "set "+p.Name) {
				values[p.Name] = rapid.SampledFrom(p.Values).Draw(t, p.Name)
			}
		}
		b := s.Benchmarks[0]
		tuned, err := s.Tuned("sum", values)
		want := names(s, values)
		if (err == nil) != (len(want) > 0) {
			t.Fatalf("%v: allowed for %v, tuned: %v", values, want, err)
		}
		if err != nil {
			return
		}
		if diff := cmp.Diff(want, names(tuned, nil)); diff != "" {
			t.Fatal(diff)
		}
		settled, _ := tuned.Benchmarks[0].Complete(b.Configs[0].Params).Get("UNROLL")
		if block := values["BLOCK"]; (block == nil || block == 64.0) && settled != 2.0 {
			t.Fatalf("%v: UNROLL is %v where it does not matter", values, settled)
		}
		again, err := tuned.Tuned("sum", values)
		if err != nil || again.Digest != tuned.Digest {
			t.Fatalf("tuned twice: %v", err)
		}
		if other := maps.Clone(values); slices.Contains([]any{nil, false}, other["fast"]) {
			other["fast"] = true
			if x, err := s.Tuned("sum", other); err == nil && x.Digest == tuned.Digest {
				t.Fatal("two points have one digest")
			}
		}
	})
}

func TestTuneWarnings(t *testing.T) {
	s := parse(t, "version: 1\nharness: {command: x}\nbenchmarks: {a: {matrix: {N: 1}, tune: {parameters: {B: 4}}}}\n")
	if len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0].Error(), `pawl.yaml:3:54: "B" has one value: there is nothing to tune`) {
		t.Error(s.Warnings)
	}
}

// A harness that lists the configs leaves what is tuned to the suite.
func TestTunedDiscovers(t *testing.T) {
	s := parse(t, "version: 1\nharness: {command: x}\nbenchmarks: {a: {tune: {parameters: {B: [4, 8]}, constraints: [B <= N]}}}\n")
	full, err := s.Fill([]Listed{{Name: "a", Configs: []Config{{Params: Params{{"N", 8.0}}}}}})
	if err != nil {
		t.Fatal(err)
	}
	if full.TunesBuild(Candidate, full.Benchmarks[0]) {
		t.Error("there is no build at all")
	}
	tuned, err := full.Tuned("a", map[string]any{"B": 8.0})
	if err != nil {
		t.Fatal(err)
	}
	if got := tuned.Benchmarks[0].Complete(tuned.Benchmarks[0].Configs[0].Params).String(); got != "N: 8, B: 8" {
		t.Error(got)
	}
	if _, err := s.Fill([]Listed{{Name: "a", Configs: []Config{{Params: Params{{"N", 2.0}}}}}}); err == nil {
		t.Error("a constraint that rules out the default for what the harness lists")
	}
}
