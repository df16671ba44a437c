package tuning

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/testrun"
	"github.com/goatnote-inc/pawl/internal/judge/runner"
	"github.com/goatnote-inc/pawl/internal/tune"
)

// searchTuned is a search in a process of its own, which can be killed. It says what is on disk.
func searchTuned(args []string) int {
	os.Unsetenv(playing)
	o, _, err := workbenchAt(args[0], args[1], tunedYAML)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	o.Emit = func(e runner.Event) {
		if x, ok := e.(Evaluated); ok {
			fmt.Println(tune.Key(x.Evaluation.Point))
		}
	}
	found, err := Search(context.Background(), o, Options{Case: "double/N256", Strategy: "random", Resume: true, Jobs: 2})
	if err != nil || len(found.Evaluations) != 20 {
		fmt.Fprintln(os.Stderr, found, err)
		return 1
	}
	return 0
}

// Killed at random moments, while it builds, checks, measures or writes, and resumed: no
// evaluation is lost and none is done twice. What a killed search left behind, the next one
// takes away.
func TestTuneKilled(t *testing.T) {
	kills := 3
	if os.Getenv("PAWL_LAB") != "" {
		kills = 50
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	dir, aside := t.TempDir(), t.TempDir()
	gitRepository(t, dir)
	g := rand.New(rand.NewPCG(7, uint64(kills)))
	before, done := map[string]bool{}, 0
	journal := filepath.Join(dir, "tuning", "journal.jsonl")
	for finished := false; !finished; {
		ctx, cancel := context.WithCancel(t.Context())
		if done < kills {
			// About as long as a search with what is left of it takes here; where it is over sooner it is begun anew.
			time.AfterFunc(time.Duration(g.Int64N(int64(1500*time.Millisecond))), cancel)
			done++
		}
		cmd := exec.CommandContext(ctx, program, dir, aside) // killed with SIGKILL
		cmd.Env = append(os.Environ(), playing+"=search")
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			cancel()
			continue
		}
		said := map[string]bool{}
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if before[lines.Text()] {
				t.Errorf("%s was done twice", lines.Text())
			}
			said[lines.Text()] = true
		}
		err = cmd.Wait()
		cancel()
		exit, isExit := errors.AsType[*exec.ExitError](err)
		if isExit && exit.ExitCode() >= 0 {
			t.Fatalf("it ended by itself: %v", err)
		}
		finished = err == nil
		before = keysOf(t, journal)
		for key := range said {
			if !before[key] {
				t.Errorf("%s was lost", key)
			}
		}
		if finished && done < kills { // all points are there: once more from the start
			finished = false
			before = map[string]bool{}
			if err := os.Remove(journal); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := len(keysOf(t, journal)); n != 20 {
		t.Errorf("%d evaluations, want 20", n)
	}
	if _, err := os.Stat(filepath.Join(dir, "tuning", ".rooms")); err == nil {
		t.Error("rooms were left behind")
	}
	if out := gitRun(t, dir, "worktree", "list"); strings.Count(out, "\n") > 0 {
		t.Errorf("worktrees were left behind:\n%s", out)
	}
}

func keysOf(t *testing.T, journal string) map[string]bool {
	t.Helper()
	keys := map[string]bool{}
	if !tune.Exists(journal) {
		return keys
	}
	_, list, err := tune.Load(journal)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		keys[tune.Key(e.Point)] = true
	}
	return keys
}

func gitRepository(t *testing.T, dir string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git here")
	}
	t.Setenv("GIT_CONFIG_GLOBAL", "/dev/null")
	if err := os.WriteFile(filepath.Join(dir, ".gitignore"), []byte("tuning/\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"commit", "-q", "-m", "one"}} {
		gitRun(t, dir, args...)
	}
}

var gitRun = testrun.Git
