package lab

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
	"github.com/goatnote-inc/pawl/stats"
)

// liveRun is a record of two rounds.
func liveRun() *measure.Run {
	side := func(name string, rounds ...measure.CaseRound) measure.Case {
		return measure.Case{CaseKey: measure.CaseKey{Benchmark: "b", Implementation: name}, Rounds: rounds}
	}
	state := &gpu.State{Load1: 1.5, SMClockMHz: 2500}
	return &measure.Run{
		Rounds: []measure.Round{
			{Index: 0, Order: []string{measure.Base, measure.Candidate}, Sides: []measure.Side{{Before: state}}},
			{Index: 1, Order: []string{measure.Candidate, measure.Base}},
		},
		Cases: []measure.Case{
			side(measure.Candidate,
				measure.CaseRound{Round: 0, SamplesPerTurn: 2, Quantum: 10, Samples: measure.Samples{110, 110, 220, 220, 330, 330}},
				measure.CaseRound{Round: 1, Samples: measure.Samples{200}}),
			side(measure.Base,
				measure.CaseRound{Round: 0, SamplesPerTurn: 2, Samples: measure.Samples{100, 100, 100, 100, 300, 300}},
				measure.CaseRound{Round: 1, Samples: measure.Samples{100}}),
		},
	}
}

func TestNewLiveGate(t *testing.T) {
	got, err := NewLiveGate(liveRun())
	want := LiveGate{Quantum: 10, Rounds: []LiveRound{
		{First: Base, Medians: [2]float64{100, 220}, Turns: 1.1, Load: 1.5, MHz: 2500}, // turns: 1.1, 2.2, 1.1
		{First: Candidate, Medians: [2]float64{100, 200}, Turns: 2},
	}}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-9 })); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	for name, spoil := range map[string]func(*measure.Run){
		"no rounds":     func(r *measure.Run) { r.Rounds = nil },
		"a round less":  func(r *measure.Run) { r.Cases[0].Rounds = r.Cases[0].Rounds[:1] },
		"a broken side": func(r *measure.Run) { r.Cases[1].Rounds[0].Error = "wrong" },
		"no samples":    func(r *measure.Run) { r.Cases[1].Rounds[1].Samples = nil },
	} {
		r := liveRun()
		if spoil(r); true {
			if _, err := NewLiveGate(r); err == nil {
				t.Errorf("%s: it is taken", name)
			}
		}
	}
}

func TestReadLive(t *testing.T) {
	gates := []LiveGate{
		{Seed: 1, Quantum: 1, Rounds: []LiveRound{{Base, [2]float64{100, 103}, 1.03, 0.5, 2500}}},
		{Slowed: true, Loaded: true, Seed: 2, Rounds: []LiveRound{{Candidate, [2]float64{1e6, 2e6}, 2, 12.25, 0}}},
	}
	var file bytes.Buffer
	for _, g := range gates {
		if err := json.NewEncoder(&file).Encode(g); err != nil {
			t.Fatal(err)
		}
	}
	if want := `{"seed":1,"quantum":1,"rounds":[[0,100,103,1.03000,0.50,2500]]}`; !strings.HasPrefix(file.String(), want+"\n") {
		t.Errorf("%s, want %s", file.String(), want)
	}
	got, err := ReadLive(&file)
	if diff := cmp.Diff(gates, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	for _, bad := range []string{`{"rounds":[[0,1]]}`, `{"rounds":[[2,1,1,1,1,1]]}`, `{"rounds":[[0,0,1,1,1,1]]}`, `{`} {
		if _, err := ReadLive(strings.NewReader(bad)); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}

// liveGates makes gates of normal noise with a spread of 1 %.
func liveGates(n int, effect float64) []LiveGate {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	list := make([]LiveGate, n)
	for i := range list {
		for range maxRounds {
			b, c := 1e6*math.Exp(0.01*rng.NormFloat64()), 1e6*math.Exp(0.01*rng.NormFloat64()+math.Log1p(effect))
			list[i].Rounds = append(list[i].Rounds, LiveRound{Medians: [2]float64{b, c}, Turns: c / b})
		}
		list[i].Slowed = effect > 0
	}
	return list
}

func TestLiveTable(t *testing.T) {
	gates := append(liveGates(50, 0), liveGates(40, 0.06)...)
	table := LiveTable(gates, LiveMethods(gates))
	for _, want := range []string{"| idle | the same | 50 | pawl | 0 (0.0 to 7.1 %) |", "| idle | 5.9 % more work | 40 | pawl | 40 (91.2 to 100.0 %) |"} {
		if !strings.Contains(table, want) {
			t.Errorf("no %q in\n%s", want, table)
		}
	}
	if strings.Contains(table, "beside load") {
		t.Errorf("there are no gates beside load:\n%s", table)
	}
}

func TestLiveNoise(t *testing.T) {
	spread, core, lag := LiveNoise(liveGates(200, 0.06))
	if math.Abs(spread-0.0141) > 0.001 || math.Abs(core-0.0141) > 0.001 || math.Abs(lag) > 0.05 {
		t.Errorf("spread %.4f, core %.4f, lag %.2f of differences that spread by 0.0141", spread, core, lag)
	}
}

// twoSpeeds reads gates that were recorded on a machine with two speeds.
func twoSpeeds(t *testing.T) []LiveGate {
	t.Helper()
	data := os.Getenv("PAWL_DATA")
	if data == "" {
		t.Skip("PAWL_DATA names no folder of recordings")
	}
	file, err := os.Open(filepath.Join(data, "live-rounds", "rounds.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var gates []LiveGate
	for lines := json.NewDecoder(file); lines.More(); {
		var line struct {
			Kind  string
			Sides map[string][]struct {
				P50 float64
				T   []float64
			}
		}
		if err := lines.Decode(&line); err != nil {
			t.Fatal(err)
		}
		g := LiveGate{Slowed: line.Kind == "slow"}
		for i, b := range line.Sides[measure.Base] {
			c := line.Sides[measure.Candidate][i]
			ratios := make([]float64, min(len(b.T), len(c.T)))
			for k := range ratios {
				ratios[k] = c.T[k] / b.T[k]
			}
			g.Rounds = append(g.Rounds, LiveRound{Medians: [2]float64{b.P50, c.P50}, Turns: stats.Median(ratios)})
		}
		gates = append(gates, g)
	}
	return gates
}

// Of 25 recorded gates, all in 32 rounds, the second edition answers 24, and 19 in half of the rounds.
func TestTwoSpeeds(t *testing.T) {
	gates := twoSpeeds(t)
	p := ratchet.Default()
	p.Dependence = LiveDependence(gates)
	if len(p.Dependence) != 1 {
		t.Errorf("rounds depend on each other: %v", p.Dependence)
	}
	for _, test := range []struct {
		name       string
		method     Method
		all, early int
	}{
		{"second edition", paired(p), 24, 19},
		{"first edition", firstEdition(), 8, 2},
	} {
		all, early := 0, 0
		for i, g := range gates {
			o := test.method.Ask(g.Compare())
			right := map[bool]Answer{false: Nothing, true: Slower}[g.Slowed]
			if o.Answer != right && o.Answer != Abstains {
				t.Errorf("%s: gate %d is %s, want %s", test.name, i, o.Answer, right)
			}
			if o.Answer == right {
				all++
				if o.Rounds <= 16 {
					early++
				}
			}
		}
		t.Logf("%s: %d of %d answered, %d within 16 rounds", test.name, all, len(gates), early)
		if all < test.all || early < test.early {
			t.Errorf("%s: %d answered, %d within 16 rounds; want %d and %d", test.name, all, early, test.all, test.early)
		}
	}
}

// The page about real machines says what methods answer about the rounds beside it.
func TestLivePage_IsWhatTheRoundsSay(t *testing.T) {
	folder := filepath.Join("..", "..", "..", "docs", "lab")
	file, err := os.Open(filepath.Join(folder, "judge-live.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	gates, err := ReadLive(file)
	if err != nil {
		t.Fatal(err)
	}
	count := map[[2]bool]int{} // by load and slowdown
	for _, g := range gates {
		count[[2]bool{g.Loaded, g.Slowed}]++
		if len(g.Rounds) != 32 {
			t.Errorf("gate %d has %d rounds, want 32", g.Seed, len(g.Rounds))
		}
	}
	if want := (map[[2]bool]int{{false, false}: 100, {false, true}: 100, {true, false}: 30, {true, true}: 30}); !maps.Equal(count, want) {
		t.Errorf("gates %v, want %v", count, want)
	}
	page, err := os.ReadFile(filepath.Join(folder, "judge-live.md"))
	if err != nil {
		t.Fatal(err)
	}
	if table := LiveTable(gates, LiveMethods(gates)); !strings.Contains(string(page), table) {
		t.Errorf("judge-live.md does not have this table:\n%s", table)
	}
}
