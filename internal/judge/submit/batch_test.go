package submit

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// Of a batch every candidate gets its own answer, in the order of submission. Few are judged in full.
func TestSubmitBatch(t *testing.T) {
	g := newGrant(t, Terms{})
	var list []Submission
	add := func(kernel string) {
		list = append(list, Submission{Over: folder(t, map[string]string{"kernel.c": kernel}), Budget: 600}) // a busy machine is no reason to fail
	}
	for i := range 3 {
		add(fmt.Sprintf("/* %d */ %s", i, baseKernel))
	}
	add(kernelOf("c[0] = d[0];"))
	add(fastKernel)
	add(kernelOf(each + "c[i] = a[i] * b[i];"))
	add(kernelOf("fork();"))
	answers, err := g.SubmitBatch(t.Context(), list)
	if err != nil {
		t.Fatal(err)
	}
	full := 0
	for i, want := range []Status{Measured, Measured, Measured, CompileError, Measured, Wrong, Rejected} {
		a := answers[i]
		if a.Status != want || a.ID != fmt.Sprint(i+1) || (a.Status == Measured) != (a.Speedup > 0) || a.Best != answers[0].Best {
			t.Errorf("%+v, want status %s", a, want)
		}
		if a.Status == Measured && a.Stage == Full {
			full++
		}
	}
	if full != finalists {
		t.Errorf("%d candidates were judged in full, want %d", full, finalists)
	}
	kept, err := g.Attempts()
	if err != nil || len(kept) != len(list) {
		t.Errorf("%d attempts, %v", len(kept), err)
	}
}

// Together the candidates of a batch take no more than what is left for all attempts.
func TestSubmitBatch_StaysWithinTheBudget(t *testing.T) {
	g := newGrant(t, Terms{Budget: 2})
	var list []Submission
	for i := range 4 {
		list = append(list, Submission{Stage: Smoke, Over: folder(t, map[string]string{"kernel.c": kernelOf(fmt.Sprintf("for (volatile int i = %d;; i++);", i))})})
	}
	answers, err := g.SubmitBatch(t.Context(), list)
	if err != nil {
		t.Fatal(err)
	}
	var sum number
	for _, a := range answers {
		sum += a.Cost
	}
	if left := max(0, 2-float64(sum)); sum > 6 || math.Abs(float64(*answers[3].Left)-left) > 0.01 { // ending a process takes time, too
		t.Errorf("%v s: %+v", sum, answers)
	}
}

// A finalist that turns out to be wrong does not end a batch: the next one of the race takes its place.
func TestConfirm_PromotesTheNext(t *testing.T) {
	t.Parallel()
	tests := []struct {
		race, final, want string // a letter per candidate, best of the race first
	}{
		{"__mmm", "mmmmm", "01"},
		{"__mmm", "wmmmm", "012"},
		{"__mmm", "wcwmm", "01234"},
		{"__wmm", "wwmmm", "0134"},
		{"__www", "wwmmm", "01"},
		{"_", "m", "0"},
	}
	status := map[byte]Status{'_': "", 'm': Measured, 'w': Wrong, 'c': Crashed}
	for _, test := range tests {
		b, judged := batch{}, ""
		for i := range test.race {
			b.jobs = append(b.jobs, &job{answer: Answer{ID: fmt.Sprint(i), Status: status[test.race[i]]}})
		}
		b.confirm(func(j *job) {
			judged += j.answer.ID
			j.answer.Status = status[test.final[slices.Index(b.jobs, j)]]
		})
		if judged != test.want {
			t.Errorf("%s then %s: judged %s, want %s", test.race, test.final, judged, test.want)
		}
	}
}

func TestSubmitBatch_Size(t *testing.T) {
	t.Parallel()
	g := history(t)
	for _, n := range []int{0, MaxBatch + 1} {
		if _, err := g.SubmitBatch(t.Context(), make([]Submission, n)); err == nil {
			t.Errorf("a batch of %d was accepted", n)
		}
	}
}
