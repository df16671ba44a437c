package build

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// DefaultMemory is the memory of one compiler in bytes: CUDA templates need that much.
const DefaultMemory = 2 << 30

// Capacity returns how many compilers can run at once, each with this much memory in bytes: at
// most the number of processors, and at least one.
func Capacity(memory int64) int {
	if memory <= 0 {
		memory = DefaultMemory
	}
	n := runtime.NumCPU()
	if free := freeMemory("/"); free > 0 {
		n = min(n, int(free/memory))
	}
	return max(n, 1)
}

// freeMemory returns the memory available without swapping, limited by the control group that pawl
// runs in; 0 means unknown.
func freeMemory(root string) int64 {
	var free int64
	for line := range strings.Lines(read(root, "proc/meminfo")) {
		if rest, ok := strings.CutPrefix(line, "MemAvailable:"); ok {
			if kb, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64); err == nil {
				free = kb << 10
			}
		}
	}
	for line := range strings.Lines(read(root, "proc/self/cgroup")) {
		group, ok := strings.CutPrefix(strings.TrimSpace(line), "0::")
		if !ok {
			continue
		}
		for at := group; ; at = filepath.Dir(at) { // the tightest limit of all parents applies
			limit, errLimit := strconv.ParseInt(strings.TrimSpace(read(root, "sys/fs/cgroup", at, "memory.max")), 10, 64)
			used, errUsed := strconv.ParseInt(strings.TrimSpace(read(root, "sys/fs/cgroup", at, "memory.current")), 10, 64)
			if errLimit == nil && errUsed == nil {
				if left := max(limit-used, 1); free == 0 || left < free {
					free = left
				}
			}
			if at == "/" || at == "." || at == "" {
				break
			}
		}
	}
	return free
}

func read(parts ...string) string {
	b, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		return ""
	}
	return string(b)
}
