package trial_test

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
)

// burn uses 100 ms of CPU time on each of several threads, the first of which is always the same. If it is the only one, it
// goes on until the threads of Go's runtime, which wake up again and again, have used little beside it: on a busy machine
// 100 ms take long.
func burn(threads string) {
	n, _ := strconv.Atoi(threads)
	if n == 0 {
		return
	}
	runtime.LockOSThread() // for good
	if n == 1 {
		const most = time.Second
		for own, all := threadTime(), cpuClock(unix.CLOCK_PROCESS_CPUTIME_ID); ; {
			useCPU()
			used := threadTime() - own
			if others := cpuClock(unix.CLOCK_PROCESS_CPUTIME_ID) - all - used; others < used/50 || used > most {
				return
			}
		}
	}
	var all sync.WaitGroup
	for range n - 1 {
		all.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			useCPU()
		})
	}
	useCPU()
	all.Wait()
}

// useCPU lets the kernel compute. Beside a thread that computes in Go, the runtime wakes up a hundred times a second to look after
// it, and on a busy machine that is some percent of the CPU time.
func useCPU() {
	buffer := make([]byte, 16<<20)
	for start := threadTime(); threadTime() < start+100*time.Millisecond; {
		if _, err := unix.Getrandom(buffer, 0); err != nil {
			panic(err)
		}
	}
}

func threadTime() time.Duration { return cpuClock(unix.CLOCK_THREAD_CPUTIME_ID) }

func cpuClock(id int32) time.Duration {
	var ts unix.Timespec
	_ = unix.ClockGettime(id, &ts)
	return time.Duration(ts.Nano())
}

// logCores adds the cores that this process may use to a file.
func logCores(path string) {
	if path == "" {
		return
	}
	var text []string
	for _, core := range harness.Cores() {
		text = append(text, strconv.Itoa(core))
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		panic(err)
	}
	_, _ = file.WriteString(strings.Join(text, " ") + "\n")
	file.Close()
}

// Sides that use one thread measure on one core, the same in a round. If one side uses several threads,
// no side is bound, so that it can use them.
func TestSidesShareACore(t *testing.T) {
	cores := harness.Cores()
	for _, tt := range []struct {
		name    string
		threads [2]string
		cores   []int
		bound   bool
	}{
		{"one thread each", [2]string{"1", "1"}, cores, len(cores) > 1},
		{"several threads on one side", [2]string{"1", "3"}, cores, false},
		{"no choice", [2]string{"1", "1"}, cores[:1], false},
		{"a GPU", [2]string{"1", "1"}, nil, false},
		{"no CPU time used", [2]string{"0", "0"}, cores, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			log := filepath.Join(t.TempDir(), "cores")
			p, b, _ := protocolPlan(t, []string{"k"}, map[string][]string{
				// With one processor, no other thread of Go's runtime finds something to do beside the one that computes.
				"a": {"PAWL_TEST_THREADS=" + tt.threads[0], "PAWL_TEST_CORES=" + log, "GOMAXPROCS=" + tt.threads[0]},
				"b": {"PAWL_TEST_THREADS=" + tt.threads[1], "PAWL_TEST_CORES=" + log, "GOMAXPROCS=" + tt.threads[1]},
			}, "a", "b")
			p.Cores = tt.cores
			if _, err := trial.Run(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			var used []int
			for i, r := range b.results {
				if bound := r.Round.Core != nil; bound != tt.bound {
					t.Fatalf("round %d: bound %v, want %v", r.Round.Round, bound, tt.bound)
				}
				if tt.bound {
					used = append(used, *r.Round.Core)
					if i%2 == 1 && used[i] != used[i-1] {
						t.Errorf("round %d: sides on cores %v", r.Round.Round, used[i-1:])
					}
				}
			}
			if tt.bound && used[0] == used[2] {
				t.Errorf("both rounds on core %d, want the next core in the second", used[0])
			}
			text, err := os.ReadFile(log)
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(text)) {
				if n := len(strings.Fields(line)); (n == 1) != (tt.bound || len(cores) == 1) {
					t.Errorf("measured with %d cores", n)
				} else if core, _ := strconv.Atoi(strings.TrimSpace(line)); tt.bound && !slices.Contains(used, core) {
					t.Errorf("measured on core %d; the record has %v", core, used)
				}
			}
		})
	}
}
