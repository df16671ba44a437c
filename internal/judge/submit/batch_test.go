package submit

import (
	"fmt"
	"testing"
)

// Of a batch every candidate gets its own answer, in the order of submission. Few are judged in full.
func TestSubmitBatch(t *testing.T) {
	g := newGrant(t, Terms{})
	var list []Submission
	add := func(kernel string) {
		list = append(list, Submission{Over: folder(t, map[string]string{"kernel.c": kernel})})
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
	if sum > 6 || *answers[3].Left != 0 { // ending a process takes time, too
		t.Errorf("%v s: %+v", sum, answers)
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
