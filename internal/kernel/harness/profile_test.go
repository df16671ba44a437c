package harness_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/kernel/harness"
)

func TestProfile(t *testing.T) {
	t.Parallel()
	tests := map[string][]harness.LaunchTimes{
		"host": nil,
		"launches": {
			{Kernel: "steps\ufffd[2J", Submit: 1, Start: 20.5, End: 30, Global: []int{64, 2}, Local: []int{8, 1}},
			{Kernel: "sum", End: 40},
		},
	}
	for mode, want := range tests {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s := prepared(t, mode)
			if !s.Welcome.Has(harness.FeatureProfile) {
				t.Errorf("features %q", s.Welcome.Features)
			}
			got, err := s.Profile(t.Context(), harness.Profile{Iterations: 2, Warmup: 3})
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("%v\n%s", err, diff)
			}
			if err := s.Bye(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestProfileMisbehaviour(t *testing.T) {
	t.Parallel()
	tests := []struct {
		mode, want string
		kind       harness.Kind
	}{
		{"few-profiled", "profile spin over 2 runs: it reports 1 run", harness.BadCount},
		{"backward-launch", "launch 1 of 1 starts at 5 ns and ends at 3", harness.Garbage},
		{"early-launch", "launch 1 of 1 has a time of -1 ns", harness.Garbage},
		{"four-dimensions", "more than three dimensions", harness.Garbage},
		{"empty-launch", "has a size of 0", harness.Garbage},
		{"many-launches", "65537 launches", harness.Garbage},
	}
	for _, tt := range tests {
		t.Run(tt.mode, func(t *testing.T) {
			t.Parallel()
			_, err := prepared(t, tt.mode).Profile(t.Context(), harness.Profile{Iterations: 2})
			if e, ok := errors.AsType[*harness.Error](err); !ok || e.Kind != tt.kind || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("have %v, want kind %q and %q", err, tt.kind, tt.want)
			}
		})
	}
}

func TestProfileAsItTravels(t *testing.T) {
	for want, request := range map[string]harness.Profile{
		`{"iterations":1}`:            {Iterations: 1},
		`{"iterations":1,"warmup":3}`: {Iterations: 1, Warmup: 3},
	} {
		if got, err := json.Marshal(request); err != nil || string(got) != want {
			t.Errorf("have %s (%v), want %s", got, err, want)
		}
	}
}
