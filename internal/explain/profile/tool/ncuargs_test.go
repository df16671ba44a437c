package tool

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/measure"
)

func TestNcuArgs(t *testing.T) {
	older := program{version: "2022.3.0.0", help: "  --clock-control arg (=base)  Control"}
	newer := program{version: "2024.1.1.0", help: "  --config-file arg (=1)   Use\n  --config-file-path arg   Override"}
	for _, test := range []struct {
		name string
		p    program
		t    Target
		want string
	}{
		{
			"a harness that marks its run", newer,
			Target{Exact: true, Locked: true, Cache: measure.Hot},
			"--config-file off --target-processes all --replay-mode kernel --clock-control none --cache-control none --kill no --import-source yes SET " +
				"--profile-from-start off --launch-count 50 --force-overwrite --export out/case --log-file out/log",
		},
		{
			"a release that has no config file", older,
			Target{Exact: true, Cache: measure.Cold},
			"--target-processes all --replay-mode kernel --clock-control base --cache-control all --kill no --import-source yes SET " +
				"--profile-from-start off --launch-count 50 --force-overwrite --export out/case --log-file out/log",
		},
		{
			"by name", older,
			Target{Kernel: "^gemm", Warmup: 20},
			"--target-processes all --replay-mode kernel --clock-control base --cache-control none --kill no --import-source yes SET " +
				"--kernel-name regex:^gemm --launch-skip 20 --launch-count 1 --force-overwrite --export out/case --log-file out/log",
		},
		{
			"a marked run, of which one kernel", older,
			Target{Exact: true, Kernel: "^gemm", Device: gpu.Identity{Parent: "GPU-1"}},
			"--target-processes all --replay-mode kernel --clock-control none --cache-control none --kill no --import-source yes SET " +
				"--kernel-name regex:^gemm --profile-from-start off --launch-count 50 --force-overwrite --export out/case --log-file out/log",
		},
		{
			"by range", older,
			Target{NVTX: "pawl", Warmup: 20},
			"--target-processes all --replay-mode kernel --clock-control base --cache-control none --kill no --import-source yes SET " +
				"--nvtx --nvtx-include pawl/ --launch-skip 20 --launch-count 10 --force-overwrite --export out/case --log-file out/log",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := ncuArgs(test.p, test.t, []string{"SET"}, "out/case.ncu-rep", "out/log")
			if diff := cmp.Diff(strings.Fields(test.want), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestNVTXRange(t *testing.T) {
	for name, want := range map[string]string{
		"pawl":        "pawl/", // pushed and popped
		"my kernel":   "my kernel/",
		"outer/inner": "outer/inner",
		"pawl/":       "pawl/",
		"dom@range":   "dom@range", // started and ended, in a domain
		"[top":        "[top",
		"regex:k.":    "regex:k.",
	} {
		if got := nvtxRange(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func TestNcuSetRefusesWhatItDoesNotKnow(t *testing.T) {
	_, _, err := ncuSet(context.Background(), program{}, "everything", "8.9")
	if err == nil || !strings.Contains(err.Error(), "known: full, cheap") {
		t.Errorf("got %v", err)
	}
}

func TestCheapNamesAreDistinct(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range append(cheap, always...) {
		if seen[m] {
			t.Errorf("%s is asked for twice", m)
		}
		seen[m] = true
	}
	if len(cheap) < 50 {
		t.Errorf("only %d metrics", len(cheap))
	}
}
