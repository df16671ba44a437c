package suite

import "testing"

func TestProfile(t *testing.T) {
	s := parse(t, `
version: 1
harness: {command: ./harness}
benchmarks:
  sum:
    matrix: {N: [64], dtype: [f16]}
    profile: {kernel: "^sum_${dtype}$", nvtx: pawl, set: cheap}
  copy:
    matrix: {N: [64]}
`)
	config := s.Benchmarks[0].Configs[0].Params
	if got, want := s.Benchmarks[0].Profile(config), (Profile{Kernel: "^sum_f16$", NVTX: "pawl", Set: "cheap"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := s.Benchmarks[1].Profile(config); got != (Profile{}) {
		t.Errorf("a benchmark that says nothing: %+v", got)
	}
	if got := (Benchmark{}).Profile(config); got != (Profile{}) {
		t.Errorf("a benchmark that only the harness knows: %+v", got)
	}
}
