package trial

import (
	"slices"
	"testing"

	"github.com/goatnote-inc/pawl/measure"
)

func TestCoreUse_OneThread(t *testing.T) {
	for name, tt := range map[string]struct {
		running          []int // threads in each reading
		timed            timed
		unfit            bool
		known, oneThread bool
	}{
		"nothing read":           {},
		"only idle":              {running: slices.Repeat([]int{0}, 100)},
		"too few readings":       {running: slices.Repeat([]int{1}, 19)},
		"one thread":             {running: slices.Repeat([]int{1}, 20), known: true, oneThread: true},
		"several once":           {running: append(slices.Repeat([]int{1}, 19), 2), known: true, oneThread: true},
		"several twice":          {running: append(slices.Repeat([]int{1}, 18), 2, 3), known: true},
		"waits most of the time": {running: slices.Concat(slices.Repeat([]int{0}, 100), slices.Repeat([]int{1}, 18), []int{4, 4}), known: true},
		"Python spins at first":  {running: slices.Repeat([]int{2}, 20), timed: timed{Alone: 0.2, Others: 0.01}, known: true, oneThread: true},
		"Python has threads":     {running: slices.Repeat([]int{1}, 20), timed: timed{Alone: 0.2, Others: 0.011}, known: true},
		"Python waits":           {running: slices.Repeat([]int{2}, 20), timed: timed{Alone: 0.01}, known: true},
		"chose its own cores":    {running: slices.Repeat([]int{1}, 20), unfit: true, known: true},
	} {
		t.Run(name, func(t *testing.T) {
			u := coreUse{unfit: tt.unfit, timed: tt.timed}
			for _, n := range tt.running {
				u.add(n)
			}
			if u.known() != tt.known || u.oneThread() != tt.oneThread {
				t.Errorf("known %v, one thread %v", u.known(), u.oneThread())
			}
		})
	}
}

func TestCoreUse_Changes(t *testing.T) {
	cases := func(names ...string) (list []measure.Case) {
		for _, n := range names {
			list = append(list, measure.Case{CaseKey: measure.CaseKey{Benchmark: n}})
		}
		return list
	}
	u := coreUse{}
	if u.changes(cases("a", "b")) || u.changes(cases("a", "b-2")) {
		t.Error("a run on all cores says which cases there are")
	}
	u.bound = true
	if u.changes(cases("b-2", "a")) || u.unfit {
		t.Error("the order of cases does not matter")
	}
	if !u.changes(cases("a", "b")) || !u.unfit {
		t.Error("b-2 is gone on one core")
	}
}
