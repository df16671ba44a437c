package lab

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/tune/repeat"
)

// Parts that were measured before stay, those that were measured again do not.
func TestKeepParts(t *testing.T) {
	old := tuneFigures()
	old.Noises[0].Noisy = 0.5
	again := &TuneReport{
		Schema: TuneSchema, Parts: []TunePart{{Part: PartNoise, Seed: 9, Repeats: 3}},
		Spaces: []SpaceSummary{{"gemm_b", 17956, 300, 30}}, Noises: []NoiseRow{{"gemm_b", 0.98, 0.9, repeat.ChoiceQuality{Mean: 0.9, P10: 0.8, Within: 0.5, Draws: 40}}},
	}
	if err := again.Keep(old); err != nil {
		t.Fatal(err)
	}
	want := tuneFigures()
	want.Parts[2] = TunePart{Part: PartNoise, Seed: 9, Repeats: 3}
	want.Noises = []NoiseRow{{"gemm_b", 0.98, 0.9, repeat.ChoiceQuality{Mean: 0.9, P10: 0.8, Within: 0.5, Draws: 40}}}
	want.Claims = tuneClaims(want)
	if diff := cmp.Diff(want, again); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
	quick := &TuneReport{Schema: TuneSchema, Parts: []TunePart{{Part: PartCount, Quick: true}}}
	if err := quick.Keep(old); err == nil {
		t.Error("generated spaces went on the page of recorded ones")
	}
}

func TestTuneCommand(t *testing.T) {
	for want, m := range map[string]TunePart{
		"pawl-lab tune --data DATA --out docs/lab --part noise --seed 1000 --repeats 100":                       {Part: PartNoise, Seed: 1000, Repeats: 100},
		"pawl-lab tune --quick --part count --seed 1 --repeats 2 --strategy auto,random":                        {Part: PartCount, Quick: true, Seed: 1, Repeats: 2, Strategies: []string{"auto", "random"}},
		"pawl-lab tune --data DATA --out docs/lab --part transfer --seed 1 --repeats 5 --space 'gemm*,pnpoly*'": {Part: PartTransfer, Seed: 1, Repeats: 5, Spaces: []string{"gemm*", "pnpoly*"}},
	} {
		if got := m.Command(); got != want {
			t.Errorf("%s\nwant\n%s", got, want)
		}
	}
}

func FuzzReadTune(f *testing.F) {
	b, err := json.Marshal(tuneFigures())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(`{"schema":"pawl.lab.tune/v2","parts":[{"part":"luck"}]}`))
	f.Add([]byte(`{"schema":"pawl.lab.tune/v2","parts":[{"part":"noise"},{"part":"noise"}]}`))
	f.Add([]byte(`{"schema":"pawl.lab/v1"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := ReadTune(bytes.NewReader(b))
		if err != nil {
			return
		}
		if len(r.Parts) > len(TuneParts) {
			t.Errorf("%d parts", len(r.Parts))
		}
		again := &TuneReport{Schema: TuneSchema}
		if err := again.Keep(r); err != nil && !r.Quick() {
			t.Error(err)
		}
		if err := again.Markdown(&strings.Builder{}); err != nil {
			t.Error(err)
		}
	})
}

// The page in the documentation is what its figures say, not what somebody wrote there.
func TestPublishedTunePage(t *testing.T) {
	const docs = "../../../docs/lab/"
	f, err := os.Open(docs + "tune.json")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := ReadTune(f)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r.Claims, tuneClaims(r)); diff != "" {
		t.Errorf("the figures do not say what is claimed:\n%s", diff)
	}
	checkPage(t, docs+"tune.md", r)
}
