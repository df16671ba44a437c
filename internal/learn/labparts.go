package learn

import (
	"context"

	"github.com/goatnote-inc/pawl/internal/learn/model"
	"github.com/goatnote-inc/pawl/internal/learn/simulate"
)

// LabPoison is how a lesson that always claims that half of the time is saved fares.
type LabPoison struct {
	Name string `json:"name"`
	// First and Above are the shares of questions in which its fix stands first though it is
	// not the best, or above the best, by outcomes of it so far: none, one, two, ...
	First  []float64 `json:"first"`
	Above  []float64 `json:"above"`
	Worlds []int     `json:"worlds"` // that came so far
	// Sessions is how many it took on average to so many outcomes.
	Sessions []float64 `json:"sessions"`
}

const (
	poisonOutcomes  = 5
	poisonQuestions = 20
)

// poisonKinds are where the lesson sits, with and without honest lessons beside it.
var poisonKinds = []struct {
	name    string
	options simulate.Options
}{
	{"a fix of its own that gains nothing", simulate.Options{Poison: simulate.PoisonOwn}},
	{"the same, among honest lessons", simulate.Options{Poison: simulate.PoisonOwn, Lessons: true}},
	{"the worst fix of a rule", simulate.Options{Poison: simulate.PoisonRule}},
}

// poisoned plays worlds with a poisoned lesson, and asks after each outcome of its fix.
func (l *Lab) poisoned(ctx context.Context, o LabOptions) error {
	worlds := (o.Worlds + 3) / 4 // each is asked as often as four others
	for _, kind := range poisonKinds {
		results, err := parallel(ctx, worlds, func(i int) []poisonStation {
			return drink(simulate.New(o.Seed+uint64(i), kind.options), o.Poisoned)
		})
		if err != nil {
			return err
		}
		l.Poison = append(l.Poison, sumPoison(kind.name, results))
	}
	return nil
}

// poisonStation is how things stand after so many outcomes.
type poisonStation struct{ first, above, asked, sessions int }

func drink(w *simulate.World, most int) []poisonStation {
	r := model.New()
	var stations []poisonStation
	outcomes, sessions := 0, 0
	for {
		if outcomes >= len(stations) {
			stations = append(stations, askPoison(w, r, sessions))
		}
		if len(stations) > poisonOutcomes || sessions >= most {
			return stations
		}
		sessions++
		for _, a := range simulate.Play(w, r, 1)[0].Attempts {
			if simulate.Poisoned(a.Expected.Candidate) {
				outcomes++
			}
		}
	}
}

func askPoison(w *simulate.World, r model.Ranker, sessions int) poisonStation {
	s := poisonStation{sessions: sessions}
	for _, step := range simulate.Examine(w, r, poisonQuestions) {
		if step.Place < 0 || step.Poison == step.Best { // it may be the best by accident
			continue
		}
		s.asked++
		if step.Place == 0 {
			s.first++
		}
		if !step.Below {
			s.above++
		}
	}
	return s
}

func sumPoison(name string, results [][]poisonStation) LabPoison {
	p := LabPoison{Name: name}
	for n := range poisonOutcomes + 1 {
		var sum poisonStation
		worlds := 0
		for _, stations := range results {
			if n < len(stations) {
				s := stations[n]
				sum = poisonStation{sum.first + s.first, sum.above + s.above, sum.asked + s.asked, sum.sessions + s.sessions}
				worlds++
			}
		}
		p.Worlds = append(p.Worlds, worlds)
		p.First = append(p.First, ratio(sum.first, sum.asked))
		p.Above = append(p.Above, ratio(sum.above, sum.asked))
		p.Sessions = append(p.Sessions, ratio(sum.sessions, worlds))
	}
	return p
}

func ratio(n, of int) float64 {
	if of == 0 {
		return 0
	}
	return float64(n) / float64(of)
}

// LabForecast is how often the interval of a forecast held what came, by how many sessions
// it was made from.
type LabForecast struct {
	From    int     `json:"from"` // sessions at least
	To      int     `json:"to"`   // and at most
	Minutes float64 `json:"minutes"`
	Speedup float64 `json:"speedup"`
	Number  int     `json:"number"` // forecasts of minutes
}

// labBases are the histories that forecasts are made from.
var labBases = [][]int{{1, 2, 3, 4}, {5, 6, 7, 8, 9}, {10, 15, 20, 30, 40}, {50, 75, 100, 150, 199}}

// forecast asks of teams of which the next session is known.
func (l *Lab) forecast(ctx context.Context, o LabOptions) error {
	const sessions = 200
	type counts struct{ minutes, speedup, speedups, all int }
	results, err := parallel(ctx, o.Teams, func(i int) []counts {
		past := simulate.Pasts(o.Seed+uint64(i), sessions)
		list := make([]counts, len(labBases))
		for group, bases := range labBases {
			c := &list[group]
			for _, n := range bases {
				outlook, came := model.Forecast(past[:n]), past[n]
				c.all++
				if held(outlook.Minutes, came.Minutes) {
					c.minutes++
				}
				if came.Speedup == 0 {
					continue
				}
				if c.speedups++; held(outlook.Speedup, came.Speedup) {
					c.speedup++
				}
			}
		}
		return list
	})
	if err != nil {
		return err
	}
	for group, bases := range labBases {
		var sum counts
		for _, r := range results {
			c := r[group]
			sum = counts{sum.minutes + c.minutes, sum.speedup + c.speedup, sum.speedups + c.speedups, sum.all + c.all}
		}
		l.Forecasts = append(l.Forecasts, LabForecast{
			From: bases[0], To: bases[len(bases)-1], Number: sum.all,
			Minutes: ratio(sum.minutes, sum.all), Speedup: ratio(sum.speedup, sum.speedups),
		})
	}
	return nil
}

func held(r model.Range, came float64) bool { return r.Low <= came && came <= r.High }
