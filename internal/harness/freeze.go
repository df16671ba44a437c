package harness

import (
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/goatnote-inc/pawl/internal/shell"
)

// Freezer lets one of several trees of processes run at a time. The others are stopped, and what CPU
// time they use nevertheless is counted.
type Freezer struct {
	mu    sync.Mutex
	trees []*Tree
	// left holds orphans that were there before the first turn: of a build, or of a harness that
	// ended. They are not stopped, since another process may need their answers, but counted.
	left *Tree
}

// Tree is the processes of one side: what its sessions started, and what those started, whether or
// not they left the process group.
type Tree struct {
	Name string

	freezer *Freezer
	roots   map[int]bool // processes that pawl itself started
	members map[processID]*member
	stopped bool
	use     Use
}

// Use is what the processes of a tree did while they were stopped and others ran.
type Use struct {
	CPU   time.Duration
	Wall  time.Duration // how long others ran
	Ended int           // processes that ended, although a stopped process cannot
}

type processID struct {
	pid   int
	start uint64
}

type member struct {
	shell.Process
	cpu  time.Duration // when it was last read
	held bool          // it was running and is stopped by pawl
}

// Tree adds a tree for a side.
func (f *Freezer) Tree(name string) *Tree {
	f.mu.Lock()
	defer f.mu.Unlock()
	t := &Tree{Name: name, freezer: f, roots: map[int]bool{}, members: map[processID]*member{}}
	f.trees = append(f.trees, t)
	return t
}

// root adds a process that pawl started.
func (t *Tree) root(pid int) {
	t.freezer.mu.Lock()
	defer t.freezer.mu.Unlock()
	t.roots[pid] = true
}

// Turn lets t run while do runs, and no other tree. Afterwards t is stopped too.
func (f *Freezer) Turn(t *Tree, do func() error) error {
	f.begin(t)
	began := time.Now()
	defer func() { f.end(t, time.Since(began)) }()
	return do()
}

// Close ends all processes of all trees.
func (f *Freezer) Close() {
	for _, t := range f.trees {
		t.kill()
	}
}

// Use returns what the tree did while it was stopped, since the last call.
func (t *Tree) Use() Use {
	t.freezer.mu.Lock()
	defer t.freezer.mu.Unlock()
	defer func() { t.use = Use{} }()
	return t.use
}

// Left returns what processes did during turns that were there before the first, since the last call.
func (f *Freezer) Left() Use {
	if f.left == nil {
		return Use{}
	}
	return f.left.Use()
}

func (f *Freezer) begin(t *Tree) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.left == nil {
		f.left = &Tree{freezer: f, members: map[processID]*member{}}
		f.sort(nil)
		f.left.read()
	}
	t.stopped = false
	for _, m := range t.members {
		if m.held {
			_ = m.Signal(syscall.SIGCONT)
			m.held = false
		}
	}
}

func (f *Freezer) end(t *Tree, took time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sort(t)
	for _, other := range append(slices.Clone(f.trees), f.left) {
		if other != t {
			other.count(took)
			other.tellGuard() // it may have got orphans
		}
	}
	t.stop()
}

// sort finds the processes of all trees. Orphans that no tree is known to own are those of the tree
// that ran, unless another ran when it was stopped: then they are that one's, since a tree must not
// be able to give its processes to another. Before the first turn they are left from before.
func (f *Freezer) sort(ran *Tree) {
	all := shell.Processes()
	for _, t := range f.trees {
		t.pick(all)
	}
	if f.left == nil {
		return // no turns are taken
	}
	f.left.pick(all)
	for _, t := range f.trees {
		if t != ran && t.ranStopped() {
			ran = t
			break
		}
	}
	if ran == nil {
		ran = f.left
	}
	for _, p := range all {
		if p.Adopted && !f.owned(p) {
			ran.members[processID{p.PID, p.Start}] = &member{Process: p}
		}
	}
}

func (f *Freezer) owned(p shell.Process) bool {
	id := processID{p.PID, p.Start}
	for _, t := range f.trees {
		if t.members[id] != nil {
			return true
		}
	}
	return f.left.members[id] != nil
}

// pick updates the members of the tree. A process is a member if it descends from one, has the
// session of a root, or was one before its parent ended.
func (t *Tree) pick(all []shell.Process) {
	mine := map[int]bool{}
	for _, p := range all {
		id := processID{p.PID, p.Start}
		if !mine[p.Parent] && !t.roots[p.PID] && !t.roots[p.Session] && t.members[id] == nil {
			continue
		}
		mine[p.PID] = true
		if m := t.members[id]; m != nil {
			m.Process = p
		} else {
			t.members[id] = &member{Process: p}
		}
	}
	for id, m := range t.members {
		if !mine[id.pid] {
			if m.held && !m.Ended() && !t.roots[id.pid] {
				t.use.Ended++
			}
			delete(t.members, id)
		}
	}
}

// wokenTime is less than a process needs to fork one that leaves the tree, and more than one needs to
// stop that was not run in time.
const wokenTime = 50 * time.Microsecond

// ranStopped reports whether a process of the tree ran since it was stopped.
func (t *Tree) ranStopped() bool {
	for _, m := range t.members {
		if now, ok := cpuTime(m.PID); ok && t.stopped && now > m.cpu+wokenTime {
			return true
		}
	}
	return false
}

// count adds what the members computed since they were read last. A new process counts as a whole.
func (t *Tree) count(took time.Duration) {
	t.use.Wall += took
	for _, m := range t.members {
		if now, ok := cpuTime(m.PID); ok {
			t.use.CPU += now - m.cpu
			m.cpu = now
		}
	}
}

func (t *Tree) read() {
	for _, m := range t.members {
		m.cpu, _ = cpuTime(m.PID)
	}
}

// A process that forks faster than it is stopped, or that waits for a device, is not waited for
// longer: what it computes is counted.
const (
	maxWalks = 50
	maxStop  = time.Second // a busy machine takes long to run a process that is to stop
)

// stop stops all members. Those that are stopped already, such as a launcher's guest, are not
// continued later either.
func (t *Tree) stop() {
	known := map[processID]bool{}
	deadline := time.Now().Add(maxStop)
	for range maxWalks {
		var fresh []*member
		for id, m := range t.members {
			if !known[id] {
				fresh = append(fresh, m)
				known[id] = true
			}
		}
		if len(fresh) == 0 {
			break
		}
		t.tellGuard()
		for _, m := range fresh {
			if !m.Ended() && !m.Stopped() {
				m.held = m.Signal(syscall.SIGSTOP) == nil
			}
		}
		for _, m := range fresh {
			for wait := 20 * time.Microsecond; !m.Stopped() && time.Now().Before(deadline); wait *= 2 {
				time.Sleep(wait)
			}
		}
		t.freezer.sort(t) // a walk misses processes whose parent ends meanwhile
	}
	t.read()
	t.stopped = true
}

// see finds the members while their parents live.
func (t *Tree) see() {
	t.freezer.mu.Lock()
	defer t.freezer.mu.Unlock()
	t.pick(shell.Processes())
}

// maxKill is how long the processes of a tree may take to end when they are killed.
const maxKill = 2 * time.Second

// kill ends all members and reaps those that pawl adopted.
func (t *Tree) kill() {
	t.freezer.mu.Lock()
	defer t.freezer.mu.Unlock()
	deadline := time.Now().Add(maxKill)
	for wait := 50 * time.Microsecond; ; wait = min(2*wait, 10*time.Millisecond) {
		t.freezer.sort(t)
		alive := false
		for _, m := range t.members {
			m.held = false
			if m.Ended() {
				// One whose parent is about to end is adopted, and reaped, in a later pass.
				alive = alive || !m.Reap() && !t.roots[m.PID]
				continue
			}
			alive = true
			_ = m.Signal(syscall.SIGKILL)
		}
		if !alive || time.Now().After(deadline) {
			break
		}
		time.Sleep(wait)
	}
	clear(t.members)
	clear(t.roots)
	t.stopped = false
	t.tellGuard()
}

// cpuTime reads what all threads of a process have computed.
func cpuTime(pid int) (time.Duration, bool) {
	var ts unix.Timespec
	// The clock of another process: its number, inverted, and "all threads, scheduler time".
	if unix.ClockGettime(int32(^pid<<3|2), &ts) != nil {
		return 0, false
	}
	return time.Duration(ts.Nano()), true
}
