package lab

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
	"github.com/goatnote-inc/pawl/stats"
)

// LiveGate is a comparison on a real machine. It was measured to its last round, even if a judge would
// have stopped earlier, so that any policy can be tried on it.
type LiveGate struct {
	Slowed  bool        `json:"slowed,omitempty"` // the candidate does 5.9 % more work
	Loaded  bool        `json:"beside,omitempty"` // another process kept all cores busy
	Seed    int         `json:"seed"`
	Quantum float64     `json:"quantum"` // step of the timer, ns
	Rounds  []LiveRound `json:"rounds"`
}

// LiveRound is one round of both sides.
type LiveRound struct {
	First   Side       // side that ran first
	Medians [2]float64 // medians of the samples, ns
	Turns   float64    // median ratio of neighboring turns, candidate to base
	Load    float64    // load of the machine at the start of the round
	MHz     float64    // clock at the start of the round; 0 if unknown
}

// MarshalJSON writes a round as a short list, because gates are stored by the hundred.
func (r LiveRound) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, "[%d,%.0f,%.0f,%.5f,%.2f,%.0f]", r.First, r.Medians[Base], r.Medians[Candidate], r.Turns, r.Load, r.MHz), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (r *LiveRound) UnmarshalJSON(text []byte) error {
	var list []float64
	if err := json.Unmarshal(text, &list); err != nil {
		return err
	}
	if len(list) != 6 || list[0] != 0 && list[0] != 1 || !(list[1] > 0) || !(list[2] > 0) || !(list[3] > 0) {
		return fmt.Errorf("a round is [first, base, candidate, turns, load, MHz], not %s", text)
	}
	*r = LiveRound{Side(list[0]), [2]float64{list[1], list[2]}, list[3], list[4], list[5]}
	return nil
}

// NewLiveGate extracts the rounds from a record with one case.
func NewLiveGate(run *measure.Run) (LiveGate, error) {
	var g LiveGate
	runs := []*measure.Run{run}
	list := ratchet.Gather(runs, runs, measure.Base, measure.Candidate)
	if len(list) != 1 {
		return g, fmt.Errorf("%d cases: want one", len(list))
	}
	e := list[0]
	if why := cmp.Or(e.BaseError, e.CandidateError); why != "" {
		return g, errors.New(why)
	}
	ratios := e.LogRatios()
	if len(ratios) != len(run.Rounds) || len(ratios) == 0 {
		return g, fmt.Errorf("of %d rounds %d have both sides", len(run.Rounds), len(ratios))
	}
	for i, r := range run.Rounds {
		b, c := e.Base[i], e.Candidate[i]
		live := LiveRound{Medians: [2]float64{b.Median, c.Median}, Turns: math.Exp(ratios[i])}
		if len(r.Order) > 0 && r.Order[0] == measure.Candidate {
			live.First = Candidate
		}
		if len(r.Sides) > 0 && r.Sides[0].Before != nil {
			live.Load, live.MHz = r.Sides[0].Before.Load1, r.Sides[0].Before.SMClockMHz
		}
		g.Rounds, g.Quantum = append(g.Rounds, live), max(g.Quantum, b.Quantum, c.Quantum)
	}
	return g, nil
}

// ReadLive reads gates, one JSON object per line.
func ReadLive(from io.Reader) ([]LiveGate, error) {
	var list []LiveGate
	for lines := json.NewDecoder(from); ; {
		var g LiveGate
		err := lines.Decode(&g)
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return nil, fmt.Errorf("gate %d: %w", len(list)+1, err)
		}
		list = append(list, g)
	}
}

// replayed is a live gate as a Comparison.
type replayed struct{ LiveGate }

// Compare returns the gate as a comparison for methods to judge.
func (g LiveGate) Compare() Comparison { return replayed{g} }

func (r replayed) Most(Side) int  { return len(r.Rounds) }
func (r replayed) Together() bool { return true }

// Median returns a round of the gate. Its samples were not kept.
func (r replayed) Median(side Side, i int) ratchet.Round {
	v := r.Rounds[i].Medians[side]
	turn := 1.0 // only the ratio of the turns was kept
	if side == Candidate {
		turn = r.Rounds[i].Turns
	}
	return ratchet.Round{Index: i, Session: "live", Sorted: stats.Sorted{v}, Median: v, Turns: []float64{turn, turn}, Quantum: r.Quantum}
}

func (r replayed) Round(side Side, i int) ratchet.Round { return r.Median(side, i) }

// Stored returns nothing: live gates have no ledger.
func (r replayed) Stored(bool) (ratchet.Baseline, ratchet.Session, []ratchet.Round) {
	return ratchet.Baseline{}, ratchet.Session{}, nil
}

// LiveMethods returns the methods that need only the medians of rounds. Gates of the same code show how
// much the rounds of their machine depend on each other.
func LiveMethods(gates []LiveGate) []Method {
	p := ratchet.Default()
	knows := p
	knows.Dependence = LiveDependence(gates)
	known := paired(knows)
	known.Name = onKnown
	return []Method{paired(p), known, firstEdition(), threshold(10), benchstat}
}

// LiveDependence returns the dependence between rounds on the machine where gates were measured.
func LiveDependence(gates []LiveGate) ratchet.Dependence {
	var ratios []float64
	for _, g := range gates {
		for _, r := range g.Rounds {
			if !g.Slowed {
				ratios = append(ratios, math.Log(r.Turns))
			}
		}
	}
	return ratchet.NewDependence([][]float64{ratios})
}

// LiveTable returns the answers of methods about gates, grouped by machine, with the same code first.
func LiveTable(gates []LiveGate, methods []Method) string {
	var b strings.Builder
	b.WriteString("| machine | code | gates | method | regression | improvement | maintained | no answer | rounds, mean |\n")
	b.WriteString("| --- | --- | ---: | --- | ---: | ---: | ---: | ---: | ---: |\n")
	for _, beside := range []bool{false, true} {
		for _, slowed := range []bool{false, true} {
			same := slices.DeleteFunc(slices.Clone(gates), func(g LiveGate) bool { return g.Loaded != beside || g.Slowed != slowed })
			if len(same) == 0 {
				continue
			}
			machine := map[bool]string{false: "idle", true: "beside load"}[beside]
			code := map[bool]string{false: "the same", true: "5.9 % more work"}[slowed]
			for _, m := range methods {
				var t Tally
				for _, g := range same {
					t.add(m.Ask(g.Compare()))
				}
				share := func(n int) string {
					r := NewRate(n, t.Trials)
					return fmt.Sprintf("%d (%.1f to %.1f %%)", n, 100*r.Low, 100*r.High)
				}
				fmt.Fprintf(&b, "| %s | %s | %d | %s | %s | %s | %s | %s | %.1f |\n", machine, code, len(same), m.Name,
					share(t.Regression), share(t.Improvement), share(t.Nothing), share(t.Abstains), t.MeanRounds())
			}
		}
	}
	return b.String()
}

// LiveNoise describes the rounds of gates: the spread of their differences, the same without tails, and
// the correlation of a difference with the previous one.
func LiveNoise(gates []LiveGate) (spread, core, lag float64) {
	var squares, cores, products float64
	n := 0
	for _, g := range gates {
		d := make([]float64, len(g.Rounds))
		for i, r := range g.Rounds {
			d[i] = math.Log(r.Medians[Candidate] / r.Medians[Base])
		}
		cores += stats.RobustSD(d)
		middle := stats.Median(d)
		for i := range d {
			d[i] -= middle
			squares += d[i] * d[i]
			if i > 0 {
				products += d[i] * d[i-1]
			}
		}
		n += len(d)
	}
	return math.Sqrt(squares / float64(max(n, 1))), cores / float64(max(len(gates), 1)), products / math.Max(squares, math.SmallestNonzeroFloat64)
}
