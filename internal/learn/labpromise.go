package learn

import "fmt"

// LabPromise is a figure that is asked for, and whether it holds.
type LabPromise struct {
	What     string  `json:"what"`
	Limit    string  `json:"limit"`
	Measured float64 `json:"measured"`
	Holds    bool    `json:"holds"`
}

// Broken is how many do not hold.
func (l *Lab) Broken() int {
	n := 0
	for _, p := range l.Promises {
		if !p.Holds {
			n++
		}
	}
	return n
}

// promise judges the figures.
func (l *Lab) promise() {
	byName := map[string]LabRanker{}
	for _, r := range l.Rankers {
		byName[r.Name] = r
	}
	m, p, mean := byName["model"], byName["priors"], byName["running mean"]
	atLeast := func(what string, limit, measured float64) {
		l.Promises = append(l.Promises, LabPromise{what, fmt.Sprintf("at least %s", percent(limit)), measured, measured >= limit})
	}
	const low, high = 0.75, 0.85 // of what an interval of 80 % should hold
	covers := func(what string, measured float64) {
		l.Promises = append(l.Promises, LabPromise{what, fmt.Sprintf("%s to %s", percent(low), percent(high)), measured, low <= measured && measured <= high})
	}
	for i, after := range l.After {
		switch after {
		case 10:
			atLeast("the first recommendation is the best, after 10 sessions", 0.70, m.Scores[i].Right)
		case 50:
			atLeast("the first recommendation is the best, after 50 sessions", 0.85, m.Scores[i].Right)
		}
	}
	if n := len(l.After) - 1; n >= 0 {
		atLeast("model over priors, points at the end", 0, m.Scores[n].Right-p.Scores[n].Right)
		atLeast("model over running mean, points at the end", 0, m.Scores[n].Right-mean.Scores[n].Right)
		covers("true gains inside the interval of 80 %, all candidates", m.Scores[n].Coverage)
	}
	covers("true gains inside the interval of 80 %, what was tried", m.Played.Coverage)
	for _, poison := range l.Poison {
		above := poison.Above[len(poison.Above)-1]
		l.Promises = append(l.Promises, LabPromise{
			fmt.Sprintf("poisoned lesson for %s above the best fix after %d outcomes", poison.Name, poisonOutcomes), "at most 5 %", above, above <= 0.05,
		})
	}
	var minutes, speedup, n float64
	for _, f := range l.Forecasts {
		minutes, speedup, n = minutes+f.Minutes*float64(f.Number), speedup+f.Speedup*float64(f.Number), n+float64(f.Number)
	}
	if n > 0 {
		covers("minutes of the next session inside the interval of 80 %", minutes/n)
		covers("speed-up of the next session inside the interval of 80 %", speedup/n)
	}
}

func percent(v float64) string { return fmt.Sprintf("%.1f %%", 100*v) }
