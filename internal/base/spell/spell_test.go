package spell

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestNearest(t *testing.T) {
	known := []string{"samples", "warmup", "rounds", "timer", "cache", "B", "S"}
	for _, tt := range []struct{ word, want string }{
		{"sample", "samples"},
		{"sam" + "pels", "samples"}, // neighbours swapped count once
		{"Samples", "samples"},
		{"SAMPLES", "samples"},
		{"warm_up", "warmup"},
		{"b", "B"},
		{"C", ""}, // as far from B as from S
		{"times", "timer"},
		{"frequency", ""},
		{"", ""},
		{strings.Repeat("s", 5000), ""},
	} {
		if got := Nearest(tt.word, known); got != tt.want {
			t.Errorf("Nearest(%q) = %q, want %q", tt.word, got, tt.want)
		}
	}
}

func TestNearestFindsOneTypo(t *testing.T) {
	known := []string{"implementations", "benchmarks", "persistence", "price_per_hour"}
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SampledFrom(known).Draw(t, "word")
		at := rapid.IntRange(0, len(word)-1).Draw(t, "at")
		typo := word[:at] + word[at+1:]
		if got := Nearest(typo, known); got != word {
			t.Fatalf("Nearest(%q) = %q, want %q", typo, got, word)
		}
	})
}

func TestDistanceIsAMetric(t *testing.T) {
	word := rapid.StringMatching(`[a-c]{0,6}`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := word.Draw(t, "a"), word.Draw(t, "b")
		d := distance(a, b)
		if d != distance(b, a) {
			t.Fatalf("distance(%q, %q) is not symmetric", a, b)
		}
		if (d == 0) != (a == b) {
			t.Fatalf("distance(%q, %q) = %d", a, b, d)
		}
	})
}
