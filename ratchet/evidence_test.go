package ratchet_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goatnote-inc/pawl/ratchet"
)

// The judge pairs rounds by their index: neither a round that one side lacks nor the
// order in which sides are listed may change anything.
func TestRoundsArePairedByIndex(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rounds := rapid.IntRange(3, 20).Draw(t, "rounds")
		e := made{name: "k", rounds: rounds, effect: 0.05, spread: 0.01}.evidence(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1)))
		lacks := rapid.SliceOfN(rapid.IntRange(0, rounds-1), 0, rounds/2).Draw(t, "rounds without a base")
		both := e // with the pairs only
		isLacking := func(r ratchet.Round) bool { return slices.Contains(lacks, r.Index) }
		both.Base = slices.DeleteFunc(slices.Clone(e.Base), isLacking)
		both.Candidate = slices.DeleteFunc(slices.Clone(e.Candidate), isLacking)
		torn := e // with candidates that have no base, the bases in another order
		torn.Base = slices.Clone(both.Base)
		slices.Reverse(torn.Base)
		want := ratchet.Judge(ratchet.Default(), []ratchet.Evidence{both})
		got := ratchet.Judge(ratchet.Default(), []ratchet.Evidence{torn})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}
