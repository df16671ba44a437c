package build

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// DefaultMemory is what a compiler may take: templates of CUDA need that much.
const DefaultMemory = 2 << 30

// Capacity is how many compilers the machine carries at once, each of so much
// memory: no more than there are processors, and at least one.
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

// freeMemory is what can be had without swapping, by the kernel and by the control
// group that pawl runs in; 0 when neither tells.
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
		for at := group; ; at = filepath.Dir(at) { // the tightest limit above counts
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
