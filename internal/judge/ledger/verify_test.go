package ledger_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/judge/ledger"
)

// tracked is a repository whose ledger is committed after each of its entries.
func tracked(t *testing.T, names ...string) (dir, path string, l *ledger.Ledger) {
	t.Helper()
	dir = newRepository(t)
	path = filepath.Join(dir, ledger.DefaultFile)
	l = open(t, ledger.Location{Dir: dir})
	for _, name := range names {
		add(t, l, name)
		commit(t, dir, name)
	}
	return dir, path, l
}

func commit(t *testing.T, dir, message string) string {
	t.Helper()
	git(t, dir, "add", "--all")
	git(t, dir, "commit", "--quiet", "-m", message)
	return git(t, dir, "rev-parse", "HEAD")
}

func wantProblem(t *testing.T, l *ledger.Ledger, commit string, line int, says string) {
	t.Helper()
	r := verify(t, l)
	if len(r.Problems) != 1 {
		t.Fatalf("the check found %v, want one problem: %s", r.Problems, says)
	}
	p := r.Problems[0]
	if p.Commit != commit || p.Line != line || !strings.Contains(p.What, says) {
		t.Errorf("the check found %q at commit %q, line %d, want ...%s... at %q, line %d", p.What, p.Commit, p.Line, says, commit, line)
	}
}

func TestAnHonestHistory(t *testing.T) {
	t.Parallel()
	dir, _, l := tracked(t, "a", "b", "c")
	put(t, filepath.Join(dir, "kernel.cu"), "faster\n")
	commit(t, dir, "something else")
	if r := verify(t, l); !r.OK() || r.Entries != 3 || r.Versions != 3 || len(r.Notes) > 0 {
		t.Errorf("the check found %+v", r)
	}
	add(t, l, "not committed yet")
	if r := verify(t, l); !r.OK() {
		t.Errorf("the check found %+v", r)
	}
}

// An edit with a recomputed chain is found by comparing with the previous version.
func TestARecomputedChain(t *testing.T) {
	t.Parallel()
	dir, path, l := tracked(t, "a", "b", "c")
	put(t, path, recompute(t, get(t, path), "[1000,1001]", "[2000,2001]"))
	wantProblem(t, l, "", 1, `the entry "measured a" was changed`)
	forged := commit(t, dir, "tidy up")
	wantProblem(t, l, forged, 1, `the entry "measured a" was changed`)
	add(t, l, "d")
	commit(t, dir, "go on as if nothing had been")
	wantProblem(t, l, forged, 1, `the entry "measured a" was changed`)
}

func TestRemovedLines(t *testing.T) {
	t.Parallel()
	dir, path, l := tracked(t, "a", "b", "c")
	put(t, path, get(t, path)[:strings.Index(get(t, path), "\n")+1])
	wantProblem(t, l, "", 2, `2 lines were removed, starting at the entry "measured b"`)
	wantProblem(t, l, commit(t, dir, "revert"), 2, `2 lines were removed`)
}

func TestADeletedLedger(t *testing.T) {
	t.Parallel()
	dir, path, l := tracked(t, "a", "b")
	text := get(t, path)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	deleted := commit(t, dir, "delete")
	wantProblem(t, l, deleted, 0, "the ledger was deleted")
	put(t, path, recompute(t, text, "1001", "1002"))
	commit(t, dir, "begin anew")
	wantProblem(t, l, deleted, 0, "the ledger was deleted")
}

// A merge may not drop what a side had, whichever side it takes.
func TestMerges(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		first    string // branch that is merged into
		second   string
		strategy string
		says     string
	}{
		"the longer is kept":       {"long", "short", "ours", ""},
		"the longer comes in":      {"short", "long", "resolve", ""},
		"the longer is dropped":    {"short", "long", "ours", "2 lines were removed"},
		"one of two is dropped":    {"long", "forked", "ours", "the entry \"measured x\" was changed"},
		"the other of two as well": {"forked", "long", "ours", "the entry \"measured c\" was changed"},
	} {
		dir, _, l := tracked(t, "a", "b")
		git(t, dir, "branch", "short")
		git(t, dir, "branch", "forked")
		git(t, dir, "switch", "--quiet", "-c", "long")
		add(t, l, "c", "d")
		commit(t, dir, "longer")
		git(t, dir, "switch", "--quiet", "forked")
		add(t, l, "x")
		commit(t, dir, "forked")
		git(t, dir, "switch", "--quiet", "short")
		put(t, filepath.Join(dir, "kernel.cu"), "something of its own\n")
		commit(t, dir, "short")
		git(t, dir, "switch", "--quiet", test.first)
		git(t, dir, "merge", "--quiet", "--no-ff", "-s", test.strategy, "-m", "merge", test.second)
		merge := git(t, dir, "rev-parse", "HEAD")
		put(t, filepath.Join(dir, "later"), "")
		commit(t, dir, "later")
		if test.says == "" {
			if r := verify(t, l); !r.OK() {
				t.Errorf("%s: %v", name, r.Problems)
			}
			continue
		}
		wantProblem(t, l, merge, 3, test.says)
	}
}

// The same holds on a separate branch, also when the forger pushes normally.
func TestARecomputedChainOnABranch(t *testing.T) {
	t.Parallel()
	remote := newRemote(t)
	l := onBranch(t, clone(t, remote), "origin")
	add(t, l, "a", "b", "c")
	forger := clone(t, remote)
	git(t, forger, "switch", "--quiet", ledger.DefaultBranch)
	path := filepath.Join(forger, "baselines.jsonl")
	put(t, path, recompute(t, get(t, path), "[1000,1001]", "[2000,2001]"))
	forged := commit(t, forger, "tidy up")
	git(t, forger, "push", "--quiet", "origin", ledger.DefaultBranch)
	wantProblem(t, l, forged, 1, `the entry "measured a" was changed`)
	add(t, l, "d") // the chain is whole: only the history tells
	wantProblem(t, l, forged, 1, `the entry "measured a" was changed`)
}

// The report notes what could not be checked.
func TestNotes(t *testing.T) {
	t.Parallel()
	bare := t.TempDir()
	add(t, open(t, ledger.Location{Dir: bare}), "a")
	dir, _, _ := tracked(t, "a", "b")
	shallow := clone(t, dir, "--depth=1")
	unborn := t.TempDir()
	git(t, unborn, "init", "--quiet")
	add(t, open(t, ledger.Location{Dir: unborn}), "a")
	unknown := newRepository(t)
	add(t, open(t, ledger.Location{Dir: unknown}), "a")
	for dir, says := range map[string]string{
		bare: "is not in a git repository", shallow: "shallow", unborn: "no commit yet", unknown: "is not committed",
	} {
		r := verify(t, open(t, ledger.Location{Dir: dir}))
		if !r.OK() || len(r.Notes) != 1 || !strings.Contains(r.Notes[0], says) {
			t.Errorf("want a note of ...%s...: %+v", says, r)
		}
	}
}

// git shows a replaced object instead of the committed one.
func TestReplacedObjects(t *testing.T) {
	t.Parallel()
	dir, path, l := tracked(t, "a", "b")
	put(t, path, recompute(t, get(t, path), "[1000,1001]", "[2000,2001]"))
	forged := commit(t, dir, "tidy up")
	git(t, dir, "replace", git(t, dir, "rev-parse", "HEAD~1:"+ledger.DefaultFile), git(t, dir, "rev-parse", "HEAD:"+ledger.DefaultFile))
	wantProblem(t, l, forged, 1, `the entry "measured a" was changed`)
}

// What the documentation says to type gives the hash.
func TestCheckByHand(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("sha256sum"); err != nil {
		t.Skip("no sha256sum")
	}
	doc := get(t, "../../../docs/reference/ledger.md")
	_, rest, ok := strings.Cut(doc, "<!-- check by hand -->\n```\n")
	command, _, ok2 := strings.Cut(rest, "\n```")
	if !ok || !ok2 {
		t.Fatal("the documentation has no command")
	}
	dir, _, l := tracked(t, "a", "b", "c")
	state, err := l.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", command)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "n=2")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if diff := cmp.Diff(state.Entries[1].Hash, strings.Fields(string(out) + " nothing")[0]); diff != "" {
		t.Errorf("%s: %s", command, diff)
	}
}
