package pawl_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/testrun"
	"github.com/goatnote-inc/pawl/measure"
)

// killedKernel prints times as hyperfine does: so many milliseconds as the file ms says, give or take.
const killedKernel = `awk -v ms="$(cat ms)" -v seed=$$ 'BEGIN {
  srand(seed)
  printf "{\"results\":[{\"command\":\"kernel\",\"times\":["
  for (i = 0; i < 9; i++) printf "%s%.7f", (i ? "," : ""), ms / 1000 * (1 + 0.03 * rand())
  print "]}]}"
}'
`

// killedRepository returns a repository with a kernel and a slower one, as commits main and slow.
func killedRepository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"pawl.yaml": "version: 1\nharness: {command: sh kernel.sh, format: hyperfine, files: [kernel.sh, ms]}\n",
		"kernel.sh": killedKernel, "ms": "100\n", ".gitignore": "results/\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	git := func(args ...string) {
		t.Helper()
		testrun.Git(t, dir, args...)
	}
	git("init", "-q", "-b", "main")
	git("add", "-A")
	git("commit", "-q", "-m", "one")
	git("checkout", "-q", "-b", "slow")
	if err := os.WriteFile(filepath.Join(dir, "ms"), []byte("106\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	git("commit", "-q", "-a", "-m", "slower")
	return dir
}

// TestRunSurvivesKills kills pawl run at random moments and continues it, until so many kills have hit it. No finished
// round is lost: each is in the record to the byte. The verdict is that of the planted truth.
func TestRunSurvivesKills(t *testing.T) {
	kills := testrun.Times(6, 100)
	dir := killedRepository(t)
	env := append(os.Environ(), "PAWL_LOCK_DIR="+t.TempDir(), "PAWL_CACHE="+t.TempDir(), "GIT_CONFIG_GLOBAL=/dev/null", "GITHUB_ACTIONS=")
	pawl := func(base string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), "pawl", "run", "--resume", "--base", base, "--force-measure", "--profile", "0")
		cmd.Dir, cmd.Env = dir, env
		return cmd
	}
	random := rand.New(rand.NewPCG(22, uint64(kills)))
	killed, kept, gates, whole := 0, 0, 0, time.Second
	// Every second process dies at any moment, and the others soon after they finished some rounds.
	moment := func() (after int, delay time.Duration) {
		switch {
		case killed == kills: // the last process is not killed
			return 0, time.Hour
		case killed%2 == 0:
			return 0, time.Duration(random.Int64N(int64(whole)))
		default:
			return 1 + random.IntN(3), time.Duration(random.Int64N(int64(50 * time.Millisecond)))
		}
	}
	for ; killed < kills || gates < 2; gates++ {
		base, want := "main", 1 // the commit is slower
		if gates%2 == 1 {
			base, want = "slow", 0 // the same code
		}
		var finished [][]byte // results of rounds that were in the journal after a kill
		for done := false; !done; {
			cmd := pawl(base)
			said := &victim{kill: func() { _ = cmd.Process.Kill() }}
			said.after, said.delay = moment()
			cmd.Stdout, cmd.Stderr = said, said
			cmd.WaitDelay = time.Minute // a kernel that is left over ends soon
			began := time.Now()
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			_, _ = said.Write(nil) // it may have to die before it says anything
			_ = cmd.Wait()         // the code says how it ended
			if said.alarm != nil {
				said.alarm.Stop()
			}
			if strings.Contains(said.String(), "anew") || strings.Contains(said.String(), "was saved as") {
				t.Fatalf("it did not continue:\n%s", said)
			}
			switch code := cmd.ProcessState.ExitCode(); code {
			case -1:
				killed++
				finished, done = roundsOfJournal(t, dir, finished)
			case want:
				done, whole = true, max(time.Since(began), whole)
			default:
				t.Fatalf("exit code %d, want %d:\n%s", code, want, said)
			}
		}
		kept += len(finished)
		checkKept(t, dir, finished)
	}
	t.Logf("%d kills of %d gates, %d results kept", killed, gates, kept)
	if kept == 0 {
		t.Error("no kill came after a finished round: the moments show too little")
	}
}

// victim is the output of a process that is killed a while after it finished so many rounds.
type victim struct {
	mu    sync.Mutex
	text  strings.Builder
	after int
	delay time.Duration
	kill  func()
	alarm *time.Timer
}

func (v *victim) Write(b []byte) (int, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.text.Write(b)
	if v.alarm == nil && strings.Count(v.text.String(), " done in ") >= v.after {
		v.alarm = time.AfterFunc(v.delay, v.kill)
	}
	return len(b), nil
}

func (v *victim) String() string { return v.text.String() }

// roundsOfJournal returns the results of the finished rounds, which must start with those that were there before. Without
// a journal, a gate that had finished rounds has ended.
func roundsOfJournal(t *testing.T, dir string, before [][]byte) (list [][]byte, ended bool) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "results", "current.journal"))
	if os.IsNotExist(err) {
		return before, len(before) > 0
	}
	if err != nil {
		t.Fatal(err)
	}
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	for line := range bytes.Lines(text) {
		var l struct {
			Record  string
			Results []struct{ Data json.RawMessage }
		}
		if err := json.Unmarshal(line, &l); err != nil {
			t.Fatal(err)
		}
		for _, r := range l.Results {
			list = append(list, r.Data)
		}
	}
	for i, b := range before {
		if i >= len(list) || !bytes.Equal(b, list[i]) {
			t.Fatalf("result %d of %d was lost", i, len(before))
		}
	}
	return list, false
}

// checkKept checks that the record has the finished rounds, and that nothing is left beside it.
func checkKept(t *testing.T, dir string, finished [][]byte) {
	t.Helper()
	path := filepath.Join(dir, "results", "current.json")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, result := range finished {
		if !bytes.Contains(text, result) {
			t.Errorf("result %d of %d is not in the record: %s", i, len(finished), result)
		}
	}
	run, err := measure.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	resumed := slices.ContainsFunc(run.Warnings, func(w measure.Warning) bool { return w.Code == "resumed" })
	if run.End.State != measure.Complete || len(finished) > 0 && !resumed {
		t.Errorf("%+v", run.Ending)
	}
	for _, c := range run.Cases {
		for i, r := range c.Rounds {
			if r.Round != run.Rounds[i].Index || len(c.Rounds) != len(run.Rounds) {
				t.Errorf("%s has %d rounds of %d, and %d instead of %d", c.CaseKey, len(c.Rounds), len(run.Rounds), r.Round, run.Rounds[i].Index)
			}
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "results", "*.journal")); len(left) > 0 {
		t.Error(fmt.Sprint(left), "was left behind")
	}
}
