package chart

import (
	"testing"

	"pgregory.net/rapid"
)

// Text is laid out with pawl's own fonts: all three must be there, and a wider text be wider.
func TestTextWidth(t *testing.T) {
	for kind := range fontKind(3) {
		one, two := textWidth(kind, 10, "m"), textWidth(kind, 10, "mm")
		if one < 5 || one > 12 || two < 1.9*one || two > 2.1*one {
			t.Errorf("font %d: %v and %v", kind, one, two)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text, most := rapid.String().Draw(t, "text"), rapid.Float64Range(8, 200).Draw(t, "most")
		for _, line := range append(Lines(LargeText, text, most, 3), elide(bold, LargeText, text, most), cutEnd(LargeText, text, most)) {
			if w := textWidth(regular, LargeText, line); w > most*1.25+LargeText {
				t.Fatalf("%q is %v wide, of %v", line, w, most)
			}
		}
		if n := len(Lines(LargeText, text, most, 3)); n > 3 {
			t.Fatalf("%d lines", n)
		}
	})
}
