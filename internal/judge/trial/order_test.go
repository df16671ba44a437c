package trial

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Over whole blocks every side stands in every position equally often, and
// follows every other side equally often inside a round.
func TestOrdersAreBalanced(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(2, 9).Draw(t, "sides")
		blocks := rapid.IntRange(1, 4).Draw(t, "blocks")
		o := newOrders(k, rapid.Uint64().Draw(t, "seed"))
		rounds := blocks * Block(k)
		position := map[[2]int]int{}
		behind := map[[2]int]int{}
		for range rounds {
			row := o.next()
			if sorted := slices.Sorted(slices.Values(row)); sorted[0] != 0 || sorted[k-1] != k-1 || len(slices.Compact(sorted)) != k {
				t.Fatalf("%v does not name every side once", row)
			}
			for i, side := range row {
				position[[2]int{side, i}]++
				if i > 0 {
					behind[[2]int{row[i-1], side}]++
				}
			}
		}
		for side := range k {
			for other := range k {
				if n := position[[2]int{side, other}]; n != rounds/k {
					t.Fatalf("side %d stands %d times in position %d, want %d", side, n, other, rounds/k)
				}
				if n := behind[[2]int{side, other}]; side != other && n != rounds/k {
					t.Fatalf("side %d stands %d times behind %d, want %d", other, n, side, rounds/k)
				}
			}
		}
	})
}

func TestTwoSidesAlternate(t *testing.T) {
	starts := map[string]int{}
	for seed := range uint64(200) {
		o := newOrders(2, seed)
		a, b := fmt.Sprint(o.next()), fmt.Sprint(o.next())
		if a == b {
			t.Fatalf("seed %d: both rounds of a block run %s", seed, a)
		}
		starts[a]++
	}
	if starts["[0 1]"] < 60 || starts["[1 0]"] < 60 {
		t.Errorf("who begins is not left to chance: %v", starts)
	}
}

func TestOrderIsReproducible(t *testing.T) {
	a, b := newOrders(3, 42), newOrders(3, 42)
	for range 20 {
		if !slices.Equal(a.next(), b.next()) {
			t.Fatal("one seed, two orders")
		}
	}
	if roundSeed(42, 1) == roundSeed(42, 2) || roundSeed(42, 1) == roundSeed(43, 1) {
		t.Error("rounds share a seed")
	}
}
