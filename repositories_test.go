package pawl_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/goatnote-inc/pawl/internal/base/golden"
)

// Each archive in testdata/repositories is a small repository in the shape of a real one. init writes the suite at the end
// of the archive; most of them then give a verdict without a line written by hand. The stand-ins for libraries and
// compilers in stubs report fixed times, so that no verdict depends on the machine.
func TestRepositories(t *testing.T) {
	stubs, err := filepath.Abs("testdata/repositories/stubs")
	if err != nil {
		t.Fatal(err)
	}
	emulator, err := filepath.Abs("sdk/cpp/emulator")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/repositories",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       golden.Updating(),
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "init": initRepository, "verdict": verdict},
		Setup: func(e *testscript.Env) error {
			for i, v := range e.Vars {
				if path, ok := strings.CutPrefix(v, "PATH="); ok {
					e.Vars[i] = "PATH=" + filepath.Join(stubs, "bin") + ":" + emulator + ":" + path
				}
			}
			e.Vars = append(
				e.Vars,
				"PYTHONPATH="+filepath.Join(stubs, "python"), "PYTHONDONTWRITEBYTECODE=1", "CPATH="+filepath.Join(stubs, "include"),
				"PAWL_LOCK_DIR="+filepath.Join(e.WorkDir, ".locks"), "PAWL_CACHE="+filepath.Join(e.WorkDir, ".cache"),
				"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
				"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.com",
			)
			return os.Mkdir(filepath.Join(e.WorkDir, ".locks"), 0o700)
		},
	})
}

// At least 14 of at least 20 shapes give a first verdict with nothing written by hand.
func TestRepositories_MostGiveAVerdict(t *testing.T) {
	paths, err := filepath.Glob("testdata/repositories/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	judged := 0
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\nverdict\n") {
			judged++
		}
	}
	if len(paths) < 20 || judged < 14 {
		t.Errorf("%d of %d repositories give a verdict, want 14 of 20", judged, len(paths))
	}
}

// initRepository commits the folder repo and runs pawl init there: init CODE [ARGS...].
func initRepository(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: init CODE [ARGS...]")
	}
	for _, git := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"commit", "-q", "-m", "one"}} {
		ts.Check(ts.Exec("git", append([]string{"-C", "repo"}, git...)...))
	}
	exits(ts, false, append([]string{args[0], "pawl", "-C", "repo", "init"}, args[1:]...))
}

// verdict copies the folder change, which makes the kernel slower, over the folder repo, and wants pawl run to see it.
func verdict(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: verdict")
	}
	ts.Check(filepath.WalkDir(ts.MkAbs("change"), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		inside, err := filepath.Rel(ts.MkAbs("change"), path)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(ts.MkAbs("repo"), inside), text, 0o600)
	}))
	exits(ts, false, []string{"1", "pawl", "-C", "repo", "run", "--base", "HEAD", "--profile", "0"})
	text, err := os.ReadFile(ts.MkAbs("repo/results/verdict.json"))
	ts.Check(err)
	if !strings.Contains(string(text), `"verdict": "regression"`) {
		ts.Fatalf("no regression:\n%s", text)
	}
}
