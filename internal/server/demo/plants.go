package demo

import (
	"math"
	"slices"
)

// plantedChange is a change at some time of the year, for part of the cases.
type plantedChange struct {
	kind   Kind
	at     float64 // as a fraction of the year
	until  float64 // end of a drift
	first  int     // commits
	last   int
	bench  []string // nil means all
	device string   // empty means all
	config string   // empty means all
	change float64  // as a fraction
	title  string   // of its commit
	author string
}

// plants returns the changes of every year; their positions depend on its length.
func plants(commits int) []plantedChange {
	list := []plantedChange{
		{kind: Step, at: 0.09, bench: []string{"matmul"}, change: -0.14, title: "matmul: copy asynchronously, three stages", author: "wren"},
		{kind: Step, at: 0.17, bench: []string{"softmax"}, device: l4, change: 0.065, title: "softmax: handle rows of one", author: "tomas"},
		{kind: Drift, at: 0.47, until: 0.78, bench: []string{"rms_norm"}, device: h100, change: 0.08},
		{kind: Step, at: 0.28, bench: []string{"flash_fwd", "flash_bwd"}, change: -0.09, title: "attention: exponentials in base two", author: "ada"},
		{kind: Machine, at: 0.41, device: l4, change: 0.045},
		{kind: Step, at: 0.47, bench: []string{"softmax"}, device: l4, change: -0.06, title: "softmax: two rows a block again", author: "tomas"},
		{kind: Step, at: 0.58, bench: []string{"decode"}, change: -0.11, title: "decode: pages of 64", author: "kofi"},
		{kind: Step, at: 0.66, bench: []string{"flash_fwd"}, config: "B1_H32_S8192_D128", change: 0.12, title: "attention: mask by blocks", author: "noor"},
		{kind: TwoSpeeds, bench: []string{"transpose"}, device: cpu, change: 0.09},
		{kind: Step, at: 0.8, bench: []string{"reduce"}, change: -0.2, title: "reduce: shuffle instead of shared memory", author: "lin"},
		{kind: Step, at: 0.975, bench: []string{"matmul"}, device: h100, change: 0.085, title: "build: update the compiler to 12.9", author: "lin"},
		{kind: Step, at: 0.982, bench: []string{"rope"}, change: 0.031, title: "rope: tables in constant memory", author: "ada"},
		{kind: Step, at: 0.987, bench: []string{"decode"}, device: l4, change: -0.072, title: "decode: split the heads", author: "kofi"},
		{kind: Outliers, device: cpu, change: 0.35},
	}
	for i := range list {
		list[i].first = min(int(list[i].at*float64(commits)), commits-1)
		list[i].last = min(int(list[i].until*float64(commits)), commits-1)
	}
	return list
}

func (p *plantedChange) in(k *machineCase) bool {
	return (p.device == "" || p.device == k.machine.name) && (p.bench == nil || slices.Contains(p.bench, k.name)) && (p.config == "" || p.config == k.Config)
}

// level returns the time of a case at a commit, without noise. flip decides the speed of a card with two
// speeds.
func (y *year) level(k *machineCase, commit int, flip func() bool) float64 {
	v := k.level
	for i := range y.plants {
		p := &y.plants[i]
		if !p.in(k) || commit < p.first {
			continue
		}
		switch p.kind {
		case Step, Machine:
			v *= 1 + p.change
		case Drift:
			done := min(1, float64(commit-p.first)/float64(max(p.last-p.first, 1)))
			v *= math.Pow(1+p.change, done)
		case TwoSpeeds:
			if flip() {
				v *= 1 + p.change
			}
		case Outliers: // affects a run, not a level
		}
	}
	return v
}

// titled gives commits that caused a change a matching title.
func (y *year) titled(n int) (title, author string) {
	title, author = y.commits[n].Title, y.commits[n].Author
	for _, p := range y.plants {
		if p.first == n && p.title != "" {
			title, author = p.title, p.author
		}
	}
	return title, author
}

func (y *year) truth() []Planted {
	var list []Planted
	for _, p := range y.plants {
		out := Planted{Kind: p.kind, Device: p.device, Change: p.change}
		if len(p.bench) > 0 {
			out.Name = p.bench[0]
		}
		if p.kind != Outliers {
			out.Commit, out.At = y.commits[p.first].SHA, *y.commits[p.first].At
		}
		for _, k := range y.cases {
			if p.in(k) && !slices.Contains(out.Cases, k.Name()) {
				out.Cases = append(out.Cases, k.Name())
				out.Suite = k.suite
			}
		}
		if len(out.Cases) > 0 {
			list = append(list, out)
		}
	}
	slices.SortStableFunc(list, func(a, b Planted) int { return a.At.Compare(b.At) })
	return list
}
