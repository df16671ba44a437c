package github

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/base/testrun"
)

// A search by hand leaves suggestions, and opens a draft with the values that won.
func TestAutotuneOpensADraft(t *testing.T) {
	testrun.NightlyOnly(t)
	w := newCWorld(t)
	head := w.git("rev-parse", "HEAD")
	w.seed("main", head)
	e, inputs := w.dispatch(event{"case": "matmul/N160", "budget": "30m", "draft": "true"})
	w.wantJobs(w.act("pawl-autotune", "workflow_dispatch", w.github.Token, e, inputs...), "measure, apply")
	if text := read(t, filepath.Join(w.store, "pawl-results", "suggestions.md")); !strings.Contains(text, "BLOCK_N") {
		t.Errorf("the suggestions are:\n%s", text)
	}
	_, files := w.github.Branch("pawl/tune-matmul-N160")
	if text := files["pawl.yaml"]; !strings.Contains(text, "BLOCK_N: {values: [8, 64], default: 64} # there is") {
		t.Errorf("the branch's suite is:\n%s", text)
	}
	pulls := w.github.Pulls()
	if len(pulls) != 1 || !pulls[0].Draft || pulls[0].HeadBranch != "pawl/tune-matmul-N160" || pulls[0].BaseBranch != "main" {
		t.Errorf("pull requests: %+v", pulls)
	}
}

// seed lets the server know a commit that is on a branch of the remote.
func (w *world) seed(branch, sha string) {
	w.Helper()
	text := read(w, filepath.Join(w.dir, "pawl.yaml"))
	w.github.AddFile(branch, "pawl.yaml", text)
	w.github.AddFile(sha, "pawl.yaml", text)
}
