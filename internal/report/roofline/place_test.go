package roofline

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/goatnote-inc/pawl/internal/base/chart"
)

// However the points of 30 cases lie, no label covers another, and none leaves the plot.
func TestLabelsDoNotCollide(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := placer{within: rect{0, 0, 500, 340}}
		var points []chart.Point
		for range 30 {
			at := chart.At(rapid.Float64Range(10, 490).Draw(t, "x"), rapid.Float64Range(10, 330).Draw(t, "y"))
			points = append(points, at)
			p.block(rect{at.X - 4, at.Y - 4, 8, 8})
		}
		p.avoid(chart.At(0, 340), chart.At(500, 0), roofCost)
		for i, at := range points {
			before := len(p.taken)
			box, ok := p.put(at, 13, 12)
			if !ok {
				t.Fatalf("no room for the label of point %d", i)
			}
			if !p.within.holds(box) {
				t.Fatalf("%v leaves the plot", box)
			}
			for _, other := range p.taken[:before] {
				if box.overlaps(other) {
					t.Fatalf("%v covers %v", box, other)
				}
			}
		}
	})
}

func TestRectCrossedBy(t *testing.T) {
	box := rect{10, 10, 10, 10}
	for _, tt := range []struct {
		from, to chart.Point
		want     bool
	}{
		{chart.At(0, 15), chart.At(30, 15), true},
		{chart.At(15, 0), chart.At(15, 30), true},
		{chart.At(0, 0), chart.At(30, 30), true},
		{chart.At(12, 12), chart.At(13, 13), true},
		{chart.At(0, 0), chart.At(9, 9), false},
		{chart.At(0, 25), chart.At(30, 25), false},
		{chart.At(0, 22), chart.At(8, 0), false},
	} {
		if got := box.crossedBy(tt.from, tt.to); got != tt.want {
			t.Errorf("%v to %v: %v", tt.from, tt.to, got)
		}
	}
}
