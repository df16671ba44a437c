package cost_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/goatnote-inc/pawl/internal/judge/cost"
	"github.com/goatnote-inc/pawl/ratchet"
)

var now = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// A stage lasts until another begins; waiting and coming back count for each.
func TestClock(t *testing.T) {
	at := func(s float64) time.Time { return now.Add(time.Duration(s * float64(time.Second))) }
	c := cost.Start(now)
	c.Enter(cost.Build, at(2))
	c.Enter(cost.Wait, at(10))
	c.Enter(cost.Measure, at(11.5))
	c.Enter(cost.Measure, at(20))
	c.Enter(cost.Profile, at(30))
	c.Enter(cost.Measure, at(31))
	got := c.Account(at(41.0004)).Priced(3600)
	want := cost.RunCost{
		Schema: cost.Schema, Time: now, Seconds: 41, PricePerHour: 3600, Dollars: 41,
		Stages: map[string]float64{"build": 10, "wait": 1.5, "measure": 28.5, "profile": 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// run is an account in a few letters: R regression, B broken, M maintained, I
// inconclusive, X without a verdict.
func run(branch string, at int, letter rune) cost.RunCost {
	verdicts := map[rune]ratchet.Verdict{'R': ratchet.Regression, 'B': ratchet.Broken, 'M': ratchet.Maintained, 'I': ratchet.Inconclusive, 'X': "", 'N': ratchet.Missing}
	return cost.RunCost{
		Schema: cost.Schema, Time: now.Add(time.Duration(at) * time.Minute), Seconds: 60, PricePerHour: 60, Dollars: 1,
		Branch: branch, Verdict: verdicts[letter],
	}
}

func TestCaught(t *testing.T) {
	for runs, want := range map[string][2]int{ // caught, found
		"M":       {0, 0},
		"R":       {0, 1},
		"RM":      {1, 0},
		"RRRM":    {1, 0},
		"RIM":     {1, 0},
		"RXM":     {1, 0},
		"RI":      {0, 1},
		"BMRM":    {2, 0},
		"BMR":     {1, 1},
		"MMM":     {0, 0},
		"IX":      {0, 0},
		"NM":      {0, 0}, // a case that went missing is no regression
		"MRMRMRM": {3, 0},
	} {
		var list, nameless []cost.RunCost
		for i, letter := range runs {
			list = append(list, run("fix", i, letter))
			nameless = append(nameless, run("", i, letter))
		}
		if s := cost.Summarize(list, now); [2]int{s.Caught, s.Found} != want {
			t.Errorf("%s: %d caught, %d found; want %v", runs, s.Caught, s.Found, want)
		}
		if s := cost.Summarize(nameless, now); s.Caught != 0 {
			t.Errorf("%s: caught, although nobody knows of which change", runs)
		}
	}
}

func TestAdd(t *testing.T) {
	old := run("a", 0, 'M')
	old.Time = now.Add(-31 * 24 * time.Hour)
	edge := run("b", 0, 'R')
	edge.Time = now.Add(-cost.Month)
	free := run("c", 0, 'M')
	free.Time, free.PricePerHour, free.Dollars = now.Add(-time.Hour), 0, 0
	free.Stages = map[string]float64{cost.Build: 20, "<b>": 9}
	twice := run("b", -5, 'M')
	twice.Run = "01H"
	again := twice
	again.Time = twice.Time.Add(time.Second)
	got := cost.Summarize([]cost.RunCost{twice, old, free, again, edge}, now)
	want := cost.Summary{
		Runs: 4, Seconds: 240, Dollars: 3, First: old.Time, Last: twice.Time, Stages: map[string]float64{cost.Build: 20},
		MonthRuns: 2, MonthSeconds: 120, MonthDollars: 1, Caught: 1, Unpriced: 1,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got.PerRun() != 1 || got.PerCaught() != 3 {
		t.Errorf("%v a run, %v each", got.PerRun(), got.PerCaught())
	}
	if zero := cost.Summarize(nil, now); zero.PerRun() != 0 || zero.PerCaught() != 0 {
		t.Errorf("nothing costs %v", zero)
	}
}

// In whatever order accounts are found, and however often, they come to the same.
func TestOrderDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) cost.RunCost {
			return run(rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "branch"), rapid.IntRange(-60*24*60, 0).Draw(t, "at"), rapid.SampledFrom([]rune("RBMIXN")).Draw(t, "verdict"))
		}), 0, 20, func(a cost.RunCost) int64 { return a.Time.UnixNano() }).Draw(t, "runs")
		want := cost.Summarize(list, now)
		other := append(rapid.Permutation(list).Draw(t, "order"), list...)
		if diff := cmp.Diff(want, cost.Summarize(other, now), cmpopts.EquateApprox(1e-9, 0)); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		if want.MonthRuns > want.Runs || want.Caught+want.Found > want.Runs {
			t.Errorf("%+v", want)
		}
	})
}

func TestRead(t *testing.T) {
	good := run("a", 0, 'R')
	data, err := json.Marshal(good)
	if err != nil {
		t.Fatal(err)
	}
	got, err := cost.Read(strings.NewReader(string(data)))
	if diff := cmp.Diff(good, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	for text, want := range map[string]string{
		"": "unexpected end", "[]": "cannot unmarshal", "{}": "its schema", `{"schema":"pawl.account/v2"}`: "its schema",
		`{"schema":"pawl.account/v1","seconds":-1}`:                                      "its seconds or dollars are out of range",
		`{"schema":"pawl.account/v1","seconds":1e300}`:                                   "its seconds or dollars are out of range",
		`{"schema":"pawl.account/v1","dollars":1e300}`:                                   "its seconds or dollars are out of range",
		`{"schema":"pawl.account/v1","stages":{"build":-1}}`:                             "its seconds are out of range",
		`{"schema":"pawl.account/v1","device":"` + strings.Repeat("x", 301) + `"}`:       "301 bytes",
		`{"schema":"pawl.account/v1","device":"` + strings.Repeat("x", 2*cost.FileLimit): "it is larger than",
	} {
		if _, err := cost.Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, want %q", text, err, want)
		}
	}
}

func TestReadSummary(t *testing.T) {
	good := cost.Summarize([]cost.RunCost{run("a", 0, 'R'), run("a", 1, 'M')}, now)
	data, err := json.Marshal(good)
	if err != nil {
		t.Fatal(err)
	}
	got, err := cost.ReadSummary(strings.NewReader(string(data)))
	if diff := cmp.Diff(good, got, cmpopts.EquateEmpty()); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	for _, bad := range []string{"", "[]", `{"runs":-1}`, `{"caught":1e9}`, `{"dollars":-1}`, `{"month_seconds":1e300}`, `{"runs":"` + strings.Repeat("x", 2*cost.FileLimit)} {
		if _, err := cost.ReadSummary(strings.NewReader(bad)); err == nil {
			t.Errorf("%.40s is a sum", bad)
		}
	}
}

// Whatever is read can be added up.
func FuzzRead(f *testing.F) {
	f.Add(`{"schema":"pawl.account/v1","time":"2026-11-20T00:00:00Z","seconds":12,"dollars":0.1,"verdict":"regression","stages":{"build":3}}`)
	f.Add(`{"schema":"pawl.account/v1","seconds":1e7}`)
	f.Fuzz(func(t *testing.T, text string) {
		a, err := cost.Read(strings.NewReader(text))
		if err != nil {
			return
		}
		s := cost.Summarize([]cost.RunCost{a, a}, now)
		if s.Runs != 1 || math.IsInf(s.Dollars, 0) || math.IsNaN(s.Dollars) || s.Seconds < 0 {
			t.Errorf("%+v", s)
		}
	})
}
