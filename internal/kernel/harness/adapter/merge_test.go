package adapter

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/measure"
)

func TestMerge(t *testing.T) {
	a := mustRead(t, "", "cpu: X\nBenchmarkMul 10 5 ns/op\nBenchmarkAdd 10 2 ns/op\n--- FAIL: BenchmarkOld\n")
	b := mustRead(t, "", "cpu: X\nBenchmarkMul 10 6 ns/op\nBenchmarkMul 10 7 ns/op\nBenchmarkNew 10 1 ns/op\n")
	before := a.Cases[0].Rounds[0]
	run, err := Merge(a, b)
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		Name   string
		Rounds []int
		Counts []int
	}
	var got []row
	for _, c := range run.Cases {
		r := row{Name: c.Name()}
		for _, round := range c.Rounds {
			r.Rounds = append(r.Rounds, round.Round)
			r.Counts = append(r.Counts, len(round.Samples))
		}
		got = append(got, r)
	}
	want := []row{{"Mul", []int{0, 1}, []int{1, 2}}, {"Add", []int{0}, []int{1}}, {"New", []int{1}, []int{1}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("cases (-want +got):\n%s", diff)
	}
	if w := run.Warnings[0]; w.Round == nil || *w.Round != 0 || !strings.Contains(w.Message, "BenchmarkOld") {
		t.Errorf("the warning of the first file became %+v", w)
	}
	if n := len(run.Warnings); n != 3 { // one of the file, one each for Add and New
		t.Errorf("%d warnings: %+v", n, run.Warnings)
	}
	if run.Testbed.Device != "X" || len(run.Rounds) != 2 || run.End.State != measure.Complete {
		t.Errorf("testbed %+v, %d rounds, end %+v", run.Testbed, len(run.Rounds), run.End)
	}
	if diff := cmp.Diff(before, a.Cases[0].Rounds[0]); diff != "" || len(a.Rounds) != 1 {
		t.Errorf("the argument was changed (-want +got):\n%s", diff)
	}
	if err := measure.Write(&strings.Builder{}, run); err != nil {
		t.Error(err)
	}
}

// TestMergeOfMerged merges what was merged: rounds go on counting.
func TestMergeOfMerged(t *testing.T) {
	one := mustRead(t, "go", "BenchmarkMul 10 5 ns/op\n--- FAIL: BenchmarkOld\n")
	two, err := Merge(one, one)
	if err != nil {
		t.Fatal(err)
	}
	four, err := Merge(two, two)
	if err != nil {
		t.Fatal(err)
	}
	var rounds, warned []int
	for _, r := range four.Cases[0].Rounds {
		rounds = append(rounds, r.Round)
	}
	for _, w := range four.Warnings {
		warned = append(warned, *w.Round)
	}
	if want := []int{0, 1, 2, 3}; !cmp.Equal(rounds, want) || !cmp.Equal(warned, want) {
		t.Errorf("rounds %v, warnings of rounds %v", rounds, warned)
	}
}

func TestMergeOfSummaries(t *testing.T) {
	const whole, short = `{"results":[{"command":"a","times":[1,2]}]}`, `{"results":[{"command":"a","mean":3}]}`
	read := func(doc string) *measure.Run { return mustRead(t, "hyperfine", doc) }
	tests := []struct {
		name      string
		runs      []*measure.Run
		noSamples bool
		rounds    int
	}{
		{"both have samples", []*measure.Run{read(whole), read(whole)}, false, 2},
		{"the first has none", []*measure.Run{read(short), read(whole)}, false, 1},
		{"the last has none", []*measure.Run{read(whole), read(short)}, false, 1},
		{"neither has any", []*measure.Run{read(short), read(short), read(short)}, true, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			run, err := Merge(tt.runs...)
			if err != nil {
				t.Fatal(err)
			}
			c := run.Cases[0]
			if c.NoSamples != tt.noSamples || (c.Summary != nil) != tt.noSamples || len(c.Rounds) != tt.rounds {
				t.Errorf("case %+v", c)
			}
			told := 0
			for _, w := range run.Warnings {
				if strings.Contains(w.Message, "not counted") || strings.Contains(w.Message, "cannot be merged") {
					told++
				}
			}
			if want := map[bool]int{true: 0, false: 1}[tt.rounds == 2]; told != want {
				t.Errorf("%d warnings of the merge, want %d: %+v", told, want, run.Warnings)
			}
		})
	}
}

func TestMergeRefuses(t *testing.T) {
	line := func(s string) *measure.Run { return mustRead(t, "triton", s) }
	l4 := line(`{"name":"k","unit":"ms","samples":[1],"device":"NVIDIA L4","driver":"550.1"}`)
	unknown := line(`{"name":"k","unit":"ms","samples":[1]}`)
	commit := func(id string) *measure.Run {
		run := line(`{"name":"k","unit":"ms","samples":[1]}`)
		run.Implementations[0].Commit = id
		return run
	}
	tests := []struct {
		name string
		runs []*measure.Run
		want string // empty: they merge
	}{
		{"nothing", nil, "no runs to merge"},
		{"another format", []*measure.Run{l4, mustRead(t, "go", "BenchmarkX 1 5 ns/op\n")}, `it is imported with format "go", but the first run is imported with format "triton": all runs of one side must come from the same tool`},
		{"another device", []*measure.Run{l4, line(`{"name":"k","unit":"ms","samples":[1],"device":"NVIDIA T4","driver":"550.1"}`)}, "device: NVIDIA L4 and NVIDIA T4"},
		{"another driver", []*measure.Run{l4, line(`{"name":"k","unit":"ms","samples":[1],"device":"NVIDIA L4","driver":"570.1"}`)}, "driver: 550.1 and 570.1"},
		{"a device that is told later", []*measure.Run{unknown, l4}, ""},
		{"a device that is no longer told", []*measure.Run{l4, unknown}, ""},
		{"a third device after an unknown", []*measure.Run{unknown, l4, line(`{"name":"k","unit":"ms","samples":[1],"device":"NVIDIA T4"}`)}, "device"},
		{"another commit", []*measure.Run{commit("aaaa"), commit("bbbb")}, "all runs of one side must have the same commit"},
		{"another clock", []*measure.Run{
			line(`{"name":"k","unit":"ms","samples":[1],"cache":"hot"}`),
			line(`{"number_per_run":1,"raw_times":[1],"task_spec":{"label":"k"}}`),
		}, "the timer is"},
		{"another package of the same name", []*measure.Run{
			mustRead(t, "go", "pkg: a/mat\nBenchmarkX 1 5 ns/op\n"), mustRead(t, "go", "pkg: b/mat\nBenchmarkX 1 5 ns/op\n"),
		}, "the parameter pkg"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			run, err := Merge(tt.runs...)
			if tt.want == "" {
				if err != nil || run.Testbed.Device != "NVIDIA L4" || run.Device.Name != "NVIDIA L4" {
					t.Errorf("error = %v, run %+v", err, run)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error = %v, want one about %q", err, tt.want)
			}
		})
	}
}
