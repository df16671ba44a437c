package submit

import (
	"slices"
	"strings"
	"testing"
)

// history writes attempts with these answers, without running anything.
func history(t *testing.T, answers ...Answer) *Grant {
	t.Helper()
	g := &Grant{Folder: t.TempDir()}
	for _, a := range answers {
		attempt, err := g.newAttempt()
		if err != nil {
			t.Fatal(err)
		}
		attempt.Record = Record{Stage: Full, Note: "note " + attempt.ID, Commit: "c" + attempt.ID}
		a.ID = attempt.ID
		diff := "diff --git a/k.c b/k.c\nindex 1..2 100644\n--- a/k.c\n+++ b/k.c\n@@ -1,2 +1,2 @@\n same\n-old\n+new " + attempt.ID + "\n"
		for _, err := range []error{attempt.write(diffFile, []byte(diff)), attempt.writeJSON(submissionFile, attempt.Record), attempt.writeJSON(answerFile, a.bounded())} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	return g
}

func measured(speedup, low, high number) Answer {
	return Answer{Status: Measured, Stage: Full, Verdict: "improvement", Speedup: speedup, Range: &bounds{low, high}, Cost: 2}
}

// The lucky winner of a short race does not lead, and what was not measured comes last.
func TestHistory_BestFirst(t *testing.T) {
	t.Parallel()
	g := history(t, measured(1.2, 1.19, 1.21), Answer{Status: Wrong, Cost: 1}, measured(1.5, 0.9, 2.2), measured(1.3, 1.28, 1.32), measured(0.8, 0.7, 0.9))
	h, err := g.History(0, 10)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, a := range h.Attempts {
		ids = append(ids, a.ID)
	}
	if want := []string{"4", "1", "3", "5", "2"}; !slices.Equal(ids, want) || h.Best != "4" || h.BestSpeedup != 1.3 || h.Total != 5 || h.Spent != 9 {
		t.Errorf("%v, want %v; %+v", ids, want, h)
	}
	if a := h.Attempts[0]; a.Note != "note 4" || a.Diff != "k.c\n-old\n+new 4" {
		t.Errorf("%+v", a)
	}
	for skip, want := range map[int]struct{ count, next int }{0: {2, 2}, 2: {2, 4}, 4: {1, 0}, 9: {0, 0}, -1: {2, 2}} {
		if h, err := g.History(skip, 2); err != nil || len(h.Attempts) != want.count || h.Next != want.next || h.Total != 5 {
			t.Errorf("%d: %+v, %v", skip, h, err)
		}
	}
}

func TestNote_StaysWithTheAttempt(t *testing.T) {
	t.Parallel()
	g := history(t, measured(1.2, 1.19, 1.21))
	for _, text := range []string{"replaced", "fits the L2\n" + strings.Repeat("\"", 2*maxNote)} {
		if err := g.Note("1", text); err != nil {
			t.Fatal(err)
		}
	}
	if h, err := g.History(0, 1); err != nil || !strings.HasPrefix(h.Attempts[0].Note, `note 1; fits the L2 """`) || len(h.Attempts[0].Note) > maxHistoryNote {
		t.Errorf("%+v, %v", h, err)
	}
	if err := g.Note("2", "x"); err == nil {
		t.Error("a note on no attempt")
	}
}

func TestHistory_BaseLeadsUntilOneIsSurelyFaster(t *testing.T) {
	t.Parallel()
	g := history(t, measured(1.05, 0.98, 1.12))
	if h, err := g.History(0, 1); err != nil || h.Best != baseID || h.BestSpeedup != 1 {
		t.Errorf("%+v, %v", h, err)
	}
}

// An attempt whose pawl was killed keeps its number and has no answer.
func TestHistory_KilledAttempt(t *testing.T) {
	t.Parallel()
	g := history(t, measured(1.2, 1.19, 1.21))
	a, err := g.newAttempt()
	if err != nil || a.ID != "2" {
		t.Fatalf("%+v, %v", a, err)
	}
	if err := a.writeJSON(submissionFile, Record{Stage: Quick}); err != nil {
		t.Fatal(err)
	}
	h, err := g.History(0, 10)
	if err != nil || len(h.Attempts) != 2 || h.Attempts[1].Status != Running {
		t.Errorf("%+v, %v", h, err)
	}
	for _, id := range []string{"0", "3", "-1", "../1", "1/..", "01"} {
		if _, err := g.attempt(id); err == nil || !strings.Contains(err.Error(), "attempt") {
			t.Errorf("%s: %v", id, err)
		}
	}
}
