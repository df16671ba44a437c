package commits

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"testing"
)

// history is a row of commits with a judge that knows the truth.
type history struct {
	times   []float64      // time of each commit, relative to the first
	skipped map[int]bool   // commits that cannot be measured
	other   map[int]string // case that got slower by another commit
	judged  int
}

func (h *history) commits() []string {
	var list []string
	for i := range h.times {
		list = append(list, fmt.Sprintf("c%d", i))
	}
	return list
}

// judge calls 3 % or more slower.
func (h *history) judge(_ context.Context, commit, base string, cases []string) (Step, error) {
	h.judged++
	c, b := number(commit), number(base)
	if h.skipped[c] || h.skipped[b] {
		return Step{Answer: Skipped, Why: "it does not build", Rounds: 0}, nil
	}
	s := Step{Answer: Fine, Rounds: 8}
	if change := h.times[c]/h.times[b] - 1; change >= 0.03 && (cases == nil || slices.Contains(cases, "matmul")) {
		s.Slower = append(s.Slower, Case{"matmul", change, change - 0.01, change + 0.01})
	}
	for at, name := range h.other {
		if b < at && at <= c && (cases == nil || slices.Contains(cases, name)) {
			s.Slower = append(s.Slower, Case{name, 0.031, 0.03, 0.04})
		}
	}
	if len(s.Slower) > 0 {
		s.Answer = Slower
	}
	return s, nil
}

func number(commit string) int {
	n, err := strconv.Atoi(commit[1:])
	if err != nil {
		panic(err)
	}
	return n
}

func (h *history) search() Search {
	return Search{Commits: h.commits(), Judge: h.judge, Began: func(Step, string) {}, Ended: func(Step) error { return nil }}
}

// step returns n commits of which those from culprit on take 5 % more time.
func slowedAt(n, culprit int) *history {
	h := &history{times: make([]float64, n)}
	for i := range h.times {
		h.times[i] = 1
		if i >= culprit {
			h.times[i] = 1.05
		}
	}
	return h
}

func TestSearch(t *testing.T) {
	sum := &history{times: []float64{1, 1.01, 1.02, 1.03, 1.04, 1.05, 1.06, 1.07}}
	skips := slowedAt(9, 5)
	skips.skipped = map[int]bool{4: true}
	between := slowedAt(9, 5)
	between.skipped = map[int]bool{5: true}
	two := slowedAt(9, 5)
	two.other = map[int]string{5: "softmax", 7: "sum"}
	unbuilt := slowedAt(4, 2)
	unbuilt.skipped = map[int]bool{3: true}
	for _, test := range []struct {
		name    string
		history *history
		want    Result
	}{
		{"one step", slowedAt(2, 1), Result{Culprit: "c1", Certain: true, Good: "c0", Suspect: []string{"c1"}}},
		{"in the middle", slowedAt(9, 5), Result{Culprit: "c5", Certain: true, Good: "c4", Suspect: []string{"c5"}}},
		{"a commit before it cannot be measured", skips, Result{Good: "c3", Suspect: []string{"c4", "c5"}, Why: "the commits between could not be measured"}},
		{"the commit itself cannot be measured", between, Result{Good: "c4", Suspect: []string{"c5", "c6"}, Why: "the commits between could not be measured"}},
		{"several cases", two, Result{Culprit: "c5", Certain: true, Good: "c4", Suspect: []string{"c5"}, Also: []string{"softmax"}, Other: []string{"sum"}}},
		{"the sum of many", sum, Result{Culprit: "c3", Good: "c2", Suspect: []string{"c3"}, Why: "in fresh rounds it is not slower than its parent: the slowdown may be the sum of several commits"}},
		{"not slower", slowedAt(9, 99), Result{Why: "the last commit is not slower than the good one"}},
		{"no answer", unbuilt, Result{Why: "the last commit has no answer beside the good one: it does not build"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := test.history.search().Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if test.want.Good != "" {
				test.want.Case = "matmul"
			}
			got.Steps, got.Rounds, got.Slower = nil, 0, nil
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("got  %+v\nwant %+v", got, test.want)
			}
		})
	}
}

// Whatever can be measured, the culprit is among the suspects, none of those left could still be measured, and the number
// of gates is the logarithm of the number of commits.
func TestSearch_AlwaysNamesTheCulprit(t *testing.T) {
	rng := rand.New(rand.NewPCG(23, 6))
	for range 2000 {
		n := 2 + rng.IntN(100)
		culprit := 1 + rng.IntN(n-1)
		h := slowedAt(n, culprit)
		h.skipped = map[int]bool{}
		for i := 1; i < n-1; i++ {
			h.skipped[i] = rng.Float64() < 0.1*float64(rng.IntN(3))
		}
		r, err := h.search().Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprintf("c%d", culprit)
		if !slices.Contains(r.Suspect, name) || r.Slower == nil {
			t.Fatalf("of %d commits %s is not among the suspects %v", n, name, r.Suspect)
		}
		for _, c := range r.Suspect[:len(r.Suspect)-1] {
			if !h.skipped[number(c)] {
				t.Errorf("%s could be measured and is still suspect", c)
			}
		}
		if skips := len(slices.Collect(valuesTrue(h.skipped))); skips == 0 && h.judged > Gates(n-1) {
			t.Errorf("%d gates for %d commits, want at most %d", h.judged, n-1, Gates(n-1))
		}
	}
}

func valuesTrue(m map[int]bool) func(func(int) bool) {
	return func(yield func(int) bool) {
		for k, v := range m {
			if v && !yield(k) {
				return
			}
		}
	}
}

// A search that is stopped after any step goes on there, and says the same as one that was not.
func TestSearch_GoesOn(t *testing.T) {
	whole, err := slowedAt(65, 41).search().Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for stop := range whole.Steps {
		h := slowedAt(65, 41)
		s := h.search()
		var kept []Step
		s.Ended = func(step Step) error {
			if kept = append(kept, step); len(kept) > stop {
				return errors.New("stopped")
			}
			return nil
		}
		if _, err := s.Run(t.Context()); err == nil {
			t.Fatal("the search did not stop")
		}
		again := h.search()
		again.Known = kept
		got, err := again.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, whole) {
			t.Errorf("stopped after %d steps: %+v, want %+v", stop+1, got, whole)
		}
		if h.judged != len(whole.Steps) {
			t.Errorf("stopped after %d steps: %d gates in all, want %d", stop+1, h.judged, len(whole.Steps))
		}
	}
}
