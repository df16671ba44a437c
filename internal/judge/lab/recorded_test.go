package lab

import (
	"math"
	"os"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/ratchet"
)

// recordedData is the folder of recordings; tests are skipped without it.
func recordedData(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("PAWL_DATA")
	if dir == "" {
		t.Skip("PAWL_DATA names no folder of recorded data")
	}
	return dir
}

// The 22 pairs are why pawl exists: the table its first user wrote down calls 4 of them
// a regression and 2 an improvement, and none is.
func TestRecordedPairs(t *testing.T) {
	r, err := ReadRecordings(t.Context(), recordedData(t))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]Tally{
		"pawl":         {Trials: 22, Abstains: 22},
		"pawl, stored": {Trials: 22, Abstains: 22},
		"classic":      {Trials: 22, Regression: 4, Improvement: 2, Nothing: 8, Abstains: 8},
		"Mann-Whitney": {Trials: 22, Regression: 10, Improvement: 10, Nothing: 2},
	}
	for _, m := range Methods(ratchet.Default()) {
		var got Tally
		for _, c := range r.Pairs() {
			got.add(m.Ask(c))
		}
		got.Rounds = 0
		if w, ok := want[m.Name]; ok && got != w {
			t.Errorf("%s: %+v, want %+v", m.Name, got, w)
		}
	}
	several := r.Several()
	if len(several) != 44 {
		t.Errorf("%d ways to make sides of several recordings, want 44", len(several))
	}
	for _, c := range several {
		if got := Methods(ratchet.Default())[0].Ask(c); got.Answer == Slower || got.Answer == Faster {
			t.Errorf("pawl claims %s of recordings of the same code", got.Answer)
		}
	}
}

// The generator's numbers are those of the recordings.
func TestFit(t *testing.T) {
	r, err := ReadRecordings(t.Context(), recordedData(t))
	if err != nil {
		t.Fatal(err)
	}
	f := r.Fit()
	if f.Recordings != 11 || math.Abs(f.Lag1-recordedNoise.Lag1) > 0.03 || math.Abs(f.Spread-recordedNoise.Spread) > 0.005 {
		t.Errorf("fit %+v, the generator has %+v", f, recordedNoise)
	}
	if apart := ratchet.Default().Apart; math.Abs(f.Session-apart) > 0.005 {
		t.Errorf("sessions differ by %v, the judge takes %v", f.Session, apart)
	}
}

func TestReadSpaces(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 10 MB of packed text")
	}
	noises, err := ReadSpaces(t.Context(), recordedData(t), maxConfigurations)
	if err != nil {
		t.Fatal(err)
	}
	if len(noises) < 115_000 {
		t.Errorf("%d configurations have times", len(noises))
	}
	t.Logf("%d configurations", len(noises))
}

func TestParseSpace(t *testing.T) {
	const head = "BLOCK,status,time_ms,eval_cost_s,times_ms\n"
	for _, test := range []struct{ name, text, wrong string }{
		{"one that ran, one that failed", head + "16,ok,2,0.1,1 2 3\n32,compile_error,,0.1,\n", ""},
		{"no times", "BLOCK,status\n16,ok\n", "no column times_ms"},
		{"a time that is none", head + "16,ok,2,0.1,1 x 3\n", `line 2: a time of "x"`},
		{"a time below 0", head + "16,ok,2,0.1,1 -2 3\n", "above 0"},
		{"not a number", head + "16,ok,2,0.1,1 NaN\n", "above 0"},
		{"a row too short", head + "16,ok\n", "wrong number of fields"},
		{"too many times", head + "16,ok,2,0.1," + strings.Repeat("1 ", maxTimes+1) + "\n", "more than"},
	} {
		list, err := parseSpace(strings.NewReader(test.text), 10)
		if test.wrong == "" {
			if err != nil || len(list) != 1 || list[0].(resampledNoise)[2] != 1.5 {
				t.Errorf("%s: %v, %v", test.name, list, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), test.wrong) {
			t.Errorf("%s: %v, want %q", test.name, err, test.wrong)
		}
	}
}

func FuzzParseSpace(f *testing.F) {
	f.Add("BLOCK,times_ms\n16,1 2 3\n")
	f.Add("times_ms\n\"1\n2\"\n")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := parseSpace(strings.NewReader(text), 50)
		if err != nil {
			return
		}
		if len(list) > 50 {
			t.Fatalf("%d configurations, 50 were asked for", len(list))
		}
		for _, n := range list {
			for _, v := range n.(resampledNoise) {
				if !(v > 0) || math.IsInf(v, 0) {
					t.Errorf("a relative time of %v", v)
				}
			}
		}
	})
}
