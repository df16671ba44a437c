package pawl_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/client/clienttest"
	"github.com/goatnote-inc/pawl/internal/base/testrun"
	"github.com/goatnote-inc/pawl/internal/cli"
	"github.com/goatnote-inc/pawl/internal/cli/agent"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/lab"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/internal/server/daemon"
)

// TestMain lets scripts run pawl: the test binary becomes the command when it is
// called by that name.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"pawld": func() {
			os.Exit(daemon.Main(context.Background(), os.Args[1:], &daemon.IO{Out: os.Stdout, Err: os.Stderr, Environ: os.Environ()}))
		},
		"pawl-agent": func() {
			os.Exit(agent.Main(context.Background(), os.Args[1:], command.Process()))
		},
		"pawl-lab": func() {
			os.Exit(lab.Main(context.Background(), os.Args[1:], command.Process()))
		},
		"pawl": func() {
			os.Exit(cli.Main(context.Background(), os.Args[1:], &command.IO{
				In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv, Now: clock(),
			}))
		},
	})
}

// clock is the real one, ahead by PAWL_TEST_CLOCK: a script has no time to lose in a build.
func clock() func() time.Time {
	ahead, err := time.ParseDuration(os.Getenv("PAWL_TEST_CLOCK"))
	if err != nil {
		return nil
	}
	return func() time.Time { return time.Now().Add(ahead) }
}

// The scripts are the commands as a user sees them. $EXAMPLES is the folder of the
// examples; git finds no configuration of the machine's own.
func TestScripts(t *testing.T) {
	examples, err := filepath.Abs("examples")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Files:               scripts(t),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "receiver": receiver},
		Condition: func(what string) (bool, error) {
			if what != "sandbox" {
				return false, fmt.Errorf("nobody knows the condition %q", what)
			}
			_, err := build.FindSandbox(t.Context())
			return err == nil, nil
		},
		Setup: func(e *testscript.Env) error {
			locks := filepath.Join(e.WorkDir, ".locks")
			e.Vars = append(
				e.Vars,
				"PAWL_LOCK_DIR="+locks,
				"PAWL_CACHE="+filepath.Join(e.WorkDir, ".cache"),
				"PAWL_SPOOL="+filepath.Join(e.WorkDir, ".spool"),
				"EXAMPLES="+examples,
				"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
				"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com",
				"GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.com",
			)
			return os.Mkdir(locks, 0o700)
		},
	})
}

// scripts are those to run: all of them, or with the race detector, which makes commands slow,
// those of commands that do several things at once.
func scripts(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join("testdata", "script", "*.txtar"))
	if err != nil || len(all) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	concurrent := []string{"bench", "build", "comment", "fuzz", "run", "tune", "wake"}
	for _, name := range concurrent {
		if !slices.Contains(all, filepath.Join("testdata", "script", name+".txtar")) {
			t.Errorf("there is no script %s", name)
		}
	}
	return slices.DeleteFunc(all, func(path string) bool {
		return testrun.Race && !slices.Contains(concurrent, strings.TrimSuffix(filepath.Base(path), ".txtar"))
	})
}

// receiver starts a stand-in for a pawl server, and says where by PAWL_SERVER:
// receiver PROJECT TOKEN [STATUS], where STATUS is the answer to every report.
func receiver(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: receiver PROJECT TOKEN [STATUS]")
	}
	s := clienttest.New(args[0], args[1])
	ts.Defer(s.Close)
	if len(args) == 3 {
		status, err := strconv.Atoi(args[2])
		ts.Check(err)
		s.Before(func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.HasSuffix(r.URL.Path, "/reports") {
				return false
			}
			clienttest.Refuse(w, status, client.ProblemError{Detail: "\x1b[31mbecause\x1b[0m"})
			return true
		})
	}
	ts.Setenv("PAWL_SERVER", s.URL)
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
