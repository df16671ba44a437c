package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/report/summary"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/stats"
)

// Figure holds the data to draw for a case: the sample distribution of each side, and its
// rounds.
type Figure struct {
	Unit  string
	Sides []Distribution // the base, the candidate, then references
	// The bins of all sides start at Start and are Step wide.
	Start, Step float64
	Rounds      []RoundPoint
	Hidden      int // rounds not drawn because there are too many
}

// Distribution is the sample histogram of a side. It uses bins, not a smooth curve: a
// coarse timer then shows as a comb, a kernel with two speeds as two peaks.
type Distribution struct {
	Name    string
	Bins    []int
	Samples int
	Median  float64
	Beyond  int     // samples above the last bin
	Max     float64 // of all samples
	Modes   int     // number of modes; 0 if not checked
}

// RoundPoint holds the medians of one round, by side; NaN where a side has none.
type RoundPoint struct {
	Round   int
	Medians []float64
}

// Limits of what a figure shows.
const (
	binsDrawn   = 56
	sidesDrawn  = 4
	roundsDrawn = 64
)

// drawer finds the samples of each case.
type drawer struct {
	series map[string][]sideSeries // by case name, in the order of the sides
}

// sideSeries holds the rounds of one side of a case that count.
type sideSeries struct {
	name   string
	unit   string
	rounds []measure.CaseRound
}

func newDrawer(in Input) *drawer {
	d := &drawer{series: map[string][]sideSeries{}}
	s := in.Sides
	if s.Base == nil && s.Candidate == nil {
		if in.Run == nil {
			return d
		}
		d.add([]*measure.Run{in.Run}, measure.Base, measure.Base)
		d.add([]*measure.Run{in.Run}, measure.Candidate, measure.Candidate)
		for _, i := range in.Run.Implementations {
			if i.Name != measure.Base && i.Name != measure.Candidate {
				d.add([]*measure.Run{in.Run}, i.Name, i.Name)
			}
		}
		return d
	}
	d.add(s.Base, cmp.Or(s.BaseName, measure.Base), measure.Base)
	d.add(s.Candidate, cmp.Or(s.CandidateName, measure.Candidate), measure.Candidate)
	return d
}

// add collects one side from its records. If there are several records, each is a round.
func (d *drawer) add(runs []*measure.Run, implementation, as string) {
	for i, run := range runs {
		dropped := summary.Dropped(run)
		for _, c := range run.Cases {
			if c.Implementation != implementation {
				continue
			}
			list := d.series[c.Name()]
			at := slices.IndexFunc(list, func(s sideSeries) bool { return s.name == as })
			if at < 0 {
				at, list = len(list), append(list, sideSeries{name: as, unit: c.Unit})
			}
			for _, r := range c.Rounds {
				if dropped[r.Round] || r.Error != "" || len(r.Samples) == 0 {
					continue
				}
				if len(runs) > 1 {
					r.Round = i
				}
				list[at].rounds = append(list[at].rounds, r)
			}
			d.series[c.Name()] = list
		}
	}
}

// Figure returns the figure data of a case; nil if there are no samples. It reads every
// sample, so call it only for formats that need it.
func (d *Document) Figure(c Case) *Figure {
	f := d.draw.figure(c.key)
	if f == nil || c.facts == nil {
		return f
	}
	modes := map[string]int{measure.Base: c.facts.Base.Modes, measure.Candidate: c.facts.Now.Modes}
	for i := range f.Sides {
		f.Sides[i].Modes = modes[f.Sides[i].Name]
	}
	return f
}

// figure returns nil if there is nothing to draw.
func (d *drawer) figure(name string) *Figure {
	sides := slices.DeleteFunc(slices.Clone(d.series[name]), func(s sideSeries) bool { return len(s.rounds) == 0 })
	sides = sides[:min(len(sides), sidesDrawn)]
	if len(sides) == 0 {
		return nil
	}
	f := &Figure{Unit: sides[0].unit}
	samples := make([]stats.Sorted, len(sides))
	quantum := 0.0
	for i, s := range sides {
		var parts []stats.Sorted
		for _, r := range s.rounds {
			parts = append(parts, stats.Sort(r.Samples))
			quantum = max(quantum, r.Quantum)
		}
		samples[i] = stats.Merge(parts...)
	}
	bins := f.scale(stats.Merge(samples...), quantum)
	for i, s := range sides {
		f.Sides = append(f.Sides, f.distribution(words.SanitizeTo(s.name, words.NameLength), samples[i], bins))
	}
	f.addRounds(sides)
	return f
}

// scale chooses the bins. The slowest 1 % of samples would compress everything else, so if
// they are far off they are counted, not drawn. Bin widths are whole timer steps: other
// widths would show peaks that do not exist.
func (f *Figure) scale(all stats.Sorted, quantum float64) int {
	low, high := all[0], all[len(all)-1]
	if q := all.Quantile(0.99); high > q+(q-low) {
		high = q
	}
	step := (high - low) / (binsDrawn - 1)
	if !(step > 0) || math.IsInf(step, 0) {
		step = math.Max(quantum, math.Abs(low)/1000)
	}
	if quantum > 0 {
		step = quantum * math.Ceil(step/quantum-1e-9)
	}
	if !(step > 0) || math.IsInf(step, 0) {
		step = 1
	}
	f.Start, f.Step = low-step/2, step
	return min(int((high-f.Start)/step)+1, binsDrawn+1)
}

func (f *Figure) distribution(name string, s stats.Sorted, bins int) Distribution {
	d := Distribution{Name: name, Bins: make([]int, bins), Samples: len(s), Median: s.Median(), Max: s[len(s)-1]}
	for _, v := range s {
		if i := int((v - f.Start) / f.Step); i >= 0 && i < bins {
			d.Bins[i]++
		} else {
			d.Beyond++
		}
	}
	return d
}

func (f *Figure) addRounds(sides []sideSeries) {
	at := map[int]int{}
	for i, s := range sides {
		for _, r := range s.rounds {
			n, ok := at[r.Round]
			if !ok {
				n = len(f.Rounds)
				at[r.Round] = n
				point := RoundPoint{Round: r.Round, Medians: make([]float64, len(sides))}
				for j := range point.Medians {
					point.Medians[j] = math.NaN()
				}
				f.Rounds = append(f.Rounds, point)
			}
			f.Rounds[n].Medians[i] = stats.Median(r.Samples)
		}
	}
	slices.SortStableFunc(f.Rounds, func(a, b RoundPoint) int { return a.Round - b.Round })
	if n := len(f.Rounds); n > roundsDrawn {
		kept := make([]RoundPoint, roundsDrawn)
		for i := range kept {
			kept[i] = f.Rounds[i*(n-1)/(roundsDrawn-1)]
		}
		f.Rounds, f.Hidden = kept, n-roundsDrawn
	}
}

// brief returns the figure with less detail.
func (f *Figure) brief() *Figure {
	if f == nil {
		return nil
	}
	b := *f
	b.Rounds, b.Hidden, b.Step = nil, 0, 2*f.Step
	b.Sides = slices.Clone(f.Sides)
	for i, s := range f.Sides {
		b.Sides[i].Bins = make([]int, (len(s.Bins)+1)/2)
		for j, n := range s.Bins {
			b.Sides[i].Bins[j/2] += n
		}
	}
	return &b
}

// tone returns the color of a side, the same in every figure.
func (f *Figure) tone(side int) int {
	switch f.Sides[side].Name {
	case measure.Base:
		return 0
	case measure.Candidate:
		return 1
	default:
		return 2 + side%2
	}
}

// Describe describes the histogram in words.
func (d Distribution) Describe(unit string) string {
	text := fmt.Sprintf("%s: %s, median %s", d.Name, words.Plural(d.Samples, "sample"), words.Quantity(d.Median, unit))
	if d.Modes > 1 {
		text += fmt.Sprintf(", clustered around %d values", d.Modes)
	}
	if d.Beyond > 0 {
		text += fmt.Sprintf(", %d of them beyond the right edge, up to %s", d.Beyond, words.Quantity(d.Max, unit))
	}
	return text
}

// DescribeSamples returns the text alternative of the distributions.
func (f *Figure) DescribeSamples() string {
	var parts []string
	for _, s := range f.Sides {
		parts = append(parts, s.Describe(f.Unit))
	}
	return "Distribution of the samples. " + strings.Join(parts, "; ") + "."
}

// DescribeRounds returns the text alternative of the rounds.
func (f *Figure) DescribeRounds() string {
	text := fmt.Sprintf("Median of each of %s.", words.Plural(len(f.Rounds)+f.Hidden, "round"))
	if len(f.Sides) < 2 {
		return text
	}
	above, both := 0, 0
	for _, r := range f.Rounds {
		base, now := r.Medians[0], r.Medians[1]
		if math.IsNaN(base) || math.IsNaN(now) {
			continue
		}
		if both++; now > base {
			above++
		}
	}
	return fmt.Sprintf("%s The %s is above the %s in %d of %d.", text, f.Sides[1].Name, f.Sides[0].Name, above, both)
}
