package fleet

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/await"
	"github.com/goatnote-inc/pawl/internal/base/testrun"
)

// island is a host with one virtual card: its agent has its own folder for locks, and reaches pawld through a wire.
type island struct {
	device string
	state  string
	wire   *wire
	start  func() *exec.Cmd
	cmd    *exec.Cmd
}

// testLost loses the host of a gate in several ways. The gate must end on the other host, once.
func (w *world) testLost(t *testing.T) {
	t.Helper()
	var mu sync.Mutex
	seconds := map[string][]float64{}
	t.Cleanup(func() {
		table := "| | hosts | median | p99 | longest |\n| --- | ---: | ---: | ---: | ---: |\n"
		for _, kind := range []string{"gone", "frozen", "cut"} {
			list := seconds[kind]
			table += fmt.Sprintf("| %s | %d | %.0f s | %.0f s | %.0f s |\n", kind, len(list), quantile(list, 0.5), quantile(list, 0.99), quantile(list, 1))
		}
		t.Log("\n" + table)
		if folder := os.Getenv("PAWL_LAB"); folder != "" && !t.Failed() {
			must(t, os.WriteFile(filepath.Join(folder, "fleet-lost.md"), []byte(table), 0o600))
		}
	})
	for p := range testrun.Times(1, 4) {
		t.Run(fmt.Sprint("pair ", p), func(t *testing.T) {
			t.Parallel()
			model := fmt.Sprint("pair", p)
			pair := []*island{w.newIsland(t, model, "a"), w.newIsland(t, model, "b")}
			kinds := []string{"frozen"}
			for n := range testrun.Times(0, 13) { // at night 52 hosts are gone for good, and 52 come back
				if n > 0 {
					kinds = append(kinds, []string{"cut", "frozen"}[n%2])
				}
				kinds = append(kinds, "gone")
			}
			for n, kind := range kinds {
				took := w.lose(t, pair, model, kind, rand.IntN(12))
				t.Logf("%d, %s: the other device started after %.0f s", n, kind, took.Seconds())
				mu.Lock()
				seconds[kind] = append(seconds[kind], took.Seconds())
				mu.Unlock()
			}
		})
	}
}

func (w *world) newIsland(t *testing.T, model, name string, env ...string) *island {
	t.Helper()
	dir := filepath.Join(w.dir, model+name)
	must(t, os.MkdirAll(filepath.Join(dir, "tmp"), 0o700))
	i := &island{device: "cpu:" + model + name, state: filepath.Join(dir, "agent"), wire: newWire(t, strings.TrimPrefix(w.gateway, "http://"))}
	code := w.enroll(t, dir, model+name)
	env = append(env, "PAWL_LOCK_DIR="+filepath.Join(dir, "locks"), "TMPDIR="+filepath.Join(dir, "tmp"))
	i.start = func() *exec.Cmd {
		return w.startAs(model+name, env, "pawl-agent", "serve", "--server", "http://"+i.wire.address(), "--state", i.state, "--code", code, "--device", i.device, "--model", model)
	}
	i.cmd = i.start()
	await.TrueWithin(t, patience, i.device+" to be in the fleet", func() bool {
		return strings.Contains(w.must(t, "pawl", "fleet", "devices"), i.device+" on")
	})
	return i
}

// busy reports whether the island has a lease.
func (i *island) busy() bool {
	found, _ := filepath.Glob(filepath.Join(i.state, "leases", "*", "lease.json"))
	return len(found) > 0
}

// lose starts a gate, loses its host after so many calls of the kernel, and lets the host come back when the gate has
// ended. It returns how long it took until the other host started.
func (w *world) lose(t *testing.T, pair []*island, model, kind string, calls int) time.Duration {
	t.Helper()
	r := newRepository(t)
	r.commit(t, "120")
	g := w.startGate(t, r, calls, model)
	at := slices.IndexFunc(pair, (*island).busy)
	if at < 0 || pair[1-at].busy() {
		t.Fatalf("not one of both has the lease: %d", at)
	}
	lost, other := pair[at], pair[1-at]
	since := time.Now()
	back := w.strike(t, lost, kind)
	must(t, os.Remove(r.hold))
	await.TrueWithin(t, patience, "the other host to start", other.busy)
	took := time.Since(since)
	if code := exitCode(t, g.wait()); code != 1 {
		t.Fatalf("%s: exit code %d, want 1\n%s", kind, code, g.said())
	}
	before := w.must(t, "pawl", "fleet", "show", g.id, "--json")
	if !strings.Contains(before, other.device) {
		t.Errorf("%s: not on %s:\n%s", kind, other.device, before)
	}
	back()
	await.TrueWithin(t, patience, "the lost host to give the lease up", func() bool { return !lost.busy() })
	if after := w.must(t, "pawl", "fleet", "show", g.id, "--json"); after != before {
		t.Errorf("%s: the gate changed after its end:\n%s\n%s", kind, before, after)
	}
	if text, err := os.ReadFile(r.problems()); err == nil {
		t.Errorf("%s: %s", kind, text)
	}
	w.seen(t, lost)
	return took
}

// strike loses a host and returns how it comes back.
func (w *world) strike(t *testing.T, i *island, kind string) (back func()) {
	t.Helper()
	switch kind {
	case "cut":
		i.wire.set(true)
		return func() { i.wire.set(false) }
	case "frozen":
		signal(i.cmd.Process.Pid, syscall.SIGSTOP)
		return func() { signal(i.cmd.Process.Pid, syscall.SIGCONT) }
	default:
		signal(i.cmd.Process.Pid, syscall.SIGKILL)
		_ = i.cmd.Wait()
		return func() { i.cmd = i.start() }
	}
}

// seen waits until the placer may use a host again: its agent was heard after it was lost.
func (w *world) seen(t *testing.T, i *island) {
	t.Helper()
	now := time.Now().UTC().Format(time.RFC3339)
	await.TrueWithin(t, patience, i.device+" to be heard", func() bool {
		for line := range strings.Lines(w.must(t, "pawld", "fleet", "device", "list")) {
			if _, at, ok := strings.Cut(line, "seen "); ok && strings.Contains(line, i.device+" ") {
				return strings.TrimSpace(at) >= now
			}
		}
		return false
	})
}

// signal sends a signal to a process and all that descend from it, until no new ones appear.
func signal(pid int, s syscall.Signal) {
	sent := map[int]bool{}
	for again := true; again; {
		again = false
		for _, p := range append([]int{pid}, descendants(pid)...) {
			if !sent[p] {
				sent[p], again = true, true
				_ = syscall.Kill(p, s)
			}
		}
	}
}

// descendants returns the processes below one.
func descendants(pid int) (list []int) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	parents := map[int][]int{}
	for _, file := range stats {
		text, _ := os.ReadFile(file)
		fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:]) // the name before it may hold anything
		if len(fields) < 2 {
			continue
		}
		child, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		parent, _ := strconv.Atoi(string(fields[1]))
		parents[parent] = append(parents[parent], child)
	}
	for queue := []int{pid}; len(queue) > 0; queue = queue[1:] {
		list = append(list, parents[queue[0]]...)
		queue = append(queue, parents[queue[0]]...)
	}
	return list
}

// wire forwards connections to an address until it is cut. Then nothing passes; what was open breaks when it is joined again.
type wire struct {
	l  net.Listener
	to string

	mu    sync.Mutex
	join  *sync.Cond
	isCut bool
	open  map[net.Conn]bool
}

func newWire(t *testing.T, to string) *wire {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	x := &wire{l: l, to: to, open: map[net.Conn]bool{}}
	x.join = sync.NewCond(&x.mu)
	t.Cleanup(func() {
		_ = l.Close()
		x.set(true)
		x.set(false)
	})
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go x.serve(c)
		}
	}()
	return x
}

func (x *wire) address() string { return x.l.Addr().String() }

// set cuts the wire, or joins it.
func (x *wire) set(cut bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.isCut = cut
	if !cut {
		for c := range x.open {
			_ = c.Close()
		}
		clear(x.open)
	}
	x.join.Broadcast()
}

// passes waits while the wire is cut, and reports whether it was not.
func (x *wire) passes() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	passed := !x.isCut
	for x.isCut {
		x.join.Wait()
	}
	return passed
}

func (x *wire) serve(from net.Conn) {
	defer from.Close()
	if !x.passes() {
		return
	}
	to, err := net.Dial("tcp", x.to)
	if err != nil {
		return
	}
	defer to.Close()
	x.mu.Lock()
	x.open[from], x.open[to] = true, true
	x.mu.Unlock()
	var wg sync.WaitGroup
	wg.Go(func() { x.pump(to, from) })
	wg.Go(func() { x.pump(from, to) })
	wg.Wait()
}

func (x *wire) pump(to, from net.Conn) {
	defer to.Close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if !x.passes() {
			return
		}
		if _, failed := to.Write(buffer[:n]); failed != nil || err != nil {
			return
		}
	}
}
