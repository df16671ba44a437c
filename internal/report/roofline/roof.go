// Package roofline compares the speed of kernels with the limits of their device, from
// profiles or from a run record, and draws it. It must not measure or judge.
package roofline

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/explain/diagnose"
	"github.com/goatnote-inc/pawl/internal/report/summary"
	"github.com/goatnote-inc/pawl/measure"
)

// Roof holds kernels under the limits of their device. Without ceilings it has points only.
type Roof struct {
	Device  string
	Memory  []Ceiling // bytes per second; the first is DRAM, which intensity refers to
	Compute []Ceiling // operations per second
	Cases   [][]Point // the sides of each case, the base first
	Notes   []string  // what is not drawn, and the sources of the numbers
}

// Ceiling is a limit of the device.
type Ceiling struct {
	Name  string
	Value float64
}

// Point is one side of a case.
type Point struct {
	Name           string
	Side           string  // empty if there is only one
	Intensity      float64 // operations per byte of DRAM traffic
	FlopsPerSecond float64
	Under          string // name of the compute ceiling that applies
}

// casesDrawn is the max number of cases in a roofline.
const casesDrawn = 30

// Attainable returns the max speed that the device allows at the intensity of a point; 0 if
// no ceiling is known.
func (r *Roof) Attainable(p Point) float64 {
	most := math.Inf(1)
	if len(r.Memory) > 0 {
		most = r.Memory[0].Value * p.Intensity
	}
	if peak := r.peak(p.Under); peak.Value > 0 {
		most = min(most, peak.Value)
	}
	if math.IsInf(most, 1) {
		return 0
	}
	return most
}

// peak returns the ceiling with that name, else the highest; zero if none is known.
func (r *Roof) peak(name string) Ceiling {
	var highest Ceiling
	for _, c := range r.Compute {
		if c.Name == name {
			return c
		}
		if c.Value > highest.Value {
			highest = c
		}
	}
	return highest
}

// Ridge returns the intensity at which a compute ceiling meets the DRAM ceiling; 0 if there
// is none.
func (r *Roof) Ridge(c Ceiling) float64 {
	if len(r.Memory) == 0 {
		return 0
	}
	return c.Value / r.Memory[0].Value
}

// add adds the sides of a case, the base first. It reports whether there is anything to
// draw, and space for it.
func (r *Roof) add(sides []Point) bool {
	sides = slices.DeleteFunc(slices.Clone(sides), func(p Point) bool { return !usable(p.Intensity) || !usable(p.FlopsPerSecond) })
	if len(sides) == 0 || len(r.Cases) == casesDrawn {
		return false
	}
	r.Cases = append(r.Cases, sides)
	return true
}

// points returns the sides of all cases.
func (r *Roof) points() []Point { return slices.Concat(r.Cases...) }

func usable(v float64) bool { return v > 1e-9 && v < 1e21 }

// ceiling adds a ceiling unless it is already there.
func ceiling(list *[]Ceiling, name string, value float64) {
	if usable(value) && !slices.ContainsFunc(*list, func(c Ceiling) bool { return c.Name == name }) {
		*list = append(*list, Ceiling{name, value})
	}
}

// Profiled is a case with the profiles of its sides; Before is nil if only one was profiled.
type Profiled struct {
	Case          string
	Before, After *diagnose.Subject
}

// OfProfiles makes a roofline from profiles. What the profilers did not count comes from
// the suite: see side.go.
func OfProfiles(cases ...Profiled) *Roof {
	r := &Roof{}
	left := 0
	for _, w := range cases {
		name := words.SanitizeTo(w.Case, words.NameLength)
		var sides []Point
		for _, side := range []struct {
			seen *diagnose.Subject
			name string
		}{{w.Before, measure.Base}, {w.After, measure.Candidate}} {
			if side.seen == nil {
				continue
			}
			s := sideOf(*side.seen)
			p := Point{Name: name, Side: side.name, Intensity: s.intensity, FlopsPerSecond: s.rate, Under: ceilingName(s.dtype, cardOf(*side.seen))}
			if w.Before == nil || w.After == nil {
				p.Side = ""
			}
			sides = append(sides, p)
			s.ceilings(r, *side.seen)
			r.Device = cmp.Or(r.Device, deviceName(*side.seen))
		}
		if !r.add(sides) && len(sides) > 0 {
			left++
		}
	}
	r.conclude(left, "their operations, traffic or time are not known")
	return r
}

// OfRun makes a roofline from a record: the work the suite declares and the
// measured time. The ceilings are the card's published figures.
func OfRun(run *measure.Run, wanted func(measure.CaseKey) bool) *Roof {
	r := &Roof{Device: words.SanitizeTo(run.Device.Name, words.NameLength)}
	card, known := gpu.CardFor(run.Device)
	work := map[string]measure.Case{}
	for _, c := range run.Cases {
		if c.Unit == "ns" && wanted(c.CaseKey) {
			work[c.Name()] = c
		}
	}
	left := 0
	for _, s := range summary.Of(run) {
		c, ok := work[s.Name]
		if !ok {
			continue
		}
		dtype := gpu.FP32
		if text, ok := c.Params["dtype"].(string); ok {
			if d, err := gpu.ParseDType(text); err == nil {
				dtype = d
			}
		}
		var sides []Point
		for _, name := range []string{measure.Base, measure.Candidate} { // references are separate cases
			at := slices.IndexFunc(s.Sides, func(side summary.Side) bool { return side.Implementation == name })
			if at < 0 || s.Sides[at].Samples == 0 {
				continue
			}
			p := Point{Name: words.SanitizeTo(s.Name, words.NameLength), Side: name, Under: ceilingName(dtype, card), FlopsPerSecond: s.Sides[at].GFLOPS * 1e9}
			if c.Bytes > 0 {
				p.Intensity = c.Flops / c.Bytes
			}
			sides = append(sides, p)
		}
		if len(sides) == 1 {
			sides[0].Side = ""
		}
		if known {
			ceiling(&r.Compute, ceilingName(dtype, card), card.Peak(dtype).Value*1e12)
			ceiling(&r.Compute, ceilingName(gpu.FP32, card), card.Peak(gpu.FP32).Value*1e12)
			ceiling(&r.Memory, "DRAM", card.BandwidthGBs.Value*1e9)
		}
		if !r.add(sides) {
			left++
		}
	}
	r.Notes = append(r.Notes, "Operations and bytes are as declared in the suite; because of caches, a kernel can lie above the slope.")
	r.conclude(left, "the suite does not declare their flops or bytes, or they have no time")
	return r
}

// conclude sorts the ceilings and notes what is not drawn.
func (r *Roof) conclude(left int, why string) {
	slices.SortStableFunc(r.Compute, func(a, b Ceiling) int { return cmp.Compare(b.Value, a.Value) })
	if left > 0 {
		reason := why
		if len(r.Cases) == casesDrawn {
			reason = fmt.Sprintf("a picture shows at most %d, or %s", casesDrawn, why)
		}
		r.Notes = append(r.Notes, fmt.Sprintf("Not drawn: %s (%s).", words.Plural(left, "case"), reason))
	}
}

// Remarks returns the notes of the roofline, and whether ceilings are missing.
func (r *Roof) Remarks() []string {
	list := slices.Clone(r.Notes)
	if len(r.Cases) > 0 && len(r.Memory)+len(r.Compute) == 0 {
		list = append(list, fmt.Sprintf("No ceiling is known for %s: only the points are drawn.", cmp.Or(r.Device, "this device")))
	}
	return list
}

// Join adds the cases of another roofline of the same device. Shared ceilings stay
// unchanged.
func (r *Roof) Join(o *Roof) {
	r.Device = cmp.Or(r.Device, o.Device)
	for _, c := range o.Memory {
		ceiling(&r.Memory, c.Name, c.Value)
	}
	for _, c := range o.Compute {
		ceiling(&r.Compute, c.Name, c.Value)
	}
	left := 0
	for _, sides := range o.Cases {
		if !r.add(sides) {
			left++
		}
	}
	for _, note := range o.Notes {
		if !slices.Contains(r.Notes, note) {
			r.Notes = append(r.Notes, note)
		}
	}
	r.conclude(left, "the picture is full")
}
