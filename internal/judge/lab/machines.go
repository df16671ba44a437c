package lab

import (
	"context"
	"fmt"
	"slices"
)

// machine is a machine with one kind of noise.
type machine struct {
	name   string
	group  string // machines of a group share the same promise
	change func(*Scene)
}

// The groups of machines.
const (
	independent = "independent rounds"
	wildRounds  = "wild rounds"
	bursts      = "bursts"
	timerSteps  = "timer steps"
	dependent   = "rounds that depend on each other"
	lopsided    = "sides that differ in truth, by chance"
)

// machines are the ones that an independent check of the first edition tried.
var machines = []machine{
	{"Gaussian", independent, func(*Scene) {}},
	{"Student's t, 3 degrees of freedom", independent, func(s *Scene) { s.Shape = T3 }},
	{"two speeds, by round", independent, func(s *Scene) { s.Shape = Bimodal }},
	{"lognormal", independent, func(s *Scene) { s.Shape = Lognormal }},
	{"Pareto 2.2", independent, func(s *Scene) { s.Shape = Pareto }},
	{"the candidate spreads twice as much", independent, func(s *Scene) { s.Unequal = true }},
	{"drift of 10 % over 32 rounds", independent, func(s *Scene) { s.Drift = 0.10 }},
	{"4 % of rounds wild", wildRounds, func(s *Scene) { s.Wild = 0.04 }},
	{"bursts of 30 %", bursts, func(s *Scene) { s.Bursts = true }},
	{"timer step of 1.7 %", timerSteps, func(s *Scene) { s.Step = 0.017 * s.Value }},
	{"timer step of 5 %", timerSteps, func(s *Scene) { s.Step = 0.05 * s.Value }},
	{"resembles the round before by 0.3", dependent, func(s *Scene) { s.Linger = 0.3 }},
	{"resembles the round before by 0.6", dependent, func(s *Scene) { s.Linger = 0.6 }},
	{"a side's speed lasts for some rounds", dependent, func(s *Scene) { s.Shape = Sticky }},
	{"each side wanders", dependent, func(s *Scene) { s.Wander = 0.25 }},
	{"each side has its own chance of the slow speed", lopsided, func(s *Scene) { s.Shape = SideModes }},
}

// machineNoise measures methods on all kinds of machine noise, with a seed on which nothing was tuned.
func (l *judgeLab) machineNoise(ctx context.Context) error {
	for _, m := range machines {
		for _, spread := range []float64{typical, noisy} {
			quiet := NewScene(Gaussian, spread, 0)
			m.change(&quiet)
			knows := knownTestbed(l.policy, quiet, l.Seed, max(1, l.machines/500))
			for _, effect := range []float64{0, 0.03, 0.05} {
				s := quiet
				s.Effect = effect
				methods := []Method{paired(l.policy), knows, firstEdition(), threshold(10), benchstat}
				if m.name == "Gaussian" {
					methods = append(methods, waldTest(l.policy, spread))
				}
				if err := l.scene(ctx, Machines, m.name, s, l.machines, methods); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// onMachine returns the row of a method on a machine.
func (r *Report) onMachine(name, method string, spread, effect float64) (Row, bool) {
	i := slices.IndexFunc(r.Rows, func(row Row) bool {
		return row.Corpus == Machines && row.Note == name && row.Method == method && row.Spread == spread && row.Effect == effect
	})
	if i < 0 {
		return Row{}, false
	}
	return r.Rows[i], true
}

// promise is what is promised on every machine of a group. A zero field promises nothing, except falsely,
// which always limits the false claims.
type promise struct {
	group, method                    string
	spread                           float64
	falsely, abstains, found, rounds float64
}

var promises = []promise{
	{independent, onUnknown, typical, 0.0005, 0.005, 0.999, 8.5},
	{independent, onUnknown, noisy, 0.001, 0.01, 0.99, 15},
	{wildRounds, onUnknown, typical, 0.0005, 0.025, 0.995, 0},
	{wildRounds, onUnknown, noisy, 0.001, 0.05, 0.98, 0},
	{bursts, onUnknown, typical, 0.0005, 0.20, 0.70, 0},
	{bursts, onUnknown, noisy, 0.001, 0.20, 0.70, 0},
	{timerSteps, onUnknown, typical, 0, 0, 0, 0},
	{timerSteps, onUnknown, noisy, 0.001, 0, 0, 0},
	{dependent, onUnknown, typical, 0.001, 0, 0, 0},
	{dependent, onUnknown, noisy, 0.005, 0, 0, 0},
	{dependent, onKnown, typical, 0.001, 0, 0.90, 0},
	{dependent, onKnown, noisy, 0.005, 0, 0.70, 0},
}

// machineClaims returns the promises with the result on the worst machine of each group. Machines whose
// rounds depend on each other are listed one by one.
func machineClaims(r *Report) []Claim {
	var list []Claim
	for _, p := range promises {
		var group []machine
		for _, m := range machines {
			if m.group != p.group {
				continue
			}
			if group = append(group, m); m.group == dependent {
				list = append(list, p.claims(r, m.name, group)...)
				group = nil
			}
		}
		list = append(list, p.claims(r, p.group, group)...)
	}
	return list
}

func (p promise) claims(r *Report, name string, group []machine) []Claim {
	var falsely, abstains, found *Rate
	var rounds float64
	worst := func(was **Rate, count, trials int, least bool) {
		if now := NewRate(count, trials); *was == nil || least && now.Value < (*was).Value || !least && now.Value > (*was).Value {
			*was = &now
		}
	}
	for _, m := range group {
		same, ok := r.onMachine(m.name, p.method, p.spread, 0)
		slow, also := r.onMachine(m.name, p.method, p.spread, 0.05)
		if !ok || !also {
			return nil
		}
		worst(&falsely, same.Regression+same.Improvement, same.Trials, false)
		worst(&abstains, same.Abstains, same.Trials, false)
		worst(&found, slow.Regression, slow.Trials, true)
		rounds = max(rounds, same.MeanRounds())
	}
	if falsely == nil {
		return nil
	}
	at := fmt.Sprintf("%s, %s, %s", name, percent(p.spread), p.method)
	list := []Claim{{Text: at + ": false claims", Limit: p.falsely, Value: falsely.Value, Rate: falsely, Unit: "%"}}
	if p.abstains > 0 {
		list = append(list, Claim{Text: at + ": no answer on same code", Limit: p.abstains, Value: abstains.Value, Rate: abstains, Unit: "%"})
	}
	if p.found > 0 {
		list = append(list, Claim{Text: at + ": 5 % slower found", Limit: p.found, Least: true, Value: found.Value, Rate: found, Unit: "%"})
	}
	if p.rounds > 0 {
		list = append(list, Claim{Text: at + ": rounds a side on same code", Limit: p.rounds, Value: rounds, Unit: "rounds"})
	}
	return list
}

// MachineTrials returns the number of comparisons behind each cell of the machine tables.
func (r *Report) MachineTrials() int {
	for _, row := range r.Rows {
		if row.Corpus == Machines {
			return row.Trials
		}
	}
	return 0
}

// MachineTable returns the answers of methods on the machines of a group.
func (r *Report) MachineTable(group string) string {
	t := newTable("noise", "spread", "method", "same code: regression", "improvement", "no answer", "rounds", "3 %: maintained", "5 %: found", "rounds")
	for _, m := range machines {
		if m.group != group {
			continue
		}
		for _, row := range r.Rows {
			if row.Corpus != Machines || row.Note != m.name || row.Effect != 0 {
				continue
			}
			limit, _ := r.onMachine(row.Note, row.Method, row.Spread, 0.03)
			slow, _ := r.onMachine(row.Note, row.Method, row.Spread, 0.05)
			t.row(row.Note, percent(row.Spread), row.Method,
				plainShare(row.Regression, row.Trials), plainShare(row.Improvement, row.Trials), plainShare(row.Abstains, row.Trials), fmt.Sprintf("%.1f", row.MeanRounds()),
				plainShare(limit.Nothing, limit.Trials), plainShare(slow.Regression, slow.Trials), fmt.Sprintf("%.1f", slow.MeanRounds()))
		}
	}
	return t.String()
}

// plainShare formats a rate without its interval: "0.02 %".
func plainShare(count, trials int) string {
	if trials == 0 {
		return ""
	}
	return digits(float64(count)/float64(trials)) + " %"
}
