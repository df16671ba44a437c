package harness

import (
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/goatnote-inc/pawl/internal/base/shell"
)

// Cores returns the CPU cores that pawl may use.
func Cores() []int {
	var list []int
	set := ownCores()
	for core := 0; len(list) < set.Count(); core++ {
		if set.IsSet(core) {
			list = append(list, core)
		}
	}
	return list
}

func ownCores() (set unix.CPUSet) {
	_ = unix.SchedGetaffinity(0, &set) // an empty set binds nothing
	return set
}

// Bind lets the processes of the tree run only on one core. It changes nothing and reports false if a
// process chose its own cores, or if pawl may not choose for it.
func (t *Tree) Bind(core int) bool {
	var one unix.CPUSet
	one.Set(core)
	return t.moveTo(one)
}

// Unbind lets the processes of the tree run on all cores that pawl may use.
func (t *Tree) Unbind() { t.moveTo(ownCores()) }

func (t *Tree) moveTo(set unix.CPUSet) bool {
	t.freezer.mu.Lock()
	defer t.freezer.mu.Unlock()
	t.updateMembers(shell.Processes())
	threads, own := t.threads(), ownCores()
	for tid := range threads {
		var now unix.CPUSet
		if unix.SchedGetaffinity(tid, &now) == nil && now != own && now != t.cores {
			return false
		}
	}
	for tid := range threads {
		if err := unix.SchedSetaffinity(tid, &set); err != nil && err != unix.ESRCH {
			for tid := range threads {
				_ = unix.SchedSetaffinity(tid, &own)
			}
			return false
		}
	}
	t.cores = set
	return true
}

// WorkTime is the CPU time that a tree's processes have used, in all and by thread.
type WorkTime struct {
	total   time.Duration
	threads map[int]time.Duration
}

// WorkTime reads the CPU time of the tree's processes.
func (t *Tree) WorkTime() WorkTime {
	t.freezer.mu.Lock()
	defer t.freezer.mu.Unlock()
	t.updateMembers(shell.Processes())
	w := WorkTime{threads: t.threads()}
	for _, m := range t.members {
		used, _ := cpuTime(m.PID)
		w.total += used
	}
	return w
}

// Load is what the processes of a tree do at one moment.
type Load struct {
	Running int           // threads that run or wait for a core
	CPU     time.Duration // CPU time that they have used, and their children that ended
}

// Load reads what the processes of the tree do.
func (t *Tree) Load() (l Load) {
	t.freezer.mu.Lock()
	defer t.freezer.mu.Unlock()
	t.updateMembers(shell.Processes())
	for _, m := range t.members {
		used, _ := cpuTime(m.PID)
		l.CPU += used + readProcess(m.PID).spent
		l.Running += m.Running()
	}
	return l
}

// oneThread is the share of the CPU time that a single thread must have used to have done the work alone.
const oneThread = 0.95

// OneThread reports whether a single thread did the work since an earlier reading. It reports false if
// the system does not show the CPU time of threads.
func (w WorkTime) OneThread(since WorkTime) bool {
	most := time.Duration(0)
	for tid, used := range w.threads {
		most = max(most, used-since.threads[tid])
	}
	return most > 0 && float64(most) >= oneThread*float64(w.total-since.total)
}

// threads returns the threads of the tree's processes with their CPU time.
func (t *Tree) threads() map[int]time.Duration {
	list := map[int]time.Duration{}
	for _, m := range t.members {
		folder := "/proc/" + strconv.Itoa(m.PID) + "/task/"
		entries, err := os.ReadDir(folder)
		if err != nil {
			continue
		}
		for _, e := range entries {
			tid, _ := strconv.Atoi(e.Name())
			text, _ := os.ReadFile(folder + e.Name() + "/schedstat") // "nanoseconds on a CPU, nanoseconds waiting, slices"
			used, _, _ := strings.Cut(string(text), " ")
			ns, _ := strconv.ParseInt(used, 10, 64)
			list[tid] = time.Duration(ns)
		}
	}
	return list
}
