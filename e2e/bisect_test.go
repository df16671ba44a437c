package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/testrun"
	"github.com/goatnote-inc/pawl/internal/judge/commits"
)

// How many repositories there are, how many commits each has after the first, and in how many a bisect is killed.
const (
	bisections    = 50
	bisectCommits = 64
	bisectKills   = 20
)

// A bisection is what one bisect said, and the truth.
type bisection struct {
	Seed    int     `json:"seed"`
	Right   bool    `json:"right"` // the culprit was named, and no other
	Certain bool    `json:"certain"`
	Among   bool    `json:"among"` // the culprit is one of the suspects
	Gates   int     `json:"gates"`
	Rounds  int     `json:"rounds"`
	Kills   int     `json:"kills"`
	Seconds float64 `json:"seconds"`
	Why     string  `json:"why,omitempty"`
}

// TestBisections bisects 64 commits, of which one does 5.9 % more work, in 50 repositories; in 20 of them it is
// killed once at a random moment and started again. Only with PAWL_LAB, which names a folder: results are added to a file
// there, and what is there is kept, so that it can be stopped and goes on.
func TestBisections(t *testing.T) {
	out := os.Getenv("PAWL_LAB")
	if out == "" {
		t.Skip("only with PAWL_LAB=FOLDER")
	}
	must(t, os.MkdirAll(out, 0o755))
	path := filepath.Join(out, "bisect.jsonl")
	done := testrun.Rows[bisection](t, path)
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	must(t, err)
	defer file.Close()
	for seed := len(done) + 1; seed <= bisections; seed++ {
		b := bisectOnce(t, seed)
		must(t, json.NewEncoder(file).Encode(b))
		done = append(done, b)
		t.Logf("%d of %d: %+v", seed, bisections, b)
	}
	var right, wrong, among, rounds, gates, kills int
	for _, b := range done {
		rounds, gates, kills = rounds+b.Rounds, gates+b.Gates, kills+b.Kills
		switch {
		case b.Right && b.Certain:
			right++
		case b.Among:
			among++
		}
		if b.Certain && !b.Right {
			wrong++
		}
	}
	n := float64(len(done))
	write(t, filepath.Join(out, "bisect.md"), fmt.Sprintf("| bisections | right and certain | not certain, the culprit among the suspects | wrong and called certain | killed once | gates each | rounds each | with 32 rounds a gate |\n"+
		"| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n| %d | %d | %d | %d | %d | %.1f | %.1f | %.0f |\n",
		len(done), right, among, wrong, kills, float64(gates)/n, float64(rounds)/n, 32*float64(gates)/n))
}

func bisectOnce(t *testing.T, seed int) bisection {
	t.Helper()
	rng := rand.New(rand.NewPCG(uint64(seed), 64))
	dir, culprit := bisectRepository(t, 1+rng.IntN(bisectCommits))
	b := bisection{Seed: seed}
	if seed <= bisectKills {
		cmd := command(t, dir, "bisect", "-f", "pawl.yaml", fmt.Sprintf("HEAD~%d", bisectCommits))
		must(t, cmd.Start())
		time.Sleep(time.Duration(rng.Float64() * float64(40*time.Second)))
		if cmd.Process.Kill() == nil {
			b.Kills = 1
		}
		_ = cmd.Wait()
	}
	r := pawl(t, dir, "bisect", "-f", "pawl.yaml", fmt.Sprintf("HEAD~%d", bisectCommits), "--json")
	b.Seconds = r.took.Seconds()
	var got commits.Result
	if err := json.Unmarshal([]byte(r.stdout), &got); err != nil || r.code != 0 && r.code != 2 {
		t.Fatalf("exit code %d, %v:\n%s%s", r.code, err, r.stdout, r.stderr)
	}
	b.Right, b.Certain, b.Gates, b.Rounds, b.Why = got.Culprit == culprit, got.Certain, len(got.Steps), got.Rounds, got.Why
	for _, s := range got.Suspect {
		b.Among = b.Among || s == culprit
	}
	return b
}

// bisectRepository makes commits that change the program but not its speed, except for one, and returns that one. A
// number in the program changes with every commit, so that no two are identical.
func bisectRepository(t *testing.T, at int) (dir, culprit string) {
	t.Helper()
	dir = slowRepository(t, liveSuite, slowed)
	slow, err := os.ReadFile(filepath.Join(dir, "matmul.c"))
	must(t, err)
	git(t, dir, "reset", "-q", "--hard", "HEAD~1")
	fast, err := os.ReadFile(filepath.Join(dir, "matmul.c"))
	must(t, err)
	for i := 1; i <= bisectCommits; i++ {
		text := fast
		if i >= at {
			text = slow
		}
		write(t, filepath.Join(dir, "matmul.c"), fmt.Sprintf("%s\nconst int matmul_revision = %d;\n", text, i))
		git(t, dir, "commit", "-q", "-a", "-m", fmt.Sprintf("commit %d", i))
		if i == at {
			culprit = git(t, dir, "rev-parse", "HEAD")
		}
	}
	return dir, culprit
}
