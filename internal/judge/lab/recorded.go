package lab

import (
	"context"
	"fmt"
	"math"
	"path/filepath"

	"github.com/goatnote-inc/pawl/internal/kernel/harness/adapter"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
	"github.com/goatnote-inc/pawl/stats"
)

// sameCode lists recordings of the same code on one card, on two days: attention on an NVIDIA L4, 100
// samples each. A method that finds a difference is wrong.
var sameCode = [][]string{
	{"sweep_config_01", "rerun_full_s128", "rerun_local_s128"},
	{"sweep_config_02", "rerun_full_s256"},
	{"sweep_config_03", "rerun_full_s512", "rerun_local_s512", "rerun_opt_s512"},
	{"sweep_config_04", "rerun_full_s1024"},
}

// Recordings holds the groups of same-code recordings.
type Recordings [][]measure.CaseRound

// ReadRecordings reads the recordings from the data folder.
func ReadRecordings(ctx context.Context, data string) (Recordings, error) {
	groups := make(Recordings, len(sameCode))
	for g, names := range sameCode {
		for _, name := range names {
			path := filepath.Join(data, "l4-sdpa", name+".json")
			run, err := adapter.ReadFile(ctx, path, "", adapter.Options{})
			if err != nil {
				return nil, fmt.Errorf("recordings: %w", err)
			}
			if len(run.Cases) != 1 || len(run.Cases[0].Rounds) != 1 {
				return nil, fmt.Errorf("recordings: %s has %d cases: want one, of one round", path, len(run.Cases))
			}
			groups[g] = append(groups[g], run.Cases[0].Rounds[0])
		}
	}
	return groups, nil
}

// Pairs returns all ordered pairs of recordings of the same code.
func (r Recordings) Pairs() []Comparison {
	return r.splits(func(base, now int) bool { return base == 1 && now == 1 })
}

// Several returns all ordered pairs of disjoint sets of recordings of the same code, at least one of
// them with two or more recordings: sides with several rounds.
func (r Recordings) Several() []Comparison {
	return r.splits(func(base, now int) bool { return base > 1 || now > 1 })
}

// splits assigns every recording of a group to the base, the candidate or neither, in all ways that give
// both sides the wanted sizes.
func (r Recordings) splits(wanted func(base, now int) bool) []Comparison {
	var list []Comparison
	for g, group := range r {
		ways := 1
		for range group {
			ways *= 3
		}
		for way := range ways {
			var c recorded
			for i, round := range group {
				if to := way % 3; to < 2 {
					c[to] = append(c[to], ratchet.NewRound(round, sameCode[g][i]))
				}
				way /= 3
			}
			if len(c[Base]) > 0 && len(c[Candidate]) > 0 && wanted(len(c[Base]), len(c[Candidate])) {
				list = append(list, c)
			}
		}
	}
	return list
}

// recorded is a comparison of recordings. Each recording is its own session.
type recorded [2][]ratchet.Round

func (r recorded) Round(side Side, i int) ratchet.Round  { return r[side][i] }
func (r recorded) Median(side Side, i int) ratchet.Round { return r[side][i] }
func (r recorded) Most(side Side) int                    { return len(r[side]) }
func (r recorded) Together() bool                        { return false }

func (r recorded) Stored(bool) (ratchet.Baseline, ratchet.Session, []ratchet.Round) {
	var b ratchet.Baseline
	for _, round := range r[Base] {
		b.Sessions = append(b.Sessions, withLabTerms(ratchet.Session{Run: ratchet.RunRef{ID: round.Session}, Unit: "ns", Quantum: round.Quantum, Rounds: []float64{round.Median}}))
	}
	now := withLabTerms(ratchet.Session{Run: ratchet.RunRef{ID: "now"}, Unit: "ns", Rounds: []float64{r[Candidate][0].Median}})
	return b, now, r[Candidate][:1]
}

// Fit holds the generator's parameters as estimated from the recordings.
type Fit struct {
	Recordings int     `json:"recordings"`
	Lag1       float64 `json:"lag1"`    // median autocorrelation of neighboring samples
	Spread     float64 `json:"spread"`  // median standard deviation of a sample
	Session    float64 `json:"session"` // standard deviation between sessions, over all groups
}

// warm is the number of slow first samples to skip: the recordings' own warm-up of 20 launches was too
// short.
const warm = 4

// Fit estimates the generator's parameters from the recordings.
func (r Recordings) Fit() Fit {
	var f Fit
	var lags, spreads []float64
	var squares, freedom float64
	for _, group := range r {
		var centers []float64
		for _, round := range group {
			logs := make([]float64, 0, len(round.Samples))
			for _, v := range round.Samples[min(warm, len(round.Samples)):] {
				logs = append(logs, math.Log(v))
			}
			lags = append(lags, stats.Autocorrelation(logs, 1))
			spreads = append(spreads, stats.StdDev(logs))
			centers = append(centers, math.Log(stats.Median(round.Samples)))
			f.Recordings++
		}
		if n := float64(len(centers) - 1); n > 0 {
			sd := stats.StdDev(centers)
			squares, freedom = squares+n*sd*sd, freedom+n
		}
	}
	f.Lag1, f.Spread = stats.Median(lags), stats.Median(spreads)
	f.Session = math.Sqrt(squares / freedom)
	return f
}
