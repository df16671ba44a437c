package github

import (
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/judge/ledger"
)

func (w *world) pushEvent(before, after string) event {
	return event{"ref": "refs/heads/main", "before": before, "after": after, "repository": w.repository()}
}

// baselines is what the ledger on its branch says, a line an entry.
func (w *world) baselines() []string {
	w.Helper()
	state, err := mustOpen(w).Read(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	var list []string
	for _, e := range state.Entries {
		list = append(list, string(e.Kind)+" "+e.Case+" "+e.Commit)
	}
	return list
}

func mustOpen(w *world) *ledger.Ledger {
	w.Helper()
	l, err := ledger.Open(w.Context(), ledger.Location{Dir: w.dir, Branch: ledger.DefaultBranch, Remote: "origin"})
	if err != nil {
		w.Fatal(err)
	}
	return l
}

// What is merged is measured again, and a confirmed gain moves the baseline on its branch.
// The job that measures cannot write; the job that writes runs no kernel.
func TestAGainMovesTheBaseline(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := w.git("rev-parse", "HEAD")
	w.slow(200)
	slow := w.commit("slow at first")
	w.push("main")
	w.wantJobs(w.act("pawl-ratchet", "push", w.github.Token, w.pushEvent(before, slow)), "touched, measure, move")
	if got := strings.Join(w.baselines(), "\n"); got != "measured "+w.name+" "+slow {
		t.Fatalf("the first baseline is %q", got)
	}
	w.git("fetch", "--quiet", "origin")
	w.git("checkout", "--quiet", before, "--", w.kernel)
	fast := w.commit("compute rows once")
	w.push("main")
	w.wantJobs(w.act("pawl-ratchet", "push", w.github.Token, w.pushEvent(slow, fast)), "touched, measure, move")
	if got := w.baselines(); len(got) != 2 || got[1] != "moved "+w.name+" "+fast {
		t.Fatalf("the baselines are %q", got)
	}
	if says := w.git("log", "-1", "--format=%s", "origin/"+ledger.DefaultBranch); !strings.HasPrefix(says, "perf: ") {
		t.Errorf("its commit says %q", says)
	}
}
