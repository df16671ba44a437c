package tune

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// crashing makes the test's own program a writer that can be killed.
const crashing = "PAWL_TEST_TUNE_JOURNAL"

func TestMain(m *testing.M) {
	if os.Getenv(crashing) != "" {
		if err := writer(crashJournal); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

const (
	crashPoints  = 300
	crashJournal = "tuning/journal.jsonl" // in the folder where the writer runs
)

// writer evaluates what the journal does not hold yet, and says each point when it is on disk.
func writer(path string) error {
	var j *Journal
	var done []Evaluation
	var err error
	if Exists(path) {
		j, done, err = Resume(path, header())
	} else {
		j, err = Create(path, header())
	}
	if err != nil {
		return err
	}
	have := map[string]bool{}
	for _, e := range done {
		have[Key(e.Point)] = true
	}
	fmt.Println("ready")
	for i := range crashPoints {
		e := Evaluation{Point: map[string]any{"BLOCK": float64(i), "mode": "a"}, At: time.Now()}
		if have[Key(e.Point)] {
			continue
		}
		e.Measured([]float64{float64(i + 1), float64(i + 2)}, false)
		if err := j.Append(&e); err != nil {
			return err
		}
		fmt.Println(Key(e.Point))
	}
	return j.Close()
}

// Killed at any moment and resumed, no evaluation that was told is lost, and none is done twice.
func TestKilled(t *testing.T) {
	kills := 6
	if os.Getenv("PAWL_LAB") != "" {
		kills = 200
	}
	g := rand.New(rand.NewPCG(1, uint64(kills)))
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, crashJournal)
	before := map[string]bool{} // in the journal
	for killed, finished := 0, false; !finished; {
		cmd := exec.CommandContext(t.Context(), program)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), crashing+"=1")
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// Killed after so many lines, which is as random as a time and does not depend on how
		// fast the machine is; sometimes before it could say anything.
		after, said := g.IntN(2*crashPoints/kills), map[string]bool{}
		if killed == kills {
			after = -1
		} else {
			killed++
		}
		for lines := bufio.NewScanner(out); ; {
			if len(said) == after {
				if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
					t.Fatal(err)
				}
			}
			if !lines.Scan() {
				break
			}
			if before[lines.Text()] {
				t.Fatalf("%s was done twice", lines.Text())
			}
			said[lines.Text()] = true
		}
		finished = cmd.Wait() == nil
		before = journalKeys(t, path)
		for key := range said {
			if key != "ready" && !before[key] {
				t.Fatalf("%s was lost", key)
			}
		}
	}
	if n := len(journalKeys(t, path)); n != crashPoints {
		t.Fatalf("%d evaluations after %d kills, want %d", n, kills, crashPoints)
	}
}

func journalKeys(t *testing.T, path string) map[string]bool {
	t.Helper()
	keys := map[string]bool{}
	if !Exists(path) { // killed before it was there
		return keys
	}
	_, list, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		keys[Key(e.Point)] = true
	}
	return keys
}
