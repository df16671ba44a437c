package shell

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// started holds the process IDs of commands between Start and the end of Wait. Start holds the lock
// while it forks, so that Processes never takes a new command for an orphan.
var started = struct {
	sync.Mutex
	pids map[int]bool
}{pids: map[int]bool{}}

// adopt makes pawl the parent of processes whose own parent ended. Without it, a process that forks
// twice leaves the tree of its command.
var adopt = sync.OnceFunc(func() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) })

// hide keeps pawl's memory from other processes of the user: it holds seeds and expected results.
// PAWL_DEBUGGER allows a debugger to attach.
var hide = sync.OnceFunc(func() {
	if os.Getenv("PAWL_DEBUGGER") == "" {
		_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	}
})

// Start starts a command made by Command. The caller must call Wait. From the first call on, pawl
// adopts orphans, and other processes cannot read its memory.
func Start(cmd *exec.Cmd) error {
	adopt()
	hide()
	started.Lock()
	defer started.Unlock()
	err := cmd.Start()
	if err == nil {
		started.pids[cmd.Process.Pid] = true
	}
	return err
}

// Wait waits for a command started by Start.
func Wait(cmd *exec.Cmd) error {
	err := cmd.Wait()
	started.Lock()
	defer started.Unlock()
	delete(started.pids, cmd.Process.Pid)
	return err
}

// Run starts a command made by Command and waits for it.
func Run(cmd *exec.Cmd) error {
	if err := Start(cmd); err != nil {
		return err
	}
	return Wait(cmd)
}

// Process is a process below pawl, as the kernel describes it.
type Process struct {
	PID     int
	Start   uint64 // in clock ticks; no two processes have the same PID and Start
	Parent  int
	Session int
	State   byte // as in /proc/PID/stat: T is stopped, Z has ended
	Top     int  // the child of pawl that it descends from; its own PID for a child
	Adopted bool // whether Top is an orphan that pawl did not start
}

// Ended reports whether the process has ended and is waiting to be reaped.
func (p Process) Ended() bool { return p.State == 'Z' || p.State == 'X' }

// Processes returns the running commands of Start, the orphans they left, and all their
// descendants. It leaves out other children of pawl, such as git: these share pawl's session,
// which no process of a command can join.
func Processes() []Process {
	started.Lock()
	defer started.Unlock()
	own, _ := unix.Getsid(0)
	children := lister()
	var list []Process
	for _, pid := range children(os.Getpid()) {
		p, ok := readProcess(pid)
		if !ok || p.Parent != os.Getpid() || p.Session == own && !started.pids[pid] {
			continue
		}
		p.Top, p.Adopted = pid, !started.pids[pid]
		list = append(list, p)
	}
	for i := 0; i < len(list); i++ {
		above := list[i]
		for _, pid := range children(above.PID) {
			if p, ok := readProcess(pid); ok && p.Parent == above.PID {
				p.Top, p.Adopted = above.Top, above.Adopted
				list = append(list, p)
			}
		}
	}
	return list
}

// readProcess reads /proc/PID/stat: "PID (NAME) STATE PARENT GROUP SESSION ...". The name may contain
// anything, so the last parenthesis counts.
func readProcess(pid int) (Process, bool) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return Process{}, false
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 20 {
		return Process{}, false
	}
	p := Process{PID: pid, State: fields[0][0]}
	p.Parent, _ = strconv.Atoi(fields[1])
	p.Session, _ = strconv.Atoi(fields[3])
	p.Start, _ = strconv.ParseUint(fields[19], 10, 64)
	return p, true
}

var listsChildren atomic.Bool // whether the kernel has /proc/PID/task/TID/children

func init() {
	_, err := os.Stat(fmt.Sprintf("/proc/%d/task/%[1]d/children", os.Getpid()))
	listsChildren.Store(err == nil)
}

// lister returns a function that returns the children of a process. If the kernel does not list
// them, it reads all processes of the machine once.
func lister() func(pid int) []int {
	if listsChildren.Load() {
		return childrenOf
	}
	all := map[int][]int{}
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			if p, ok := readProcess(pid); ok {
				all[p.Parent] = append(all[p.Parent], pid)
			}
		}
	}
	return func(pid int) []int { return all[pid] }
}

func childrenOf(pid int) []int {
	var list []int
	for _, task := range Tasks(pid) {
		text, _ := os.ReadFile(task + "/children")
		for word := range strings.FieldsSeq(string(text)) {
			if child, err := strconv.Atoi(word); err == nil {
				list = append(list, child)
			}
		}
	}
	return list
}

// Tasks returns the folders of a process's threads in /proc.
func Tasks(pid int) []string {
	dir := "/proc/" + strconv.Itoa(pid) + "/task"
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	names, _ := f.Readdirnames(-1)
	for i, name := range names {
		names[i] = dir + "/" + name
	}
	return names
}

// Signal sends a signal to p, and never to a later process with the same PID.
func (p Process) Signal(s os.Signal) error {
	process, err := os.FindProcess(p.PID) // a kernel handle, which stays valid when the PID is reused
	if err != nil {
		return err
	}
	defer func() { _ = process.Release() }()
	if now, ok := readProcess(p.PID); !ok || now.Start != p.Start {
		return os.ErrProcessDone
	}
	return process.Signal(s)
}

// Stopped reports whether no thread of p can run: all are stopped or have ended.
func (p Process) Stopped() bool { return len(bytes.Trim(p.threadStates(), "TtZX")) == 0 }

// Running returns how many threads of p run or wait for a core.
func (p Process) Running() int { return bytes.Count(p.threadStates(), []byte("R")) }

// threadStates returns the state of every thread of p, as in /proc/PID/stat.
func (p Process) threadStates() []byte {
	var list []byte
	for _, task := range Tasks(p.PID) {
		text, err := os.ReadFile(task + "/stat")
		if err != nil {
			continue // it has ended
		}
		_, state, _ := strings.Cut(string(text[bytes.LastIndexByte(text, ')')+1:]), " ")
		if state != "" {
			list = append(list, state[0])
		}
	}
	return list
}

// Reap removes an orphan that has ended from the process table, and reports whether it did. It
// leaves commands of Start alone: Wait needs their exit status.
func (p Process) Reap() bool {
	if !p.Adopted || p.PID != p.Top || !p.Ended() {
		return false
	}
	reaped, err := unix.Wait4(p.PID, nil, unix.WNOHANG, nil)
	return err == nil && reaped == p.PID
}
