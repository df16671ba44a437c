package report

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// However the points of 30 cases lie, no label covers another, and none leaves the plot.
func TestLabelsDoNotCollide(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := placer{within: rect{0, 0, 500, 340}}
		var points []point
		for range 30 {
			at := point{rapid.Float64Range(10, 490).Draw(t, "x"), rapid.Float64Range(10, 330).Draw(t, "y")}
			points = append(points, at)
			p.block(rect{at.x - 4, at.y - 4, 8, 8})
		}
		p.avoid(point{0, 340}, point{500, 0}, roofCost)
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
		from, to point
		want     bool
	}{
		{point{0, 15}, point{30, 15}, true},
		{point{15, 0}, point{15, 30}, true},
		{point{0, 0}, point{30, 30}, true},
		{point{12, 12}, point{13, 13}, true},
		{point{0, 0}, point{9, 9}, false},
		{point{0, 25}, point{30, 25}, false},
		{point{0, 22}, point{8, 0}, false},
	} {
		if got := box.crossedBy(tt.from, tt.to); got != tt.want {
			t.Errorf("%v to %v: %v", tt.from, tt.to, got)
		}
	}
}

// Text is laid out with pawl's own fonts: all three must be there, and a wider text be wider.
func TestTextWidth(t *testing.T) {
	for kind := range faceKind(3) {
		one, two := textWidth(kind, 10, "m"), textWidth(kind, 10, "mm")
		if one < 5 || one > 12 || two < 1.9*one || two > 2.1*one {
			t.Errorf("font %d: %v and %v", kind, one, two)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text, most := rapid.String().Draw(t, "text"), rapid.Float64Range(8, 200).Draw(t, "most")
		for _, line := range append(lines(em, text, most, 3), elideMiddleAt(bold, em, text, most), cutEnd(mono, em, text, most)) {
			for _, kind := range []faceKind{regular} {
				if w := textWidth(kind, em, line); w > most*1.25+em {
					t.Fatalf("%q is %v wide, of %v", line, w, most)
				}
			}
		}
		if n := len(lines(em, text, most, 3)); n > 3 {
			t.Fatalf("%d lines", n)
		}
	})
}

func TestWrappedCode(t *testing.T) {
	width := 20 * textWidth(mono, codeSize, "m")
	got := wrappedCode([]string{"short", "    for (int i = 0; i < n; ++i) x += a[i];", strings.Repeat("w", 45)}, width+1)
	want := []string{
		"short", "    for (int i = 0;", "        i < n; ++i)", "        x += a[i];",
		strings.Repeat("w", 20), "    " + strings.Repeat("w", 16), "    " + strings.Repeat("w", 9),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestAsSentence(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "keep it": "Keep it.", "Keep it.": "Keep it.", "__ldg reads": "__ldg reads.", "float4 loads": "float4 loads.", "why not?": "Why not?", "a": "A.", "\xff": "\xff.",
	} {
		if got := asSentence(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
