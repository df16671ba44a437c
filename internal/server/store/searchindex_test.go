package store

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The steps of a search find every series that has all terms, in id order and each once, however few entries a step reads.
func TestOverlap_FindsWhatAllTermsHave(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 4).Draw(t, "size")
		most := rapid.SampledFrom([]int64{5, 40, 400}).Draw(t, "ids up to")
		words := rapid.SliceOfN(rapid.Int64Range(1, most), 0, 40)
		terms := rapid.SliceOfN(rapid.SliceOfN(words, 1, 3), 1, 3).Draw(t, "terms")
		var want []int64
		for id := int64(1); id <= most; id++ {
			if !slices.ContainsFunc(terms, func(lists [][]int64) bool { return !slices.Contains(slices.Concat(lists...), id) }) {
				want = append(want, id)
			}
		}
		var got []int64
		for above := int64(0); above != math.MaxInt64; {
			parts := make([]part, len(terms))
			for i, lists := range terms {
				parts[i] = joined(cutLists(lists, above, size), size)
			}
			ids, end := overlap(parts)
			if end <= above || len(ids) > 0 && ids[len(ids)-1] > end {
				t.Fatalf("above %d a step finds %d up to %d", above, ids, end)
			}
			got, above = append(got, ids...), end
		}
		for i, id := range got {
			if i > 0 && id <= got[i-1] {
				t.Fatalf("%d after %d", id, got[i-1])
			}
		}
		for _, id := range want {
			if !slices.Contains(got, id) {
				t.Fatalf("%d is not found: %d", id, got)
			}
		}
	})
}

// cutLists returns what the index has of lists above an id, at most so many of each.
func cutLists(lists [][]int64, above int64, size int) [][]int64 {
	var all [][]int64
	for _, list := range lists {
		list = slices.Compact(slices.Sorted(slices.Values(list)))
		list = list[len(upTo(list, above)):]
		all = append(all, list[:min(size, len(list))])
	}
	return all
}

// A term beside which another is rare costs no more steps than that one.
func TestOverlap_SkipsToTheRareTerm(t *testing.T) {
	common := make([]int64, 10)
	for i := range common {
		common[i] = int64(i + 1)
	}
	ids, end := overlap([]part{{common, 10}, {[]int64{500, 900}, math.MaxInt64}})
	if ids != nil || end != 499 {
		t.Errorf("%d up to %d", ids, end)
	}
	for i := range common {
		common[i] += 499
	}
	ids, end = overlap([]part{{common, 509}, {[]int64{500, 900}, math.MaxInt64}})
	if !slices.Equal(ids, []int64{500, 900}) || end != math.MaxInt64 {
		t.Errorf("%d up to %d", ids, end)
	}
}
