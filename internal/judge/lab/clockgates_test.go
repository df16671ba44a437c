package lab

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
	"github.com/goatnote-inc/pawl/stats"
)

// clockMachine is a card, how its clocks are set, and how pawl measures on it.
type clockMachine struct {
	name   string
	card   powerCard
	locked float64 // MHz; 0 leaves clocks free
	// drift is the standard deviation of what else changes the clock, and lasts for about driftNS; noise is
	// that of samples which resemble the one before as those of a recorded L4 do. The virtual GPU has neither.
	drift, noise float64
	turns        float64 // length of a turn, ns; 0 measures sides one after the other
	most         int     // rounds
}

// promised reports whether the machine is one that pawl promises something for.
func (m clockMachine) promised() bool { return m.name == cappedL4.name && m.turns > 0 }

const driftNS = 300e6

var (
	cappedL4 = clockMachine{name: "L4, as modeled", card: cardL4, most: 16}
	noisyL4  = clockMachine{name: "L4, with the noise of the recordings", card: cardL4, drift: 0.05, noise: recordedNoise.Spread, most: 16}
)

// What a run of pawl does around its samples. Times are assumptions: nothing of it has run on a GPU.
const (
	clockSamples  = 100
	clockWarmup   = 20
	startLow      = 400e6 // a process starts, opens a context and loads its module, ns
	startHigh     = 900e6
	afterMeasured = 100e6 // results are read and compared, and the process ends
	betweenNS     = 200e3 // between two samples: new inputs, and the cache is read over
	betweenShare  = 0.35  // of the units that switch meanwhile
	switchNS      = 1e6   // one side is stopped and the other continues
	turnNS        = 8e6   // as in package trial
	keepsWarmNS   = 100e6 // as in package trial
	warmNS        = 300e6 // as in package trial
	kernelNS      = 320e3 // of the base, at the boost clock
	ownSpread     = 0.003 // between rounds of a side: where its memory lies
	sampleSpread  = 0.005 // between samples
	steadyChunk   = 10    // as in package trial
	steadyShare   = 0.01  // as in package trial
	longestWarmup = 10 * clockWarmup
)

// clockGate is a comparison whose rounds are measured on the clock model.
type clockGate struct {
	clockMachine
	effect   float64
	rng      *rand.Rand
	state    *powerState
	drifted  float64 // what drift adds now
	noisy    float64 // what noise adds now
	worked   float64 // when the card last computed, ns
	first    [2]Side // order of the current two rounds
	rounds   [2][]ratchet.Round
	measured int
}

func (m clockMachine) compare(seed, trial uint64, effect float64) Comparison {
	rng := rand.New(rand.NewPCG(seed, trial))
	g := &clockGate{clockMachine: m, effect: effect, rng: rng, state: newPowerState(m.card, rng.Uint64(), m.locked), worked: math.Inf(-1)}
	g.state.advance(2e9*rng.Float64(), rng.Float64()) // whatever ran before
	return g
}

func (g *clockGate) Most(Side) int  { return g.most }
func (g *clockGate) Together() bool { return true }

func (g *clockGate) Median(side Side, i int) ratchet.Round { return g.Round(side, i) }

func (g *clockGate) Stored(bool) (ratchet.Baseline, ratchet.Session, []ratchet.Round) {
	panic("lab: nothing is stored of a gate on the clock model")
}

func (g *clockGate) Round(side Side, i int) ratchet.Round {
	for len(g.rounds[side]) <= i {
		g.next()
	}
	return g.rounds[side][i]
}

// next measures a round of both sides, in the order AB BA or BA AB.
func (g *clockGate) next() {
	if g.measured%2 == 0 {
		a := Side(g.rng.IntN(2))
		g.first = [2]Side{a, 1 - a}
	}
	order := []Side{g.first[g.measured%2], 1 - g.first[g.measured%2]}
	var cycles [2]float64
	for s := range cycles {
		cycles[s] = kernelNS * g.card.boostMHz / 1e3 * math.Exp(ownSpread*g.rng.NormFloat64())
	}
	cycles[Candidate] *= 1 + g.effect
	var got [2]measure.CaseRound
	if g.turns > 0 {
		g.inTurns(order, cycles, &got)
	} else {
		for _, s := range order {
			g.warmUp(cycles[s])
			got[s].Samples = g.take(cycles[s], clockSamples)
			g.idle(afterMeasured)
		}
	}
	for s := range got {
		got[s].Round, got[s].Quantum = g.measured, g.card.steps
		g.rounds[s] = append(g.rounds[s], ratchet.NewRound(got[s], "now"))
	}
	g.measured++
}

// inTurns measures as trial.takeTurns does: all sides warm, then AB BA AB.
func (g *clockGate) inTurns(order []Side, cycles [2]float64, got *[2]measure.CaseRound) {
	longest := 0.0
	for _, s := range order {
		longest = max(longest, g.warmUp(cycles[s]))
	}
	for len(got[Base].Samples) < clockSamples {
		for _, s := range order {
			g.idle(switchNS)
			n := min(max(1, int(g.turns/longest)), clockSamples-len(got[s].Samples))
			got[s].SamplesPerTurn = max(got[s].SamplesPerTurn, n)
			got[s].Samples = append(got[s].Samples, g.take(cycles[s], n)...)
		}
		slices.Reverse(order)
	}
	g.idle(2 * afterMeasured)
}

// warmUp starts a process and runs its kernel until its times are steady. It returns the median of
// the warm-up.
func (g *clockGate) warmUp(cycles float64) float64 {
	g.idle(startLow + (startHigh-startLow)*g.rng.Float64())
	if g.state.at-g.worked >= keepsWarmNS {
		g.state.advance(warmNS, 1)
	}
	samples := g.take(cycles, clockWarmup)
	for !stats.Steady(samples, steadyChunk, steadyShare, g.card.steps) && len(samples) < longestWarmup {
		samples = append(samples, g.take(cycles, steadyChunk)...)
	}
	return stats.Median(samples)
}

func (g *clockGate) idle(ns float64) { g.state.advance(ns, 0) }

// take measures samples, in steps of the card's events.
func (g *clockGate) take(cycles float64, n int) []float64 {
	list := make([]float64, n)
	for i := range list {
		g.state.advance(betweenNS, betweenShare)
		before := g.state.at
		ns := g.state.compute(cycles*math.Exp(sampleSpread*g.rng.NormFloat64()+g.drifted+g.noisy), 1)
		g.worked = g.state.at
		if g.drift > 0 && g.locked == 0 {
			kept := math.Exp(-(g.state.at - before + betweenNS) / driftNS)
			g.drifted = kept*g.drifted + g.drift*math.Sqrt(1-kept*kept)*g.rng.NormFloat64()
			g.noisy = recordedNoise.Lag1*g.noisy + g.noise*math.Sqrt(1-recordedNoise.Lag1*recordedNoise.Lag1)*g.rng.NormFloat64()
		}
		list[i] = max(math.Round(ns/g.card.steps), 1) * g.card.steps
	}
	return list
}

// recordings returns runs of a kernel as those of the recorded L4 were made.
func (g *clockGate) recordings(n int) []measure.CaseRound {
	list := make([]measure.CaseRound, n)
	for i := range list {
		g.idle(startHigh)
		if g.drift > 0 { // another day
			g.drifted = g.drift * g.rng.NormFloat64()
		}
		cycles := kernelNS * g.card.boostMHz / 1e3
		g.take(cycles, 20)
		list[i].Samples = g.take(cycles, 100)
	}
	return list
}

// clockRow is a line of the table.
type clockRow struct {
	machine    clockMachine
	same, slow Tally
	spread     float64 // of the log-ratios of rounds
}

// clockMachines are those that the table has.
func clockMachines() []clockMachine {
	var list []clockMachine
	for _, m := range []clockMachine{cappedL4, noisyL4, {name: "B200, as modeled", card: cardB200, most: 16}, {name: "laptop, as modeled", card: cardLaptop, most: 16}} {
		apart, turns := m, m
		turns.turns = turnNS
		list = append(list, apart, turns)
	}
	for _, turns := range []float64{0, turnNS, turnNS / 2} {
		longer := noisyL4
		longer.most, longer.turns = 64, turns
		list = append(list, longer)
	}
	return append(list, clockMachine{name: "L4, locked at 1200 MHz", card: cardL4, locked: 1200, most: 16})
}

// clockTable judges gates on a machine: as many of same code as asked where something is promised, and a fiftieth elsewhere;
// at most a fifth as many of 5 % more work, which take longer.
func clockTable(ctx context.Context, m clockMachine, gates int, seed uint64) (clockRow, error) {
	if !m.promised() {
		gates /= 50
	}
	row := clockRow{machine: m}
	methods := []Method{paired(ratchet.Default())}
	for effect, to := range map[float64]*Tally{0: &row.same, 0.05: &row.slow} {
		n := gates
		if effect > 0 && m.promised() {
			n = max(gates/5, 100)
		}
		tallies, err := trials(ctx, n, methods, func(trial uint64) Comparison { return m.compare(seed, trial, effect) })
		if err != nil {
			return row, err
		}
		*to = tallies[0]
	}
	var ratios []float64
	for trial := range uint64(20) {
		c, e := m.compare(seed, trial, 0), sideBySide(0)
		for r := range m.most {
			e.Base, e.Candidate = append(e.Base, c.Round(Base, r)), append(e.Candidate, c.Round(Candidate, r))
		}
		ratios = append(ratios, e.LogRatios()...)
	}
	row.spread = stats.StdDev(ratios)
	return row, nil
}

// Sides in turns find 5 % within 16 rounds under a power cap, and same code is not accused. The lab asks for
// more gates.
func TestClocks_GatesInTurns(t *testing.T) {
	for _, m := range clockMachines() {
		if !m.promised() {
			continue
		}
		r, err := clockTable(t.Context(), m, 100, 1)
		if err != nil {
			t.Fatal(err)
		}
		if r.same.Regression+r.same.Improvement > 0 || r.slow.Regression < 98 {
			t.Errorf("%s: same code %+v, 5 %% slower %+v", m.name, r.same, r.slow)
		}
	}
}

// TestLabClocks writes the table of docs/lab/free-clocks.md to a file of the folder that PAWL_LAB names.
func TestLabClocks(t *testing.T) {
	folder := os.Getenv("PAWL_LAB")
	if folder == "" {
		t.Skip("PAWL_LAB names no folder for the table")
	}
	gates := 10_000
	if n, err := strconv.Atoi(os.Getenv("PAWL_LAB_GATES")); err == nil {
		gates = n
	}
	table := newTable("clocks", "sides", "rounds, at most", "spread of rounds", "same code: gates", "regression", "improvement", "no answer", "rounds", "5 %: gates", "found", "called maintained", "rounds")
	for i, m := range clockMachines() {
		r, err := clockTable(t.Context(), m, gates, uint64(i+1))
		if err != nil {
			t.Fatal(err)
		}
		sides := "apart"
		if m.turns > 0 {
			sides = fmt.Sprintf("in turns of %.0f ms", m.turns/1e6)
		}
		table.row(m.name, sides, fmt.Sprint(m.most), fmt.Sprintf("%.2f %%", 100*r.spread), fmt.Sprint(r.same.Trials),
			plainShare(r.same.Regression, r.same.Trials), plainShare(r.same.Improvement, r.same.Trials), plainShare(r.same.Abstains, r.same.Trials), fmt.Sprintf("%.1f", r.same.MeanRounds()),
			fmt.Sprint(r.slow.Trials), plainShare(r.slow.Regression, r.slow.Trials), plainShare(r.slow.Nothing, r.slow.Trials), fmt.Sprintf("%.1f", r.slow.MeanRounds()))
		t.Logf("%s %s: %+v %+v spread %.4f", m.name, sides, r.same, r.slow, r.spread)
		if wrong := r.same.Regression + r.same.Improvement; m.promised() && (1000*wrong > r.same.Trials || 100*r.slow.Regression < 98*r.slow.Trials) {
			t.Errorf("%s in turns: %d of %d gates of same code are wrong, 5 %% slower is found in %d of %d", m.name, wrong, r.same.Trials, r.slow.Regression, r.slow.Trials)
		}
	}
	t.Log("\n" + table.String())
	if err := os.WriteFile(filepath.Join(folder, "free-clocks.md"), []byte(table.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}
