package github

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/forge"
)

// A pull request that changes a comment in the kernel is measured, and passes.
func TestSameCodePasses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.git("checkout", "--quiet", "-b", "words")
	w.comment()
	w.commit("say it better")
	p := w.open("words")
	w.wantJobs(w.act("pawl-gate", "pull_request", w.github.Token, w.pullEvent(p)), "announce, touched, measure, publish")
	if c := w.check(p.HeadSHA); c.Status != forge.Completed || c.Conclusion != forge.Success {
		t.Errorf("the check is %s, %s: %s\n%s", c.Status, c.Conclusion, c.Title, c.Summary)
	}
}

// A pull request that makes the kernel slower fails its check, and is told why in one
// comment, however often it is published.
func TestASlowdownFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.git("checkout", "--quiet", "-b", "slower")
	w.slow(200)
	w.commit("compute rows twice")
	p := w.open("slower")
	w.wantJobs(w.act("pawl-gate", "pull_request", w.github.Token, w.pullEvent(p)), "announce, touched, measure, publish")
	w.exec("sh", "-c", fmt.Sprintf("GITHUB_TOKEN=%s GITHUB_API_URL=%s pawl ci comment --results %s --repo %s --pull %d",
		w.github.Token, w.github.URL, filepath.Join(w.store, "pawl-results"), w.github.Repo, p.Number)) // once more, as another attempt does
	if c := w.check(p.HeadSHA); c.Status != forge.Completed || c.Conclusion != forge.Failure {
		t.Errorf("the check is %s, %s: %s\n%s", c.Status, c.Conclusion, c.Title, c.Summary)
	}
	if body := w.report(p.Number).Body; !strings.Contains(body, "regression") || !strings.Contains(body, w.name) {
		t.Errorf("the report does not name it:\n%s", body)
	}
}

// A pull request that touches no kernel is green, and nothing is measured.
func TestNoKernelTouched(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.git("checkout", "--quiet", "-b", "docs")
	w.write("README.md", "# our kernels\n")
	w.commit("say whose")
	p := w.open("docs")
	w.wantJobs(w.act("pawl-gate", "pull_request", w.github.Token, w.pullEvent(p)), "announce, touched, publish")
	if c := w.check(p.HeadSHA); c.Conclusion != forge.Success || !strings.Contains(strings.ToLower(c.Title), "no kernel") {
		t.Errorf("the check is %s, %s: %s", c.Status, c.Conclusion, c.Title)
	}
	if c := w.github.Comments(p.Number); len(c) != 0 {
		t.Errorf("there is nothing to say, and it says %+v", c)
	}
}
