package learn

import (
	"math"

	"github.com/goatnote-inc/pawl/internal/learn/journal"
	"github.com/goatnote-inc/pawl/internal/learn/model"
)

// Forecasts are forecasts against outcomes.
type Forecasts struct {
	Minutes []Against `json:"minutes,omitempty"`
	Speedup []Against `json:"speedup,omitempty"`
	// Inside is the share of all of them whose interval held what came; it should be 80 %.
	Inside float64 `json:"inside"`
	Number int     `json:"number"`
	Later  int     `json:"later"` // of them, made afterwards from the sessions before
}

// Against is one thing that was expected, and what came.
type Against struct {
	Session  string  `json:"session"`
	Fix      string  `json:"fix,omitempty"`
	Expected float64 `json:"expected"`
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
	Came     float64 `json:"came"`
	Error    float64 `json:"error,omitempty"` // standard error of what came
	Inside   bool    `json:"inside"`
	// Later says that it was not made then but now, from what was known then.
	Later bool `json:"later,omitempty"`
}

// forecastMost is how many of the newest sessions are asked what would have been forecast
// for them: those say how good forecasts are now.
const forecastMost = 50

// pastMost is how many sessions a forecast looks back: who worked so long ago, worked in
// another way.
const pastMost = 200

// recent are the last of them.
func recent(past []model.Past) []model.Past { return past[max(0, len(past)-pastMost):] }

// forecasts sets what was expected of each session against what came. Where nobody asked
// at its start, it is asked now, of the sessions before it only.
func forecasts(tales []Tale, past []model.Past) Forecasts {
	var f Forecasts
	before := 0 // sessions that ended before
	oldest := max(1, len(past)-forecastMost)
	for i := range tales {
		tale := &tales[i]
		if tale.Open {
			continue
		}
		switch {
		case tale.Forecast != nil:
			f.add(tale, ranged(tale.Forecast.Minutes), ranged(tale.Forecast.Speedup), false)
		case before >= oldest:
			outlook := model.Forecast(recent(past[:before]))
			f.add(tale, outlook.Minutes, outlook.Speedup, true)
		}
		before++
	}
	f.Inside = share(f.Minutes, f.Speedup)
	f.Number = len(f.Minutes) + len(f.Speedup)
	return f
}

func ranged(r journal.Range) model.Range {
	return model.Range{Value: r.Value, Low: r.Low, High: r.High}
}

func (f *Forecasts) add(t *Tale, minutes, speedup model.Range, later bool) {
	set := func(list *[]Against, r model.Range, came float64) {
		if r.High <= 0 || came <= 0 {
			return
		}
		*list = append(*list, Against{
			Session: t.ID, Expected: r.Value, Low: r.Low, High: r.High, Came: came,
			Inside: r.Low <= came && came <= r.High, Later: later,
		})
		if later {
			f.Later++
		}
	}
	set(&f.Minutes, minutes, t.Minutes)
	set(&f.Speedup, speedup, t.gained())
}

// share is the part of expectations whose interval held what came.
func share(lists ...[]Against) float64 {
	inside, all := 0, 0
	for _, list := range lists {
		for _, a := range list {
			if all++; a.Inside {
				inside++
			}
		}
	}
	if all == 0 {
		return 0
	}
	return float64(inside) / float64(all)
}

// Gains are gains that were expected of fixes against those that were measured.
type Gains struct {
	Fixes  []Against `json:"fixes,omitempty"` // gains as logarithms of before over after
	Inside float64   `json:"inside"`          // share inside the interval, the noise of measuring taken in; it should be 80 %
	// Bias is the mean of what came over what was expected: below 0 where too much was
	// expected.
	Bias float64 `json:"bias"`
}

const (
	gainsMost = 400 // newest outcomes that are judged
	refits    = 12  // times that the model is asked anew at most
)

// named is an attempt of which somebody noted what it tried.
type named struct {
	session string
	try     *Try
}

// gains asks the model of each attempt before it learns of it. With many attempts it is
// asked in blocks, each from what came before the block.
func gains(tales []Tale) Gains {
	var all []named
	for i := range tales {
		for j := range tales[i].Tries {
			if t := &tales[i].Tries[j]; t.fix() != "" && t.Correct {
				all = append(all, named{tales[i].ID, t})
			}
		}
	}
	all = all[max(0, len(all)-gainsMost):]
	var g Gains
	ranker := newRanker()
	block := 1 + len(all)/refits
	for start := 0; start < len(all); start += block {
		part := all[start:min(start+block, len(all))]
		for _, n := range part {
			g.Fixes = append(g.Fixes, against(ranker, n))
		}
		for _, n := range part {
			ranker.Learn(outcome(n.try))
		}
	}
	g.Inside = share(g.Fixes)
	for _, a := range g.Fixes {
		g.Bias += (a.Came - a.Expected) / float64(len(g.Fixes))
	}
	return g
}

func against(ranker model.Ranker, n named) Against {
	t := n.try
	r := ranker.Rank([]model.Candidate{{Key: keyOf(t), Kernel: t.Kernel, Prior: t.Prior}})[0]
	// The interval is about the true gain; what is measured has its noise on top.
	noise := tenPercent * t.Error
	low, high := r.Gain-math.Hypot(r.Gain-r.Low, noise), r.Gain+math.Hypot(r.High-r.Gain, noise)
	return Against{
		Session: n.session, Fix: t.fix(), Expected: r.Gain, Low: low, High: high, Came: t.Gain, Error: t.Error,
		Inside: low <= t.Gain && t.Gain <= high, Later: true,
	}
}

// tenPercent is how many standard errors from the middle a tenth of a normal distribution
// begins.
const tenPercent = 1.2816

func keyOf(t *Try) model.Key { return model.Key{Fix: t.fix(), Class: t.Class, GPU: t.GPU} }

func outcome(t *Try) model.Outcome {
	return model.Outcome{Key: keyOf(t), Kernel: t.Kernel, Gain: t.Gain, Error: t.Error, Prior: t.Prior}
}
