package lab

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/goatnote-inc/pawl/internal/base/parallel"
	"github.com/goatnote-inc/pawl/internal/judge/loop"
	"github.com/goatnote-inc/pawl/ratchet"
	"github.com/goatnote-inc/pawl/stats"
)

// biasRuns is the number of runs of unchanged code on the main branch.
const biasRuns = 200

// Curse is the state of a baseline after many runs of unchanged code, and its effect on changes that
// change nothing. The best of many noisy runs is the luckiest: the winner's curse.
type Curse struct {
	Baseline string `json:"baseline"` // rebuilt, stored or best ever
	Shape    Shape  `json:"shape"`
	Runs     int    `json:"runs"`  // runs of unchanged code, in all worlds
	Moved    int    `json:"moved"` // times the baseline moved, all of them wrongly
	// Bias is how much faster the baseline claims to be than the code really is.
	Bias      float64 `json:"bias"`
	BiasError float64 `json:"bias_error"` // standard error of Bias, from the differences between worlds
	Gates     Tally   `json:"gates"`
}

// simulatedBranch is a simulated main branch with its baseline.
type simulatedBranch struct {
	Scene
	policy ratchet.Policy
	rng    *rand.Rand
	seed   uint64
	trial  uint64 // number of the last comparison
	moved  int
}

func (w *simulatedBranch) moves() int { return w.moved }

// baselineKeeper is a way to keep a baseline.
type baselineKeeper interface {
	run()                     // runs a commit on main that changes nothing
	gate() (Outcome, float64) // gates a change that changes nothing; also returns by how much the baseline is too fast
	moves() int               // returns how often the baseline moved
}

var keepers = []struct {
	name string
	make func(simulatedBranch) baselineKeeper
}{
	{"rebuilt", func(w simulatedBranch) baselineKeeper { return &rebuilt{simulatedBranch: w} }},
	{"stored", func(w simulatedBranch) baselineKeeper { return &storedKeeper{simulatedBranch: w} }},
	{"best ever", func(w simulatedBranch) baselineKeeper { return &bestEver{simulatedBranch: w, best: math.Inf(1)} }},
}

func (l *judgeLab) curses(ctx context.Context) error {
	for _, shape := range Shapes {
		for _, k := range keepers {
			l.Say(fmt.Sprintf("winner's curse: %s, %s, %d worlds of %d runs", k.name, shape, l.worlds, biasRuns))
			worlds := make([]Curse, l.worlds)
			err := parallel.Each(ctx, l.worlds, func(i int) {
				seed := l.Seed + uint64(i)<<32
				w := simulatedBranch{Scene: NewScene(shape, typical, 0), policy: l.policy, rng: rand.New(rand.NewPCG(seed, 1)), seed: seed}
				worlds[i] = simulateBranch(k.make(w), l.gates)
			})
			if err != nil {
				return err
			}
			c := Curse{Baseline: k.name, Shape: shape}
			var biases []float64
			for _, w := range worlds {
				c.Runs, c.Moved = c.Runs+w.Runs, c.Moved+w.Moved
				biases = append(biases, w.Bias)
				c.Gates.merge(w.Gates)
			}
			c.Bias, c.BiasError = stats.Mean(biases), stats.StdDev(biases)/math.Sqrt(float64(len(biases)))
			l.report.Curses = append(l.report.Curses, c)
		}
	}
	return nil
}

// simulateBranch runs a main branch, then gates changes that change nothing.
func simulateBranch(k baselineKeeper, gates int) Curse {
	var c Curse
	for range biasRuns {
		k.run()
		c.Runs++
	}
	for range gates {
		out, fast := k.gate()
		c.Gates.add(out)
		c.Bias += fast / float64(gates)
	}
	c.Moved = k.moves()
	return c
}

// rebuilt is pawl's baseline: a commit, built and measured again beside the others.
type rebuilt struct{ simulatedBranch }

// sides measures three commits in the same rounds. The baseline's commit is the base of the second
// comparison.
func (r *rebuilt) sides() (change, baseline Comparison) {
	r.trial++
	list := r.suite(r.seed, r.trial, 2)
	return list[0], list[1]
}

// evidence returns the evidence for one commit against another after a number of rounds.
func evidence(base Comparison, baseSide Side, now Comparison, rounds int) []ratchet.Evidence {
	e := sideBySide(0)
	for i := range rounds {
		e.Base = append(e.Base, base.Median(baseSide, i))
		e.Candidate = append(e.Candidate, now.Median(Candidate, i))
	}
	return []ratchet.Evidence{e}
}

func (r *rebuilt) run() {
	change, baseline := r.sides()
	s := mustApply(loop.Start(loop.Plan{Policy: r.policy, Main: true, Ledger: true}), loop.Built{})
	for {
		switch a := loop.Next(s).(type) {
		case loop.Measure:
			s = mustApply(s, loop.Looked{
				Change: evidence(change, Base, change, a.Rounds),
				Gain:   evidence(baseline, Base, change, a.Rounds),
			})
		case loop.Confirm:
			fresh, again := r.sides()
			s = mustApply(s, loop.Confirmed{Gain: evidence(again, Base, fresh, a.Rounds)})
		case loop.UpdateLedger:
			r.moved += len(a.Move)
			return
		default:
			return
		}
	}
}

func (r *rebuilt) gate() (Outcome, float64) {
	change, _ := r.sides()
	s, rounds := gate(r.policy, []Comparison{change})
	return Outcome{answerOf(s.Verdict()), rounds}, math.Log1p(s.Result.Cases[0].Facts.Change)
}

// storedKeeper is pawl's fallback for a commit that can no longer be built: the sessions in which it
// was measured earlier.
type storedKeeper struct {
	simulatedBranch
	base ratchet.Baseline
	runs int
}

func (k *storedKeeper) session(rounds int) ratchet.Session {
	k.runs++
	return k.Scene.session(k.rng, fmt.Sprint("run ", k.runs), 0, rounds, false)
}

// judge compares a session of a candidate with the stored baseline.
func (k *storedKeeper) judge(now ratchet.Session) ratchet.Judgment {
	e := sideBySide(0)
	e.Candidate = roundsOf(now)
	return ratchet.Judge(k.policy, []ratchet.Evidence{k.base.AsBase(k.policy, e, now)}).Cases[0]
}

func (k *storedKeeper) run() {
	now := k.session(nowRounds)
	if len(k.base.Sessions) == 0 {
		k.base.Sessions = []ratchet.Session{now}
		return
	}
	if k.judge(now).Ratchet == ratchet.Moves {
		fresh := k.session(nowRounds)
		j := k.judge(fresh)
		move, _ := ratchet.MayMove(k.policy, ratchet.Claim{
			Commit: "a commit", Main: true, Correct: true, Trigger: now.Run, Fresh: fresh.Run,
			Move: j.Ratchet, Gain: 1/(1+j.Facts.Change) - 1,
		})
		if move == ratchet.Moves {
			k.base.Sessions, k.moved = []ratchet.Session{fresh}, k.moved+1
			return
		}
	}
	if len(k.base.Sessions) < ratchet.MaxSessions {
		k.base.Sessions = append(k.base.Sessions, k.session(storedRounds))
	}
}

func (k *storedKeeper) gate() (Outcome, float64) {
	j := k.judge(k.session(nowRounds))
	var level float64
	for _, s := range k.base.Sessions {
		for _, v := range s.Rounds {
			level += math.Log(k.Value/v) / float64(len(s.Rounds)*len(k.base.Sessions))
		}
	}
	return Outcome{answerOf(j.Verdict), nowRounds}, level
}

// bestEver keeps the smallest time of any run.
type bestEver struct {
	simulatedBranch
	best float64
}

func (b *bestEver) once() float64 {
	return stats.Median(b.session(b.rng, "run", 0, 1, false).Rounds)
}

func (b *bestEver) run() {
	if now := b.once(); now < b.best {
		b.best = now
		b.moved++
	}
}

func (b *bestEver) gate() (Outcome, float64) {
	out := Outcome{Nothing, 1}
	if b.once() > b.best*(1+b.policy.Slower) {
		out.Answer = Slower
	}
	return out, math.Log(b.Value / b.best)
}
