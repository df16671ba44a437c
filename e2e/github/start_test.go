package github

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/forge"
)

// commands are the lines that a page asks its reader to type, in their order.
func commands(page string) []string {
	var list []string
	language, inside := "", false
	for line := range strings.Lines(page) {
		line = strings.TrimRight(line, "\n")
		if mark, ok := strings.CutPrefix(line, "```"); ok {
			language, inside = mark, !inside
			continue
		}
		if inside && (language == "" || language == "sh") {
			list = append(list, line)
		}
	}
	return list
}

// The page "Gate pull requests on GitHub", typed as it stands in a repository that knows
// nothing of pawl but a suite: it ends in a green check and a comment.
func TestGettingStarted(t *testing.T) {
	t.Parallel()
	w := plainWorld(t)
	w.edit("pawl.yaml", "baseline: {keep: branch, remote: origin}\ngate: {mode: enforce}\n", "")
	w.commit("kernels", "-A")
	w.push("main")
	typed := commands(read(t, "../../docs/how-to/github.md"))
	pushed := -1
	for i, line := range typed {
		if strings.HasPrefix(line, "git push") {
			pushed = i
		}
	}
	if pushed < 0 || !strings.HasPrefix(typed[0], "pawl init --github") {
		t.Fatalf("the page asks for %q", typed)
	}
	for _, line := range typed[:pushed+1] {
		w.exec("sh", "-c", line)
	}

	// The pull request that brings pawl: there is no suite to hold it to yet.
	branch := w.git("branch", "--show-current")
	p := w.open(branch)
	w.wantJobs(w.act("pawl-gate", "pull_request", w.github.Token, w.pullEvent(p)), "announce, touched, measure, publish")
	if c := w.check(p.HeadSHA); c.Status != forge.Completed || c.Conclusion == forge.Failure {
		t.Errorf("the check of the first pull request is %s, %s: %s", c.Status, c.Conclusion, c.Title)
	}
	w.github.EditPull(p.Number, func(p *forge.Pull) { p.Open = false })
	w.git("switch", "--quiet", "main")
	w.git("merge", "--quiet", branch)
	w.push("main")

	// The next one changes a kernel.
	w.git("switch", "--quiet", "-c", "words")
	w.comment()
	w.commit("say it better")
	p = w.open("words")
	w.wantJobs(w.act("pawl-gate", "pull_request", w.github.Token, w.pullEvent(p)), "announce, touched, measure, publish")
	if c := w.check(p.HeadSHA); c.Status != forge.Completed || c.Conclusion == forge.Failure { // a busy machine may leave it open
		t.Errorf("the check is %s, %s: %s", c.Status, c.Conclusion, c.Title)
	}
	w.report(p.Number)

	// What the page says of later days works as well.
	for _, line := range typed[pushed+1:] {
		w.exec("sh", "-c", line)
	}
	if left := w.git("status", "--porcelain"); left != "" {
		t.Errorf("an upgrade to the same version changed %s", left)
	}
}

// installer is the action that the workflows install pawl with, and what stands in for it.
func (w *world) installer() (name, folder string) {
	w.Helper()
	text := read(w, filepath.Join(w.dir, ".github/workflows/pawl-gate.yml"))
	m := regexp.MustCompile(`uses: ([\w.-]+/pawl@[\w.-]+)`).FindStringSubmatch(text)
	if m == nil {
		w.Fatalf("the gate installs no pawl:\n%s", text)
	}
	if m[1] == action {
		return action, w.actionFolder()
	}
	folder, err := filepath.Abs("testdata/actions/pawl")
	if err != nil {
		w.Fatal(err)
	}
	if _, err := os.Stat(folder); err != nil {
		w.Fatal(err)
	}
	return m[1], folder
}
