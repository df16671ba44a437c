package report

import (
	"cmp"
	"fmt"
	"math"
	"strings"
)

// Describe describes the plot in words.
func (r *Roofline) Describe() string {
	var parts []string
	var limits []string
	for _, c := range r.Memory {
		limits = append(limits, c.Name+" "+si(c.Value, "B/s"))
	}
	for _, c := range r.Compute {
		text := c.Name + " " + si(c.Value, "FLOP/s")
		if ridge := r.Ridge(c); ridge > 0 {
			text += " from " + short(ridge) + " FLOP/byte on"
		}
		limits = append(limits, text)
	}
	head := "Roofline"
	if r.Device != "" {
		head += " of " + r.Device
	}
	if len(limits) > 0 {
		head += ": " + strings.Join(limits, ", ")
	}
	parts = append(parts, head+".")
	for i := 0; i < len(r.Points); {
		sides := r.sidesAt(i)
		var said []string
		for _, p := range r.Points[i : i+sides] {
			said = append(said, r.describePoint(p))
		}
		parts = append(parts, fmt.Sprintf("%s: %s.", cmp.Or(r.Points[i].Name, "kernel"), strings.Join(said, ", then ")))
		i += sides
	}
	return strings.Join(append(parts, r.Remarks()...), " ")
}

// sidesAt returns the number of points of the case that starts at point i.
func (r *Roofline) sidesAt(i int) int {
	for _, a := range r.Arrows {
		if a.From == i {
			return 1 + r.sidesAt(a.To)
		}
	}
	return 1
}

func (r *Roofline) describePoint(p RoofPoint) string {
	text := fmt.Sprintf("%s at %s FLOP/byte", si(p.FlopsPerSecond, "FLOP/s"), short(p.Intensity))
	if p.Side != "" {
		text = p.Side + " " + text
	}
	if most := r.Attainable(p); most > 0 {
		text += fmt.Sprintf(" (%s of the attainable %s, limited by %s)", share(p.FlopsPerSecond/most), si(most, "FLOP/s"), r.limitedBy(p))
	}
	return text
}

func (r *Roofline) limitedBy(p RoofPoint) string {
	if len(r.Memory) > 0 && (len(r.Compute) == 0 || r.Memory[0].Value*p.Intensity < r.peak(p.Under).Value) {
		return r.Memory[0].Name
	}
	return r.peak(p.Under).Name
}

// Rows returns the points as a table with a header row.
func (r *Roofline) Rows() [][]string {
	rows := [][]string{{"case", "side", "FLOP/byte", "speed", "of the roof", "limited by"}}
	for _, p := range r.Points {
		row := []string{p.Name, p.Side, short(p.Intensity), si(p.FlopsPerSecond, "FLOP/s"), "", ""}
		if most := r.Attainable(p); most > 0 {
			row[4], row[5] = share(p.FlopsPerSecond/most), r.limitedBy(p)
		}
		rows = append(rows, row)
	}
	return rows
}

// share formats a fraction as a percentage, with more digits if it is small.
func share(v float64) string {
	switch {
	case v >= 0.1:
		return fmt.Sprintf("%.0f %%", 100*v)
	case v >= 0.001:
		return fmt.Sprintf("%.1f %%", 100*v)
	default:
		return "less than 0.1 %"
	}
}

// si formats a number with three digits and a unit prefix: "30.3 TFLOP/s".
func si(v float64, unit string) string {
	prefixes := []string{"", "k", "M", "G", "T", "P", "E"}
	i := 0
	for math.Abs(v) >= 999.5 && i < len(prefixes)-1 {
		v /= 1000
		i++
	}
	return short(v) + " " + prefixes[i] + unit
}

// short formats a number with at most three digits.
func short(v float64) string {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return "0"
	}
	decimals := 2 - int(math.Floor(math.Log10(math.Abs(v))))
	text := fmt.Sprintf("%.*f", min(max(decimals, 0), 6), v)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}
