package ledger_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/base/testrun"
	"github.com/goatnote-inc/pawl/internal/judge/ledger"
	"github.com/goatnote-inc/pawl/ratchet"
)

const ref = "refs/heads/" + ledger.DefaultBranch

// newRemote is a bare repository with the first commit of a project.
func newRemote(t testing.TB) string {
	t.Helper()
	dir := newRepository(t)
	bare := filepath.Join(t.TempDir(), "remote.git")
	git(t, dir, "clone", "--quiet", "--bare", dir, bare)
	git(t, bare, "config", "receive.autogc", "false") // it would tidy up after every push
	return bare
}

func clone(t testing.TB, remote string, args ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "clone")
	git(t, ".", append(append([]string{"clone", "--quiet"}, args...), "file://"+remote, dir)...)
	return dir
}

// seeds keeps writers from waiting alike.
var seeds atomic.Uint64

func onBranch(t testing.TB, dir, remote string) *ledger.Ledger {
	t.Helper()
	return open(t, ledger.Location{Dir: dir, Branch: ledger.DefaultBranch, Remote: remote, Wait: jitter(seeds.Add(1))})
}

// The branch grows by a commit an append; the working tree, the index and the user's
// branch do not notice.
func TestABranch(t *testing.T) {
	t.Parallel()
	dir := newRepository(t)
	put(t, filepath.Join(dir, "kernel.cu"), "changed\n")
	git(t, dir, "add", ".")
	put(t, filepath.Join(dir, "kernel.cu"), "changed again\n")
	before := git(t, dir, "status", "--porcelain") + git(t, dir, "rev-parse", "HEAD")
	l := onBranch(t, dir, "")
	if got := cases(t, l); len(got) != 0 {
		t.Errorf("an unborn branch holds %v", got)
	}
	add(t, l, "a", "b")
	if diff := cmp.Diff([]string{"a", "b"}, cases(t, l)); diff != "" {
		t.Error(diff)
	}
	if after := git(t, dir, "status", "--porcelain") + git(t, dir, "rev-parse", "HEAD"); after != before {
		t.Errorf("the working tree was %q and is %q", before, after)
	}
	log := git(t, dir, "log", "--format=%an <%ae> %cn %s", ref)
	want := "pawl <pawl@localhost> pawl perf: Record baselines [skip ci]\n"
	if log != strings.TrimSpace(want+want) {
		t.Errorf("the branch says %q", log)
	}
	if r := verify(t, l); !r.OK() || r.Versions != 2 || len(r.Notes) > 0 {
		t.Errorf("the check found %+v", r)
	}
}

func TestWhatACommitSays(t *testing.T) {
	t.Parallel()
	dir := newRepository(t)
	l := open(t, ledger.Location{Dir: dir, Branch: ledger.DefaultBranch})
	add(t, l, "attention/S512")
	_, err := l.Append(t.Context(), func(ledger.State) ([]ratchet.Entry, error) {
		moved := first("attention/S512")
		moved.Kind, moved.Commit, moved.Gain, moved.Reason = ratchet.KindMoved, strings.Repeat("cd", 20), 0.07, "a gain of 7.0 %"
		moved.Session.Run.ID, moved.Trigger = "fresh", &ratchet.RunRef{ID: "trigger"}
		return []ratchet.Entry{moved}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	got := git(t, dir, "log", "-1", "--format=%an <%ae>%n%aI%n%B", ref)
	want := `pawl <pawl@localhost>
2026-03-01T12:00:00Z
perf: Ratchet baseline forward [skip ci]

moved attention/S512 at cdcdcdcdcdcd: a gain of 7.0 %`
	if diff := cmp.Diff(want, strings.ReplaceAll(got, "+00:00", "Z")); diff != "" {
		t.Error(diff)
	}
}

// A ledger works wherever git does.
func TestRepositoriesOfAllKinds(t *testing.T) {
	t.Parallel()
	remote := newRemote(t)
	add(t, onBranch(t, clone(t, remote), "origin"), "first")
	shallow := clone(t, remote, "--depth=1")
	worktree := filepath.Join(t.TempDir(), "tree")
	git(t, clone(t, remote), "worktree", "add", "--quiet", "--detach", worktree)
	inner := filepath.Join(clone(t, remote), "deep", "inside")
	put(t, filepath.Join(inner, "file"), "")
	hashed := t.TempDir()
	git(t, hashed, "init", "--quiet", "--object-format=sha256")
	want := []string{"first"}
	for _, test := range []struct{ name, dir, remote string }{
		{"a shallow clone", shallow, "origin"},
		{"a worktree", worktree, "origin"},
		{"a bare clone", clone(t, remote, "--bare"), "origin"},
		{"a folder inside", inner, "origin"},
		{"a partial clone", clone(t, remote, "--filter=blob:none"), "origin"},
		{"the remote itself", remote, ""},
	} {
		l := onBranch(t, test.dir, test.remote)
		if diff := cmp.Diff(want, cases(t, l)); diff != "" {
			t.Errorf("%s, before: %s", test.name, diff)
		}
		add(t, l, test.name)
		want = append(want, test.name)
		if diff := cmp.Diff(want, cases(t, l)); diff != "" {
			t.Errorf("%s, after: %s", test.name, diff)
		}
		if r := verify(t, l); !r.OK() || r.Versions != len(want) {
			t.Errorf("%s: the check found %+v", test.name, r)
		}
	}
	if git(t, shallow, "rev-parse", "--is-shallow-repository") != "true" {
		t.Error("the shallow clone is none any more")
	}
	l := onBranch(t, hashed, "")
	add(t, l, "a", "b")
	if r := verify(t, l); !r.OK() || r.Versions != 2 {
		t.Errorf("SHA-256: the check found %+v", r)
	}
}

// Other files on the branch stay.
func TestOtherFilesOnTheBranch(t *testing.T) {
	t.Parallel()
	dir := newRepository(t)
	git(t, dir, "branch", ledger.DefaultBranch)
	l := onBranch(t, dir, "")
	add(t, l, "a", "b")
	if got := git(t, dir, "ls-tree", "--name-only", ref); got != "baselines.jsonl\nkernel.cu" {
		t.Errorf("the branch holds %q", got)
	}
}

// A branch from which the ledger was deleted is not begun anew.
func TestADeletedLedgerOnABranch(t *testing.T) {
	t.Parallel()
	dir := newRepository(t)
	git(t, dir, "branch", ledger.DefaultBranch)
	l := onBranch(t, dir, "")
	add(t, l, "a")
	git(t, dir, "switch", "--quiet", ledger.DefaultBranch)
	git(t, dir, "rm", "--quiet", "baselines.jsonl")
	deleted := commit(t, dir, "tidy up")
	if err := appendTo(t.Context(), l, "b"); !errors.Is(err, ledger.ErrChanged) || !strings.Contains(err.Error(), deleted[:12]) {
		t.Errorf("append: %v", err)
	}
	if r := verify(t, l); r.OK() {
		t.Error("the check has nothing to say")
	}
}

// No hook of the repository runs, and no settings are asked for.
func TestHooksDoNotRun(t *testing.T) {
	t.Parallel()
	remote := newRemote(t)
	dir := clone(t, remote)
	for _, hook := range []string{"pre-push", "reference-transaction", "post-commit", "pre-commit"} {
		put(t, filepath.Join(dir, ".git", "hooks", hook), "#!/bin/sh\ntouch "+filepath.Join(dir, "hooked")+"\nexit 1\n")
	}
	add(t, onBranch(t, dir, "origin"), "a")
	add(t, onBranch(t, dir, ""), "a")
	if _, err := os.Stat(filepath.Join(dir, "hooked")); err == nil {
		t.Error("a hook ran")
	}
}

// Two clones that push at once lose none of 200 appends.
func TestTwoWritersOfABranch(t *testing.T) {
	t.Parallel()
	tries := testrun.Times(20, 100)
	remote := newRemote(t)
	race(t, tries, onBranch(t, clone(t, remote), "origin"), onBranch(t, clone(t, remote), "origin"))
	checkTries(t, onBranch(t, clone(t, remote), "origin"), tries)
}

// Two writers of one repository lose nothing either.
func TestTwoWritersOfALocalBranch(t *testing.T) {
	t.Parallel()
	tries := testrun.Times(20, 30)
	dir := newRepository(t)
	race(t, tries, onBranch(t, dir, ""), onBranch(t, dir, ""))
	checkTries(t, onBranch(t, dir, ""), tries)
}

// race lets two writers append at the same time, again and again.
func race(t *testing.T, tries int, a, b *ledger.Ledger) {
	t.Helper()
	for n := range tries {
		var both sync.WaitGroup
		for name, l := range map[string]*ledger.Ledger{"a": a, "b": b} {
			both.Go(func() {
				if err := appendTo(t.Context(), l, fmt.Sprint(name, "/", n)); err != nil {
					t.Error(err)
				}
			})
		}
		if both.Wait(); t.Failed() {
			return
		}
	}
}

// checkTries says what two writers have lost.
func checkTries(t *testing.T, l *ledger.Ledger, tries int) {
	t.Helper()
	got := cases(t, l)
	slices.Sort(got)
	var want []string
	for n := range tries {
		want = append(want, fmt.Sprint("a/", n), fmt.Sprint("b/", n))
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if r := verify(t, l); !r.OK() || r.Versions != 2*tries {
		t.Errorf("the check found %+v", r)
	}
}

// Somebody pushes between our reading and our pushing, from the first commit on.
func TestAConflictOnTheRemoteAsksAgain(t *testing.T) {
	t.Parallel()
	remote := newRemote(t)
	one, other := onBranch(t, clone(t, remote), "origin"), onBranch(t, clone(t, remote), "origin")
	var seen []int
	_, err := one.Append(t.Context(), func(s ledger.State) ([]ratchet.Entry, error) {
		seen = append(seen, len(s.Entries))
		if len(seen) <= 2 {
			add(t, other, fmt.Sprint("other", len(seen)))
		}
		return []ratchet.Entry{first("one")}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{0, 1, 2}, seen); diff != "" {
		t.Errorf("the states that were seen: %s", diff)
	}
	if diff := cmp.Diff([]string{"other1", "other2", "one"}, cases(t, other)); diff != "" {
		t.Error(diff)
	}
}

// The commit arrives and the answer does not: that is kept, not written twice.
func TestALostAnswer(t *testing.T) {
	t.Parallel()
	remote := newRemote(t)
	dir := clone(t, remote)
	script := filepath.Join(t.TempDir(), "receive")
	put(t, script, "#!/bin/sh\ngit receive-pack \"$@\"\nexit 1\n")
	git(t, dir, "config", "remote.origin.receivepack", script)
	l := onBranch(t, dir, "origin")
	asked := 0
	for _, name := range []string{"a", "b"} {
		if _, err := l.Append(t.Context(), func(ledger.State) ([]ratchet.Entry, error) {
			asked++
			return []ratchet.Entry{first(name)}, nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"a", "b"}, cases(t, l)); diff != "" || asked != 2 {
		t.Errorf("asked %d times: %s", asked, diff)
	}
}

// A remote that says no is not asked 64 times, and its reason is told.
func TestARemoteThatSaysNo(t *testing.T) {
	t.Parallel()
	remote := newRemote(t)
	put(t, filepath.Join(remote, "hooks", "pre-receive"), "#!/bin/sh\necho this branch is protected >&2\nexit 1\n")
	l := onBranch(t, clone(t, remote), "origin")
	asked := 0
	_, err := l.Append(t.Context(), func(ledger.State) ([]ratchet.Entry, error) {
		asked++
		return []ratchet.Entry{first("a")}, nil
	})
	if err == nil || !strings.Contains(err.Error(), "this branch is protected") || asked != 1 {
		t.Errorf("asked %d times: %v", asked, err)
	}
	if err := appendTo(t.Context(), onBranch(t, clone(t, remote), "elsewhere"), "a"); err == nil || !strings.Contains(err.Error(), "elsewhere") {
		t.Errorf("a remote that is none: %v", err)
	}
}

// A branch that was taken away, or rewritten, is not quietly begun anew.
func TestARemoteThatForgets(t *testing.T) {
	t.Parallel()
	remote := newRemote(t)
	l := onBranch(t, clone(t, remote), "origin")
	add(t, l, "a", "b")
	last := git(t, remote, "rev-parse", ref)
	check := func(what, says string) {
		t.Helper()
		if err := appendTo(t.Context(), l, "c"); !errors.Is(err, ledger.ErrChanged) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", what, err)
		}
		if r := verify(t, l); r.OK() {
			t.Errorf("%s: the check has nothing to say", what)
		}
	}
	git(t, remote, "update-ref", "-d", ref)
	check("deleted", "was deleted from origin")
	git(t, remote, "update-ref", ref, last+"~1")
	check("set back", "was rewritten")
	rewriter := onBranch(t, clone(t, remote), "origin")
	add(t, rewriter, "forged")
	check("rewritten", "was rewritten")
	git(t, remote, "update-ref", ref, last)
	add(t, l, "c")
}

func TestWritersOfABranchThatAreKilled(t *testing.T) {
	t.Parallel()
	tries := testrun.Times(20, 20)
	dir := newRepository(t)
	for try := range tries {
		w := writer{Name: fmt.Sprint("try", try), Dir: dir, Branch: ledger.DefaultBranch}
		kept := killAWriter(t, w, time.Duration(try)*2*time.Millisecond)
		checkKept(t, onBranch(t, dir, ""), kept, fmt.Sprint("next", try))
	}
}

func TestNamesThatAreNone(t *testing.T) {
	t.Parallel()
	dir := newRepository(t)
	for _, w := range []ledger.Location{
		{Dir: dir, Branch: "a..b"},
		{Dir: dir, Branch: "-x y"},
		{Dir: dir, Branch: "ok", Remote: "--upload-pack=x"},
		{Dir: dir, Branch: "ok", Remote: "https://example.org/x"},
		{Dir: dir, Branch: "ok", Remote: "/tmp/x"},
		{Dir: t.TempDir(), Branch: "ok"},
	} {
		if _, err := ledger.Open(t.Context(), w); err == nil {
			t.Errorf("%+v was opened", w)
		}
	}
}

// A ledger in the tree is extended by a commit of its own on the main line, whatever
// somebody else pushed there meanwhile, and whatever lies around it.
func TestAFileOfTheMainLine(t *testing.T) {
	t.Parallel()
	remote := newRemote(t)
	dir := clone(t, remote)
	put(t, filepath.Join(dir, "kernels/softmax/pawl.yaml"), "version: 1\n")
	git(t, dir, "add", ".")
	git(t, dir, "commit", "--quiet", "-m", "a suite")
	git(t, dir, "push", "--quiet", "origin", "main")
	before := git(t, dir, "status", "--porcelain") + git(t, dir, "rev-parse", "HEAD")
	other := clone(t, remote)
	put(t, filepath.Join(other, "kernels/other.cu"), "\n")
	git(t, other, "add", ".")
	git(t, other, "commit", "--quiet", "-m", "meanwhile")
	git(t, other, "push", "--quiet", "origin", "main")

	l := open(t, ledger.Location{Dir: filepath.Join(dir, "kernels/softmax"), Branch: "main", File: ledger.DefaultFile, Remote: "origin"})
	add(t, l, "a", "b")
	if after := git(t, dir, "status", "--porcelain") + git(t, dir, "rev-parse", "HEAD"); after != before {
		t.Errorf("the working tree was %q and is %q", before, after)
	}
	files := git(t, remote, "ls-tree", "-r", "--name-only", "main")
	if want := "kernel.cu\nkernels/other.cu\nkernels/softmax/" + ledger.DefaultFile + "\nkernels/softmax/pawl.yaml"; files != want {
		t.Errorf("the main line holds %q, want %q", files, want)
	}
	git(t, dir, "pull", "--quiet", "--rebase", "origin", "main")
	if diff := cmp.Diff([]string{"a", "b"}, cases(t, open(t, ledger.Location{Dir: filepath.Join(dir, "kernels/softmax")}))); diff != "" {
		t.Error(diff)
	}
	if r := verify(t, l); !r.OK() || r.Versions != 2 {
		t.Errorf("the check found %+v", r)
	}
}

// Without access to the remote, the ledger is the copy that was last fetched, and cannot be extended.
func TestAFetchedLedger(t *testing.T) {
	t.Parallel()
	remote := newRemote(t)
	add(t, onBranch(t, clone(t, remote), "origin"), "a")
	dir := clone(t, remote)
	add(t, onBranch(t, clone(t, remote), "origin"), "b")
	git(t, dir, "remote", "set-url", "origin", "/nonexistent")
	l := open(t, ledger.Location{Dir: dir, Branch: ledger.DefaultBranch, Remote: "origin", Fetched: true})
	if diff := cmp.Diff([]string{"a"}, cases(t, l)); diff != "" {
		t.Error(diff)
	}
	if err := appendTo(t.Context(), l, "c"); err == nil || !strings.Contains(err.Error(), "is read-only here") {
		t.Errorf("it was extended: %v", err)
	}
}
