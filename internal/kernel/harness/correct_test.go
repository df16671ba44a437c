package harness_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/internal/kernel/tensor"
)

var (
	check   = harness.Check{Inputs: "/in.safetensors", Outputs: "/out.safetensors", Poison: 12345}
	compute = harness.Compute{Benchmark: "spin", Params: map[string]any{"us": 50}, Inputs: "/in.safetensors", Outputs: "/want.safetensors", Naive: true}
)

// prepared is a session that can be asked for a check, a run or kept samples.
func prepared(t *testing.T, mode string) *harness.Session {
	t.Helper()
	s, err := harness.Start(t.Context(), command(t, mode), hello)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Kill)
	if _, err := s.Prepare(t.Context(), spin); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestCorrectnessRequests(t *testing.T) {
	ctx, s := t.Context(), prepared(t, "keeps")
	if !s.Welcome.Has(harness.FeatureKeep) || s.Welcome.Has(harness.FeatureLaunch) {
		t.Errorf("features %q", s.Welcome.Features)
	}
	if err := s.Check(ctx, check); err != nil {
		t.Error(err)
	}
	if err := s.Run(ctx, harness.Run{Iterations: 37}); err != nil {
		t.Error(err)
	}
	got, err := s.Compute(ctx, compute)
	if err != nil || !got.Naive {
		t.Errorf("computed %+v, %v", got, err)
	}
	unasked := compute
	unasked.Naive = false
	if got, err := s.Compute(ctx, unasked); err != nil || got.Naive {
		t.Errorf("a naive result nobody asked for: %+v, %v", got, err)
	}
	m, err := s.Measure(ctx, "spin", harness.Measure{Samples: 5, Keep: &harness.Keep{Dir: "/keep", Count: 1, Seed: 3}})
	if err != nil {
		t.Fatal(err)
	}
	want := []harness.Kept{{Sample: 4, Inputs: "/keep/0-in.safetensors", Outputs: "/keep/0-out.safetensors"}}
	if diff := cmp.Diff(want, m.Kept); diff != "" {
		t.Error(diff)
	}
	if err := s.Bye(ctx); err != nil {
		t.Error(err)
	}
}

func TestCorrectnessMisbehaviour(t *testing.T) {
	t.Parallel()
	keep := func(ctx context.Context, s *harness.Session) error {
		_, err := s.Measure(ctx, "spin", harness.Measure{Samples: 5, Keep: &harness.Keep{Dir: "/keep", Count: 1}})
		return err
	}
	checks := func(ctx context.Context, s *harness.Session) error { return s.Check(ctx, check) }
	runs := func(ctx context.Context, s *harness.Session) error {
		return s.Run(ctx, harness.Run{Iterations: 37})
	}
	computes := func(ctx context.Context, s *harness.Session) error {
		_, err := s.Compute(ctx, compute)
		return err
	}
	tests := []struct {
		mode string
		ask  func(context.Context, *harness.Session) error
		kind harness.Kind
		code string
		want string
	}{
		{"no-arguments", checks, harness.Refused, "unsupported", "pawl_input"},
		{"tampers", checks, harness.Refused, harness.CodeIntegrity, "changed its input q"},
		{"few-runs", runs, harness.BadCount, "", "run spin 37 times: it reports 36 runs"},
		{"no-oracle", computes, harness.Refused, "no_such_benchmark", "compute spin: no spin here"},
		{"garbled", computes, harness.Garbage, "", "compute spin"},
		{"keeps-too-many", keep, harness.Garbage, "", "expected at most 1 kept sample, got 2"},
		{"keeps-elsewhere", keep, harness.Garbage, "", "/keep/0-in.safetensors and /keep/0-out.safetensors, got other files"},
		{"keeps-none-such", keep, harness.Garbage, "", "kept sample 5 is out of range (5 samples, counted from 0) or listed twice"},
	}
	for _, tt := range tests {
		t.Run(tt.mode, func(t *testing.T) {
			t.Parallel()
			s := prepared(t, tt.mode)
			err := tt.ask(t.Context(), s)
			e, ok := errors.AsType[*harness.Error](err)
			if !ok || e.Kind != tt.kind || e.Code != tt.code || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("have %v (%+v), want kind %q, code %q and %q", err, e, tt.kind, tt.code, tt.want)
			}
			if strings.ContainsRune(err.Error(), '\x1b') {
				t.Error("an escape sequence reaches the terminal")
			}
			if e.Broken() {
				return
			}
			if err := s.Bye(t.Context()); err != nil {
				t.Errorf("a harness that refused is still usable: %v", err)
			}
		})
	}
}

// The names of the fields are the protocol's.
func TestRequestsAsTheyTravel(t *testing.T) {
	prepare := spin
	prepare.Arguments = []tensor.Argument{{Name: "q", Role: tensor.In, DType: tensor.F16, Shape: []int{2, 3}}}
	prepare.Launch = &harness.Launch{Kind: "cuda", File: "/a.cubin", Kernel: "k", Grid: [3]int{4, 1, 1}, Block: [3]int{128, 1, 1}}
	tests := map[string]any{
		`{"benchmark":"spin","implementation":"candidate","params":{"us":50},"cache":"hot","timer":"wall","seed":"7","bytes":0,` +
			`"arguments":[{"name":"q","role":"in","dtype":"f16","shape":[2,3]}],` +
			`"launch":{"kind":"cuda","file":"/a.cubin","kernel":"k","grid":[4,1,1],"block":[128,1,1],"shared":0}}`: prepare,
		`{"inputs":"/in.safetensors","outputs":"/out.safetensors","poison":"12345"}`:             check,
		`{"iterations":37,"poison":"0"}`:                                                         harness.Run{Iterations: 37},
		`{"iterations":2,"inputs":["/a","/b"],"outputs":["/c","/d"],"poison":"9"}`:               harness.Run{Iterations: 2, Inputs: []string{"/a", "/b"}, Outputs: []string{"/c", "/d"}, Poison: 9},
		`{"samples":5,"busy_ns":0,"warmup":false,"keep":{"dir":"/keep","count":1,"seed":"123"}}`: harness.Measure{Samples: 5, Keep: &harness.Keep{Dir: "/keep", Count: 1, Seed: 123}},
		`{"samples":5,"busy_ns":0,"warmup":false}`:                                               harness.Measure{Samples: 5},
	}
	for want, request := range tests {
		got, err := json.Marshal(request)
		if err != nil || string(got) != want {
			t.Errorf("have %s (%v)\nwant %s", got, err, want)
		}
	}
}
