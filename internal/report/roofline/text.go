package roofline

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/words"
)

// Describe describes the plot in words.
func (r *Roof) Describe() string {
	var parts []string
	var limits []string
	for _, c := range r.Memory {
		limits = append(limits, c.Name+" "+words.SI(c.Value, "B/s"))
	}
	for _, c := range r.Compute {
		text := c.Name + " " + words.SI(c.Value, "FLOP/s")
		if ridge := r.Ridge(c); ridge > 0 {
			text += " from " + words.Short(ridge) + " FLOP/byte on"
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
	for _, sides := range r.Cases {
		var said []string
		for _, p := range sides {
			said = append(said, r.describePoint(p))
		}
		parts = append(parts, fmt.Sprintf("%s: %s.", cmp.Or(sides[0].Name, "kernel"), strings.Join(said, ", then ")))
	}
	return strings.Join(append(parts, r.Remarks()...), " ")
}

func (r *Roof) describePoint(p Point) string {
	text := fmt.Sprintf("%s at %s FLOP/byte", words.SI(p.FlopsPerSecond, "FLOP/s"), words.Short(p.Intensity))
	if p.Side != "" {
		text = p.Side + " " + text
	}
	if most := r.Attainable(p); most > 0 {
		text += fmt.Sprintf(" (%s of the attainable %s, limited by %s)", share(p.FlopsPerSecond/most), words.SI(most, "FLOP/s"), r.limitedBy(p))
	}
	return text
}

func (r *Roof) limitedBy(p Point) string {
	if len(r.Memory) > 0 && (len(r.Compute) == 0 || r.Memory[0].Value*p.Intensity < r.peak(p.Under).Value) {
		return r.Memory[0].Name
	}
	return r.peak(p.Under).Name
}

// Rows returns the points as a table with a header row.
func (r *Roof) Rows() [][]string {
	rows := [][]string{{"case", "side", "FLOP/byte", "speed", "of the roof", "limited by"}}
	for _, p := range r.points() {
		row := []string{p.Name, p.Side, words.Short(p.Intensity), words.SI(p.FlopsPerSecond, "FLOP/s"), "", ""}
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
