package model

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// history1000 is a model that has seen 1,000 outcomes of 60 fixes, and what is offered next.
func history1000() (*Model, []Candidate) {
	r := rand.New(rand.NewPCG(1, 1))
	m := New()
	for range 1000 {
		k := r.IntN(250)
		m.Learn(Outcome{
			Key:    Key{fmt.Sprint("fix", r.IntN(60)), fmt.Sprint("class", k%6), fmt.Sprint("sm_", k%4)},
			Kernel: fmt.Sprint(k), Gain: 0.1 + 0.1*r.NormFloat64(), Error: 0.02, Prior: 0.05 + 0.2*r.Float64(),
		})
	}
	var list []Candidate
	for i := range 60 {
		list = append(list, Candidate{Key: Key{fmt.Sprint("fix", i), "class1", "sm_1"}, Kernel: "1", Prior: 0.05 + 0.2*r.Float64()})
	}
	return m, list
}

func BenchmarkRank(b *testing.B) {
	m, list := history1000()
	m.Rank(list)
	for b.Loop() {
		m.Rank(list)
	}
}

func BenchmarkLearnThenRank(b *testing.B) {
	m, list := history1000()
	for b.Loop() {
		m.fit = nil
		m.Rank(list)
	}
}
