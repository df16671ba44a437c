package decide

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/cli/bench"
	"github.com/goatnote-inc/pawl/internal/kernel/correctness"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
)

func TestParams(t *testing.T) {
	for text, want := range map[string]suite.Params{
		"N=1":                       {{Name: "N", Value: 1.0}},
		"B=2,dtype=f16,causal=true": {{Name: "B", Value: 2.0}, {Name: "dtype", Value: "f16"}, {Name: "causal", Value: true}},
		"scale=0.125,N=1000000":     {{Name: "scale", Value: 0.125}, {Name: "N", Value: 1e6}},
	} {
		got, err := parseParams(text)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v %s", text, err, diff)
		}
		if back := formatParams(got); back != text {
			t.Errorf("%s becomes %s", text, back)
		}
	}
	for _, text := range []string{"", "N", "N=", "=1", "N=1,", "N=1,N=2", ","} {
		if got, err := parseParams(text); err == nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
}

// What repeats a failure means the same to a shell, and to pawl.
func TestFuzzCommand(t *testing.T) {
	f := fuzzFlags{Flags: bench.Flags{Suite: "my suite.yaml", Trust: "checked"}, against: "python3 it's.py"}
	p := correctness.Point{Params: suite.Params{{Name: "B", Value: 1.0}, {Name: "S", Value: 17.0}}, Inputs: "normal", Seed: math.MaxUint64}
	want := `pawl fuzz --case attention --params B=1,S=17 --inputs normal --seed 18446744073709551615 --suite 'my suite.yaml' --trust checked --against 'python3 it'\''s.py'`
	if got := quoted(f.command("attention", p)); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

// Other tools' names have characters that mean something in a glob.
func TestFuzzCommandNamesOneBenchmark(t *testing.T) {
	for _, name := range []string{"BM_gemm<float>[16]", `a*b?c\d`, "plain"} {
		glob := (&fuzzFlags{}).command(name, correctness.Point{})[3]
		if !measure.MatchCase(glob, name+"/N1", name) {
			t.Errorf("%s does not match %s", glob, name)
		}
	}
}

func FuzzParams(f *testing.F) {
	f.Add("B=1,S=17,dtype=f16")
	f.Add("N=1e400,M=0x10,x=NaN")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := parseParams(text)
		if err != nil {
			return
		}
		again, err := parseParams(formatParams(p))
		if err != nil || len(again) != len(p) || formatParams(again) != formatParams(p) {
			t.Errorf("%q is read as %v, which is written as %q and read as %v (%v)", text, p, formatParams(p), again, err)
		}
		if strings.Count(text, ",") != len(p)-1 {
			t.Errorf("%q is read as %v", text, p)
		}
	})
}
