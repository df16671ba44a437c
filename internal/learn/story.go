package learn

import (
	"math"
	"slices"

	"github.com/goatnote-inc/pawl/internal/learn/model"
	"github.com/goatnote-inc/pawl/stats"
)

// Story is what sessions come to, one after the other.
type Story struct {
	Sessions []Tale  `json:"sessions"` // by their start
	Totals   Totals  `json:"totals"`
	Trends   []Trend `json:"trends,omitempty"` // what changed from the first sessions to the last
	// Forecasts are what was expected of sessions against what they took and reached, Gains
	// what was expected of fixes against what was measured.
	Forecasts Forecasts `json:"forecasts"`
	Gains     Gains     `json:"gains"`
	// Next is what to expect of the session that comes.
	Next     model.Outlook `json:"next"`
	Problems []string      `json:"problems,omitempty"` // journals that could not be read
}

// Totals are sums over sessions.
type Totals struct {
	Sessions  int                `json:"sessions"`
	Minutes   float64            `json:"minutes"`
	Dollars   float64            `json:"dollars"`
	Attempts  int                `json:"attempts"`
	Wrong     int                `json:"wrong_optimisations"`
	Stops     int                `json:"stops"`
	Overrides int                `json:"overrides"`
	Phases    map[string]float64 `json:"minutes_by_phase"`
	Outcomes  map[string]int     `json:"outcomes"`
}

// Tie makes a story of tales, which it puts in order.
func Tie(tales []Tale) *Story {
	s := &Story{Sessions: append([]Tale{}, tales...)} // programs read a list, also of none
	slices.SortStableFunc(s.Sessions, func(a, b Tale) int { return a.Began.Compare(b.Began) })
	s.Totals = total(s.Sessions)
	s.Trends = trends(s.Sessions)
	past := pasts(s.Sessions)
	s.Forecasts = forecasts(s.Sessions, past)
	s.Gains = gains(s.Sessions)
	s.Next = model.Forecast(recent(past))
	return s
}

func total(tales []Tale) Totals {
	t := Totals{Sessions: len(tales), Phases: map[string]float64{}, Outcomes: map[string]int{}}
	for i := range tales {
		tale := &tales[i]
		t.Minutes += tale.Minutes
		t.Dollars += tale.Dollars
		t.Attempts += len(tale.Tries)
		t.Wrong += tale.Wrong
		t.Stops += tale.Stops
		t.Overrides += tale.Overrides
		for _, span := range tale.Spans {
			t.Phases[span.Phase] += span.Minutes
		}
		if tale.Open {
			t.Outcomes["open"]++
		} else {
			t.Outcomes[string(tale.Outcome)]++
		}
	}
	return t
}

// pasts are the sessions that ended, as forecasts see them.
func pasts(tales []Tale) []model.Past {
	list := make([]model.Past, 0, len(tales))
	for i := range tales {
		if tales[i].Open {
			continue
		}
		list = append(list, model.Past{Minutes: tales[i].Minutes, Speedup: tales[i].gained()})
	}
	return list
}

// gained is how many times as fast the kernel is at the end as at the start; 0 where
// nothing was measured.
func (t *Tale) gained() float64 {
	switch {
	case t.Gain != nil:
		return math.Exp(*t.Gain)
	case t.Start > 0 || t.Speedup > 0: // measured once: nothing was gained
		return 1
	default:
		return 0
	}
}

// Trend is how a quantity of the first sessions compares with that of the last.
type Trend struct {
	What   string  `json:"what"`
	Unit   string  `json:"unit"`
	First  float64 `json:"first"` // median over the first sessions that have it
	Last   float64 `json:"last"`
	Number int     `json:"number"` // of sessions on each side
}

// trendMost is how many sessions stand at each end at most; fewer than two say nothing.
const trendMost = 5

// trends compares the first sessions with the last. A third stands at each end, so that no
// session is on both sides.
func trends(tales []Tale) []Trend {
	var list []Trend
	for _, q := range []struct {
		what, unit string
		of         func(*Tale) (float64, bool)
	}{
		{"length of a session", "min", func(t *Tale) (float64, bool) { return t.Minutes, !t.Open }},
		{"to a working build", "min", func(t *Tale) (float64, bool) { return known(t.Build) }},
		{"to the reference", "min", func(t *Tale) (float64, bool) { return known(t.Reference) }},
		{"to the bottleneck", "min", func(t *Tale) (float64, bool) { return known(t.Bottleneck) }},
		{"wrong optimisations", "", func(t *Tale) (float64, bool) { return float64(t.Wrong), !t.Open }},
		{"speed-up at the end", "x", func(t *Tale) (float64, bool) { return t.Speedup, t.Speedup > 0 }},
		{"cost", "$", func(t *Tale) (float64, bool) { return t.Dollars, t.Dollars > 0 }},
	} {
		var values []float64
		for i := range tales {
			if v, ok := q.of(&tales[i]); ok {
				values = append(values, v)
			}
		}
		n := min(len(values)/3, trendMost)
		if n < 2 {
			continue
		}
		list = append(list, Trend{q.what, q.unit, stats.Median(values[:n]), stats.Median(values[len(values)-n:]), n})
	}
	return list
}

func known(v *float64) (float64, bool) {
	if v == nil {
		return 0, false
	}
	return *v, true
}
