package demo

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// run yields the reports commit by commit: those of its pull request, then those of the default branch.
func (y *year) run(yield func(*client.Report) bool) {
	r := y.chance(3)
	for n := range y.commits {
		y.commits[n].Title, y.commits[n].Author = y.titled(n)
	}
	for n := range y.commits {

		if r.IntN(3) > 0 {
			m, suite := &machines[r.IntN(2)], []string{"attention", "blocks"}[r.IntN(2)]
			if !yield(y.report(r, n, m, suite, true)) {
				return
			}
		}
		for i := range machines {
			for _, suite := range machines[i].suites {
				if r.IntN(40) == 0 { // a night on which a machine is missing
					continue
				}
				if !yield(y.report(r, n, &machines[i], suite, false)) {
					return
				}
			}
		}
	}
}

// historyLength is the number of parents that a report lists.
const historyLength = 20

// report returns one run of a suite on a machine: of a commit, or of the pull request that became it.
func (y *year) report(r *rand.Rand, n int, m *machine, suite string, pull bool) *client.Report {
	c := y.commits[n]
	began := c.At.Add(time.Duration(4+r.IntN(40)) * time.Minute)
	rep := &client.Report{
		Schema: client.SchemaReport, Pawl: "0.8.0", Suite: suite, Commit: c.Commit, Branch: "main",
		Trust: measure.Checked, Device: m.device, Testbed: m.bed,
	}
	if m.bed.Kind == "cpu" {
		rep.Trust = measure.Trusted
	}
	if pull {
		at := c.At.Add(-time.Duration(30+r.IntN(600)) * time.Minute)
		began = at.Add(9 * time.Minute)
		rep.Pull, rep.Branch = c.pull, fmt.Sprintf("%s/change-%d", c.Author, c.pull)
		rep.Commit = client.Commit{SHA: sha(c.SHA + "pull"), Parent: c.Parent, At: &at, Author: c.Author, Title: c.Title}
		if c.fork {
			rep.Trust = measure.SelfTimed
		}
	}
	for i := n - 1; i >= 0 && len(rep.History) < historyLength; i-- {
		rep.History = append(rep.History, y.commits[i].Commit)
	}
	rep.Measured = began
	rep.Run = ulid(began, r)
	y.measure(r, rep, n, m)
	return rep
}

// measure adds the points of a report, and the health of the machine.
func (y *year) measure(r *rand.Rand, rep *client.Report, n int, m *machine) {
	slow, disturbed := 1.0, 1.0
	for _, p := range y.plants {
		if p.kind == Machine && p.device == m.name && n >= p.first {
			slow = 1 + p.change
		}
		if p.kind == Outliers && p.device == m.name && r.IntN(60) == 0 {
			disturbed = 1 + p.change*(0.4+r.Float64())
		}
	}
	flip := func() bool { return r.IntN(5) < 2 }
	for _, k := range y.cases {
		if k.machine == m && k.suite == rep.Suite {
			rep.Points = append(rep.Points, y.point(r, rep, n, k, flip, disturbed))
		}
	}
	rep.Health = m.health(r, rep, slow, disturbed)
	rep.Verdict, rep.Sentence = worstVerdict(rep.Points)
}

func (y *year) point(r *rand.Rand, rep *client.Report, n int, k *machineCase, flip func() bool, disturbed float64) client.Point {
	level := y.level(k, n, flip)
	spread := k.noise * (0.6 + 0.9*r.Float64())
	value := level * disturbed * math.Exp(k.noise*r.NormFloat64())
	half := value * spread * 0.9
	p := client.Point{
		CaseKey: k.CaseKey, Unit: "ns", Timer: k.timer, Path: k.path,
		Value: value, Low: value - half*(0.8+0.4*r.Float64()), High: value + half*(0.8+0.4*r.Float64()),
		Spread: spread, Rounds: 10 + 2*r.IntN(4), Baseline: k.best, Verdict: ratchet.Maintained,
	}
	p.Samples = p.Rounds * 30
	if k.owner != "" {
		p.Owners = []string{k.owner}
	}
	before := y.level(k, max(n-1, 0), func() bool { return false })
	after := y.level(k, n, func() bool { return false })
	switch change := after/before - 1; {
	case change >= 0.05:
		p.Verdict = ratchet.Regression
	case change <= -0.05:
		p.Verdict = ratchet.Improvement
	case r.IntN(400) == 0:
		p.Verdict = ratchet.Inconclusive
	}
	if rep.Pull == 0 && (k.best == 0 || after < k.best*0.98) {
		k.best, p.Moved = value, true
	}
	return p
}

// health returns the health of the machine. A card with new firmware runs slower and warmer.
func (m *machine) health(r *rand.Rand, rep *client.Report, slow, disturbed float64) client.Health {
	var noise float64
	for _, p := range rep.Points {
		noise += p.Spread / float64(len(rep.Points))
	}
	season := 3 * math.Sin(2*math.Pi*(float64(rep.Measured.YearDay())-110)/365)
	h := client.Health{
		TemperatureC: math.Round(m.temperature + season + 220*(slow-1) + 1.5*r.NormFloat64()), SMClockMHz: math.Round(m.clock/slow/15) * 15,
		MemoryClockMHz: m.memory, PowerW: math.Round(10*(m.power+r.NormFloat64()*1.2)) / 10, Load1: math.Round(100*(0.6+0.3*r.Float64())) / 100,
		Calibration: math.Round(m.calibration * slow * disturbed * math.Exp(m.noise/2*r.NormFloat64())),
		Noise:       noise, Seconds: float64(150 + r.IntN(160)),
	}
	if m.power == 0 {
		h.PowerW = 0
	}
	if disturbed > 1 {
		h.Load1, h.Dropped, h.Noise = 11.4, 3, noise*3
	}
	if slow > 1 {
		h.Reasons = []string{"software power cap", "software thermal slowdown"}
	}
	h.Dollars = math.Round(h.Seconds/3600*m.price*1e4) / 1e4
	return h
}

// worstVerdict returns the worst verdict of the points, and a sentence about it.
func worstVerdict(points []client.Point) (ratchet.Verdict, string) {
	count := map[ratchet.Verdict]int{}
	for _, p := range points {
		count[p.Verdict]++
	}
	switch {
	case count[ratchet.Regression] > 0:
		return ratchet.Regression, fmt.Sprintf("%d of %d cases are slower than the base by 5 %% or more.", count[ratchet.Regression], len(points))
	case count[ratchet.Improvement] > 0:
		return ratchet.Improvement, fmt.Sprintf("%d of %d cases are faster than the base.", count[ratchet.Improvement], len(points))
	default:
		return ratchet.Maintained, "No case is worse by 5 % or more."
	}
}

// ulid generates the name of a run from its time and random bits.
func ulid(at time.Time, r *rand.Rand) string {
	const letters = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	var b [26]byte
	ms := uint64(at.UnixMilli())
	for i := 9; i >= 0; i-- {
		b[i] = letters[ms&31]
		ms >>= 5
	}
	for i := 10; i < 26; i++ {
		b[i] = letters[r.IntN(32)]
	}
	return string(b[:])
}
