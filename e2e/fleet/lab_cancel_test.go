package fleet

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/await"
	"github.com/goatnote-inc/pawl/internal/base/testrun"
)

const labCancels = 100 // of each kind

// cancellation is a gate that was canceled while it measured.
type cancellation struct {
	Kind    string  `json:"kind"`
	Calls   int     `json:"calls"`   // of the kernel that had started
	Seconds float64 `json:"seconds"` // until its kernel had ended and the agent had removed its lease
}

// TestLabCancels cancels gates at random moments of their measurement, by Ctrl-C and by new pushes, and measures when the card is
// idle. It adds a line for each to fleet-cancels.jsonl, and continues there when it is started again.
//
//	PAWL_LAB=FOLDER go test ./e2e/fleet -run LabCancels -timeout 3h -v
func TestLabCancels(t *testing.T) {
	folder := labFolder(t)
	path := filepath.Join(folder, "fleet-cancels.jsonl")
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	must(t, err)
	defer file.Close()
	w, random := newWorld(t), rand.New(rand.NewPCG(6, 0))
	for _, kind := range []string{"Ctrl-C", "a new push"} {
		next := map[string]func(calls int) cancellation{"Ctrl-C": w.interrupts(t), "a new push": w.pushes(t)}[kind]
		left := labCancels
		for _, row := range testrun.Rows[cancellation](t, path) {
			left -= count(row.Kind == kind)
		}
		for range left {
			c := next(random.IntN(10))
			c.Kind = kind
			must(t, json.NewEncoder(file).Encode(c))
			t.Logf("%+v", c)
		}
	}
	text := cancelsTable(testrun.Rows[cancellation](t, path))
	t.Log("\n" + text)
	must(t, os.WriteFile(filepath.Join(folder, "fleet-cancels.md"), []byte(text), 0o600))
}

// interrupts returns a function that sends SIGINT to pawl run --on while the kernel is in the call after so many.
func (w *world) interrupts(t *testing.T) func(calls int) cancellation {
	t.Helper()
	return func(calls int) cancellation {
		r := newRepository(t)
		r.commit(t, "120")
		g := w.startGate(t, r, calls, "cpu")
		idle := w.untilIdle(t)
		must(t, g.cmd.Process.Signal(os.Interrupt))
		c := cancellation{Calls: r.made(), Seconds: idle()}
		if code := exitCode(t, g.wait()); code != 5 {
			t.Fatalf("exit code %d, want 5\n%s", code, g.said())
		}
		return c
	}
}

// pushes returns a function that pushes to a pull request while the kernel is in the call after so many.
func (w *world) pushes(t *testing.T) func(calls int) cancellation {
	t.Helper()
	var p *pull
	ms := 120
	push := func() {
		ms ^= 1 // a gate has twelve calls if the kernel is a fifth slower, and fewer if it is half slower
		head := p.push(t, strconv.Itoa(ms))
		if code := p.report(t, p.secret, "synchronize", head); code != http.StatusAccepted {
			t.Fatalf("the delivery was answered with %d", code)
		}
	}
	return func(calls int) cancellation {
		if p == nil { // the first gate has none before it
			p = w.newPull(t)
			must(t, os.WriteFile(p.hold, []byte("0"), 0o600))
			push()
			await.TrueWithin(t, patience, "the first gate to measure", func() bool { return p.made() > 0 })
		}
		calls += p.made() - 1
		must(t, os.WriteFile(p.hold+".new", []byte(strconv.Itoa(calls)), 0o600))
		must(t, os.Rename(p.hold+".new", p.hold)) // the kernel may read it at any time
		await.TrueWithin(t, patience, "the kernel to wait", func() bool { return p.made() > calls })
		before := p.made()
		idle := w.untilIdle(t)
		push()
		c := cancellation{Calls: before, Seconds: idle()}
		await.TrueWithin(t, patience, "the next gate to measure", func() bool { return p.made() > before })
		return c
	}
}

// untilIdle returns a function that waits until the lease that the agent has now is gone, and returns the seconds since then. The agent
// removes a lease after its pawl and the kernel have ended.
func (w *world) untilIdle(t *testing.T) func() float64 {
	t.Helper()
	held, err := filepath.Glob(filepath.Join(w.state(), "leases", "*"))
	must(t, err)
	if len(held) != 1 {
		t.Fatalf("the agent has the leases %v, want one", held)
	}
	start := time.Now()
	return func() float64 {
		await.TrueWithin(t, patience, "the card to be idle", func() bool {
			_, err := os.Stat(filepath.Join(held[0], "lease.json"))
			return os.IsNotExist(err)
		})
		return time.Since(start).Seconds()
	}
}

func cancelsTable(rows []cancellation) string {
	var b strings.Builder
	b.WriteString("| | gates | median | p99 | longest |\n| --- | ---: | ---: | ---: | ---: |\n")
	for _, kind := range []string{"Ctrl-C", "a new push"} {
		var took []float64
		for _, c := range rows {
			if c.Kind == kind {
				took = append(took, c.Seconds)
			}
		}
		fmt.Fprintf(&b, "| %s | %d | %.1f s | %.1f s | %.1f s |\n", kind, len(took), quantile(took, 0.5), quantile(took, 0.99), quantile(took, 1))
	}
	return b.String()
}
