package lab

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/base/testrun"
	"github.com/goatnote-inc/pawl/internal/tune/repeat"
	"github.com/goatnote-inc/pawl/internal/tune/replay"
)

// Searches run beside each other, and what they find does not depend on that.
func TestTuneAtOnce(t *testing.T) {
	o := TuneOptions{Seed: 3, Quick: true, Repeats: 6, Strategies: []string{"random", "genetic"}, Parts: []string{PartCount}}
	r, err := Tune(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Tune(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r.Rows, again.Rows); diff != "" || len(r.Rows) != 4 {
		t.Errorf("%d rows, and a second measurement differs:\n%s", len(r.Rows), diff)
	}
}

// A small measurement has every part, the same every time, and is a page.
func TestTune(t *testing.T) {
	testrun.SkipRace(t)
	o := TuneOptions{Seed: 3, Quick: true, Repeats: 1, Strategies: []string{"auto", "random"}}
	r, err := Tune(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Spaces) != 2 || len(r.Rows) != 4 || len(r.Costs) != 2 || len(r.Noises) != 2 || len(r.Transfer) != 2 || len(r.Claims) != 0 {
		t.Errorf("%d spaces, %d rows, %d costs, %d noises, %d pairs, %d claims", len(r.Spaces), len(r.Rows), len(r.Costs), len(r.Noises), len(r.Transfer), len(r.Claims))
	}
	o.Parts = []string{PartCount}
	again, err := Tune(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r.Rows, again.Rows); diff != "" {
		t.Errorf("a second measurement differs:\n%s", diff)
	}
	for _, row := range r.Rows {
		last := 0.0
		for _, l := range row.Levels {
			if l.Mean < last || l.Mean > 1 || l.P10 > l.Mean+1e-9 {
				t.Errorf("%s on %s: %+v", row.Strategy, row.Space, row.Levels)
			}
			last = l.Mean
		}
	}
	var page bytes.Buffer
	if err := r.Markdown(&page); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"pawl-lab tune --quick --part count --seed 3 --repeats 1 --strategy auto,random\n", "## By cost", "## With noise", "## With what another GPU taught", "| generated_small | generated_large |"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page lacks %q:\n%s", want, page.String())
		}
	}
}

// tuneFigures are made up: pawl is behind on one space.
func tuneFigures() *TuneReport {
	level := func(mean float64) []replay.Level {
		return []replay.Level{{Evaluations: 20, Mean: mean - 0.2, P10: mean - 0.3}, {Evaluations: 50, Mean: mean - 0.05, P10: mean - 0.1}, {Evaluations: 100, Mean: mean, P10: mean - 0.02}, {Evaluations: 200, Mean: mean + 0.01, P10: mean}}
	}
	r := &TuneReport{
		Schema: TuneSchema, Common: []string{"conv_a", "gemm_b"},
		Parts: []TunePart{
			{Part: PartCount, Seed: 1, Repeats: 100, Strategies: []string{"auto", "random"}},
			{Part: PartCost, Seed: 1, Repeats: 50},
			{Part: PartNoise, Seed: 1000, Repeats: 100, Spaces: []string{"conv*", "gemm*"}},
			{Part: PartTransfer, Seed: 7, Repeats: 1},
		},
		Spaces: []SpaceSummary{{"conv_a", 4362, 12, 9.5}, {"gemm_b", 17956, 300, 30}, {"small_c", 210, 0, 0.1}},
		Rows: []TuneRow{
			{"conv_a", "auto", 100, level(0.98)},
			{"gemm_b", "auto", 100, level(0.97)},
			{"small_c", "auto", 100, level(0.99)},
			{"conv_a", "random", 100, level(0.8)},
			{"gemm_b", "random", 100, level(0.7)},
		},
		Anchors: []TuneRow{
			{"conv_a", "annealing", 50, level(0.9)},
			{"gemm_b", "annealing", 50, level(0.975)},
			{"conv_a", "tpe", 10, level(0.95)[:3]},
		},
		Costs:    []CostRow{{"gemm_b", 0.8, 200, 0.85, 3}},
		Noises:   []NoiseRow{{"conv_a", 0.98, 0.96, repeat.ChoiceQuality{Mean: 0.975, P10: 0.9, Within: 0.97, Draws: 160}}},
		Transfer: []TransferRow{{"conv_a", "gemm_b", 0.97, 0.98, 0.8, 0.95, 0.985}},
	}
	r.Claims = tuneClaims(r)
	return r
}

// Promises are held against the figures.
func TestTuneClaims(t *testing.T) {
	r := tuneFigures()
	want := map[string]bool{
		"fraction of the optimum after 50 evaluations, mean over 2 spaces":              false, // 0.925
		"fraction of the optimum after 100 evaluations, mean over 2 spaces":             true,
		"fraction of the optimum after 200 evaluations, mean over 2 spaces":             true,
		"spaces on which another tool is better after 100 evaluations":                  false,
		"seconds to reach what random search reaches in an hour, median over spaces":    true,
		"loss by noise, in fractions of the optimum":                                    true,
		"share of noisy searches whose choice is within 1 % of the best they evaluated": true,
		"20 evaluations with a warm start over 60 without, mean over pairs":             true,
		"pairs that are worse with a warm start after 100 evaluations":                  true,
	}
	got := map[string]bool{}
	for _, c := range r.Claims {
		got[c.Text] = c.Holds
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("claims (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]SpaceBehind{{"gemm_b", "annealing", 0.97, 0.975}}, r.Behind()); diff != "" {
		t.Errorf("behind (-want +got):\n%s", diff)
	}
}

func TestTunePage(t *testing.T) {
	checkPage(t, "testdata/tune.md", tuneFigures())
}

func TestParseAnchors(t *testing.T) {
	const text = "space,strategy,repeats,mean_frac_opt_20,mean_frac_opt_50,mean_frac_opt_100,mean_frac_opt_200\n" +
		"a,sa,50,0.1,0.2,0.3,0.4\nb,sa,50,0.1,0.2,0.3,0.4\na,tpe,10,0.5,0.6,0.7,\nc,random,1000,0.1,0.1,0.1,0.1\na,random,1000,0.1,0.1,0.1,0.1\nb,random,1000,0.1,0.1,0.1,0.1\n"
	rows, err := parseAnchors(strings.NewReader(text))
	if err != nil || len(rows) != 6 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	if _, ok := rows[2].At(200); ok {
		t.Error("a mean that is not there was read")
	}
	if v, ok := rows[2].At(100); !ok || v != 0.7 {
		t.Errorf("tpe on a after 100: %g, %v", v, ok)
	}
	// sa was measured on most spaces, so that c is not common; tpe was not, and does not count.
	if diff := cmp.Diff([]string{"a", "b"}, commonSpaces(rows)); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []string{"", "a,b\n1,2\n", "space,strategy,repeats\n\"a\n"} {
		if _, err := parseAnchors(strings.NewReader(bad)); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}

func FuzzParseAnchors(f *testing.F) {
	f.Add("space,strategy,repeats,mean_frac_opt_20\na,b,1,0.5\n")
	f.Fuzz(func(t *testing.T, text string) {
		rows, err := parseAnchors(strings.NewReader(text))
		if err == nil && len(commonSpaces(rows)) > len(rows) {
			t.Error("more spaces than rows")
		}
	})
}

func TestLevels(t *testing.T) {
	for n, want := range map[int][]int{10: {10}, 20: {20}, 120: {20, 50, 100, 120}, 500: {20, 50, 100, 200, 500}} {
		if diff := cmp.Diff(want, repeat.Levels(n)); diff != "" {
			t.Errorf("%d: %s", n, diff)
		}
	}
}
