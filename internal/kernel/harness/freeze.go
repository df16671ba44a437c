package harness

import (
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/goatnote-inc/pawl/internal/base/shell"
)

// Freezer lets only one of several process trees run at a time. It stops the others and counts the
// CPU time that they use nevertheless.
type Freezer struct {
	mu    sync.Mutex
	trees []*Tree
	// leftover holds orphans that existed before the first turn: from a build, or from a harness that
	// ended. They are counted but not stopped, because another process may depend on them.
	leftover *Tree
}

// Tree holds the processes of one side: those its sessions started and all their descendants,
// even those that left the process group.
type Tree struct {
	Name string

	freezer *Freezer
	roots   map[int]bool // PIDs of processes that pawl itself started
	members map[processID]*member
	changed bool // processes came or went since the guard was told
	stopped bool
	use     Use
	cores   unix.CPUSet // cores that pawl chose last; empty if it chose none
}

// Use is the activity of a tree's processes while they were stopped and other trees ran.
type Use struct {
	CPU   time.Duration
	Wall  time.Duration // how long other trees ran
	Ended int           // processes that ended, which a stopped process cannot do
}

type processID struct {
	pid   int
	start uint64
}

type member struct {
	shell.Process
	cpu           time.Duration // CPU time at the last reading
	stoppedByPawl bool          // pawl stopped it while it was running
}

// Tree adds a process tree for a side.
func (f *Freezer) Tree(name string) *Tree {
	f.mu.Lock()
	defer f.mu.Unlock()
	t := &Tree{Name: name, freezer: f, roots: map[int]bool{}, members: map[processID]*member{}}
	f.trees = append(f.trees, t)
	return t
}

// addRoot registers a process that pawl started.
func (t *Tree) addRoot(pid int) {
	t.freezer.mu.Lock()
	defer t.freezer.mu.Unlock()
	t.roots[pid], t.changed = true, true
}

// Turn lets only t run while do runs, then stops t too.
func (f *Freezer) Turn(t *Tree, do func() error) error {
	f.startTurn(t)
	began := time.Now()
	defer func() { f.endTurn(t, time.Since(began)) }()
	return do()
}

// Close kills all processes of all trees.
func (f *Freezer) Close() {
	for _, t := range f.trees {
		t.kill()
	}
}

// Use returns the tree's activity while stopped, since the last call.
func (t *Tree) Use() Use {
	t.freezer.mu.Lock()
	defer t.freezer.mu.Unlock()
	defer func() { t.use = Use{} }()
	return t.use
}

// Left returns the activity, during turns, of processes older than the first turn, since the last call.
func (f *Freezer) Left() Use {
	if f.leftover == nil {
		return Use{}
	}
	return f.leftover.Use()
}

func (f *Freezer) startTurn(t *Tree) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.leftover == nil {
		f.leftover = &Tree{freezer: f, members: map[processID]*member{}}
		f.assign(nil)
		f.leftover.read()
	}
	t.stopped = false
	for _, m := range t.members {
		if m.stoppedByPawl {
			_ = m.Signal(syscall.SIGCONT)
			m.stoppedByPawl = false
		}
	}
}

func (f *Freezer) endTurn(t *Tree, took time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.assign(t)
	for _, other := range append(slices.Clone(f.trees), f.leftover) {
		if other != t {
			other.count(took)
			other.updateGuard() // it may have gained orphans
		}
	}
	t.stop()
}

// assign assigns processes to trees. Orphans without a known tree belong to the tree that ran. If
// another tree ran although it was stopped, they belong to that one: a tree must not be able to
// pass its processes to another. Orphans from before the first turn belong to left.
func (f *Freezer) assign(ran *Tree) {
	all := shell.Processes()
	for _, t := range f.trees {
		t.updateMembers(all)
	}
	if f.leftover == nil {
		return // no turn has started
	}
	f.leftover.updateMembers(all)
	for _, t := range f.trees {
		if t != ran && t.ranStopped() {
			ran = t
			break
		}
	}
	if ran == nil {
		ran = f.leftover
	}
	for _, p := range all {
		if p.Adopted && !f.owned(p) {
			ran.members[processID{p.PID, p.Start}], ran.changed = &member{Process: p}, true
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
	return f.leftover.members[id] != nil
}

// updateMembers updates the members of the tree. A process is a member if it descends from a member, is in
// the session of a root, or was a member before its parent ended.
func (t *Tree) updateMembers(all []shell.Process) {
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
			t.members[id], t.changed = &member{Process: p}, true
		}
	}
	for id, m := range t.members {
		if !mine[id.pid] {
			if m.stoppedByPawl && !m.Ended() && !t.roots[id.pid] {
				t.use.Ended++
			}
			delete(t.members, id)
			t.changed = true
		}
	}
}

// wokenTime is less CPU time than a process needs to fork a child that leaves the tree. It is more
// than a process needs to stop if it was not scheduled in time.
const wokenTime = 50 * time.Microsecond

// ranStopped reports whether a process of the tree has run since it was stopped.
func (t *Tree) ranStopped() bool {
	for _, m := range t.members {
		if now, ok := cpuTime(m.PID); ok && t.stopped && now > m.cpu+wokenTime {
			return true
		}
	}
	return false
}

// count adds the CPU time that members used since the last reading. All the time of a new process counts.
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

// Limits on waiting for a process that forks faster than it is stopped, or that waits for a device.
// The CPU time it uses after that is counted.
const (
	maxWalks = 50
	maxStop  = time.Second // a busy machine is slow to schedule a process that is about to stop
)

// stop stops all members. Members that are already stopped, such as a launcher's guest, are not
// continued later.
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
		t.updateGuard()
		for _, m := range fresh {
			if !m.Ended() && !m.Stopped() {
				m.stoppedByPawl = m.Signal(syscall.SIGSTOP) == nil
			}
		}
		for _, m := range fresh {
			for wait := 20 * time.Microsecond; !m.Stopped() && time.Now().Before(deadline); wait *= 2 {
				time.Sleep(wait)
			}
		}
		t.freezer.assign(t) // a scan misses processes whose parent ends meanwhile
	}
	t.settle(deadline, cpuTime)
	t.stopped = true
}

// settle reads the CPU time of the members until it no longer changes. A process that the kernel calls stopped may still be
// on its CPU. If the host of a virtual machine takes that CPU away in between, the time counts as used, after the stop.
func (t *Tree) settle(deadline time.Time, cpu func(pid int) (time.Duration, bool)) {
	for wait := 20 * time.Microsecond; ; wait = min(2*wait, time.Millisecond) {
		changed := false
		for _, m := range t.members {
			if now, ok := cpu(m.PID); ok && now != m.cpu {
				m.cpu, changed = now, true
			}
		}
		if !changed || time.Now().After(deadline) {
			return
		}
		time.Sleep(wait)
	}
}

// scan finds the members while their parents are still alive.
func (t *Tree) scan() {
	t.freezer.mu.Lock()
	defer t.freezer.mu.Unlock()
	t.updateMembers(shell.Processes())
}

// maxKill is how long the processes of a tree may take to end after SIGKILL.
const maxKill = 2 * time.Second

// kill kills all members and reaps those that pawl adopted.
func (t *Tree) kill() {
	t.freezer.mu.Lock()
	defer t.freezer.mu.Unlock()
	deadline := time.Now().Add(maxKill)
	for wait := 50 * time.Microsecond; ; wait = min(2*wait, 10*time.Millisecond) {
		t.freezer.assign(t)
		alive := false
		for _, m := range t.members {
			m.stoppedByPawl = false
			if m.Ended() {
				// If its parent is about to end, a later pass adopts and reaps it.
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
	t.stopped, t.changed = false, true
	t.updateGuard()
}

// cpuTime returns the CPU time of all threads of a process.
func cpuTime(pid int) (time.Duration, bool) {
	var ts unix.Timespec
	// The ID of another process's clock: the inverted PID and the bits for "all threads, scheduler time".
	if unix.ClockGettime(int32(^pid<<3|2), &ts) != nil {
		return 0, false
	}
	return time.Duration(ts.Nano()), true
}
