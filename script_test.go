package pawl_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/goatnote-inc/pawl/internal/cli"
)

// TestMain lets scripts run pawl: the test binary becomes the command when it is
// called by that name.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"pawl": func() {
			os.Exit(cli.Main(context.Background(), os.Args[1:], &cli.IO{
				In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv,
			}))
		},
	})
}

// The scripts are the commands as a user sees them. $EXAMPLES is the folder of the
// examples; git finds no configuration of the machine's own.
func TestScripts(t *testing.T) {
	examples, err := filepath.Abs("examples")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
		Setup: func(e *testscript.Env) error {
			locks := filepath.Join(e.WorkDir, ".locks")
			e.Vars = append(
				e.Vars,
				"PAWL_LOCK_DIR="+locks,
				"PAWL_CACHE="+filepath.Join(e.WorkDir, ".cache"),
				"EXAMPLES="+examples,
				"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
				"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com",
				"GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.com",
			)
			return os.Mkdir(locks, 0o700)
		},
	})
}

// exits runs a command and wants this exit code of it: exits 4 pawl init.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("run %s: %v", args[1], err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("%v exits with %d, want %d", args[1:], got, want)
	}
}
