package pawl_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/client/clienttest"
	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/measure"
)

// TestPushSurvivesKills kills pawl push at 50 random moments. What was in the spool then
// arrives with --resume alone, to the byte; in the end every run arrived, exactly once.
func TestPushSurvivesKills(t *testing.T) {
	const runs = 50
	server := clienttest.New("kernels", "secret")
	defer server.Close()
	dir := t.TempDir()
	spool := filepath.Join(dir, "spool")
	pawl := func(ctx context.Context, args ...string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, "pawl", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PAWL_SERVER="+server.URL, "PAWL_PROJECT=kernels", "PAWL_TOKEN=secret", "PAWL_SPOOL="+spool,
			"GITHUB_ACTIONS=", "GITHUB_EVENT_PATH=", "GITHUB_HEAD_REF=", "GITHUB_REF_NAME=", "GITHUB_REF=")
		return cmd
	}
	done := func(args ...string) {
		t.Helper()
		if out, err := pawl(t.Context(), args...).CombinedOutput(); err != nil {
			t.Fatalf("pawl %v: %v\n%s", args, err, out)
		}
	}
	// Moments are drawn from how long a push takes, and from less once the machine is faster.
	began := time.Now()
	done("push", writeRecord(t, dir, 0))
	whole := time.Since(began)

	random := rand.New(rand.NewPCG(8, 50))
	seen := map[string][]byte{} // what stood in the spool after a kill
	killed := 0
	for i := 1; i <= runs; i++ {
		cmd := pawl(t.Context(), "push", writeRecord(t, dir, i))
		victim := make(chan *os.Process, 1)
		killAt(server, victim, i%3, 1+random.IntN(5))
		began := time.Now()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		victim <- cmd.Process
		moment := time.Hour // the server kills it
		if i%3 == 0 {
			moment = time.Duration(random.Int64N(int64(whole)))
		}
		alarm := time.AfterFunc(moment, func() { _ = cmd.Process.Kill() })
		if cmd.Wait() != nil {
			killed++
		} else if i%3 == 0 {
			whole = min(whole, time.Since(began))
		}
		alarm.Stop()
		maps.Copy(seen, inSpool(t, spool))
	}
	server.Before(nil)
	server.CutAfter(nil)
	t.Logf("%d of %d were killed, %d of them with the report in the spool", killed, runs, len(seen))
	done("push", "--resume")
	reports := server.Reports()
	for name, body := range seen {
		if !slices.ContainsFunc(slices.Collect(maps.Values(reports)), func(b []byte) bool { return bytes.Equal(b, body) }) {
			t.Errorf("%s was in the spool and did not arrive as it was", name)
		}
	}
	for i := range runs + 1 { // whoever was killed before that pushes again
		if _, ok := reports[client.Key(&client.Report{Run: runName(i)})]; !ok {
			done("push", filepath.Join(dir, fmt.Sprint(i)))
		}
	}
	if reports = server.Reports(); len(reports) != runs+1 {
		t.Errorf("%d reports are kept of %d", len(reports), runs+1)
	}
	for i := range runs + 1 {
		if _, ok := reports[client.Key(&client.Report{Run: runName(i)})]; !ok {
			t.Errorf("run %d is missing", i)
		}
	}
	if left := inSpool(t, spool); len(left) > 0 {
		t.Errorf("%d reports wait after all of them arrived", len(left))
	}
	if killed < runs/2 || len(seen) < runs/4 {
		t.Errorf("%d were killed, %d of them with the report in the spool: the moments show too little", killed, len(seen))
	}
}

// killAt lets the server kill the sender at its n-th request: before it does what is
// asked, or after it did and before it says so. How 0 leaves that to somebody else.
func killAt(server *clienttest.Server, victim <-chan *os.Process, how, n int) {
	var count atomic.Int64
	kill := func() bool {
		if int(count.Add(1)) != n {
			return false
		}
		_ = (<-victim).Kill() // SIGKILL
		return true
	}
	server.Before(nil)
	server.CutAfter(nil)
	switch how {
	case 1:
		server.Before(func(http.ResponseWriter, *http.Request) bool {
			if kill() {
				panic(http.ErrAbortHandler)
			}
			return false
		})
	case 2:
		server.CutAfter(func(*http.Request) bool { return kill() })
	}
}

// inSpool are the bodies of the reports that wait: whatever is there under its name has
// to be whole.
func inSpool(t *testing.T, spool string) map[string][]byte {
	t.Helper()
	entries, err := os.ReadDir(spool)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	list := map[string][]byte{}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		body, err := os.ReadFile(filepath.Join(spool, e.Name(), "report.json"))
		if err != nil {
			t.Errorf("%s has no report: %v", e.Name(), err)
			continue
		}
		if _, err := client.Decode(body, time.Now()); err != nil {
			t.Errorf("%s: %v", e.Name(), err)
		}
		list[e.Name()] = body
	}
	return list
}

func runName(i int) string { return fmt.Sprintf("01JCPT3Y3JQK6Z0Q8W3V5N%04d", i) }

// writeRecord makes a folder of results with a small record.
func writeRecord(t *testing.T, dir string, i int) string {
	t.Helper()
	run := &measure.Run{Header: measure.Header{
		Schema: measure.SchemaRun, ID: runName(i), Created: time.Now().Add(-time.Hour), Source: measure.Measured, Trust: measure.Trusted, Suite: measure.SuiteRef{Name: "s"},
		Device: gpu.Identity{Kind: "cpu", Name: "a CPU"}, Testbed: measure.Testbed{Kind: "cpu", Device: "a CPU", Clocks: gpu.ClockPolicy{Mode: gpu.ClocksFree}},
		Implementations: []measure.Implementation{{Name: measure.Candidate, Commit: fmt.Sprintf("%040x", i)}},
	}}
	c := measure.Case{CaseKey: measure.CaseKey{Benchmark: "b", Implementation: measure.Candidate}, Unit: "ns"}
	for round := range 4 {
		run.Rounds = append(run.Rounds, measure.Round{Index: round})
		c.Rounds = append(c.Rounds, measure.CaseRound{Round: round, Samples: measure.Samples{100, 101, float64(102 + i)}})
	}
	run.Cases, run.End = []measure.Case{c}, measure.End{State: measure.Complete}
	folder := filepath.Join(dir, fmt.Sprint(i))
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := measure.Save(filepath.Join(folder, "current.json"), run); err != nil {
		t.Fatal(err)
	}
	return folder
}
