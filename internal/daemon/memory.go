package daemon

import (
	"io/fs"
	"math"
	"path"
	"runtime/debug"
	"strconv"
	"strings"
)

// limitMemory tells Go how much memory there is, so that it collects garbage before the
// kernel kills the process, and seldom before that: most of what a report leaves is
// garbage, and collecting it twice as often is a tenth of what a report costs.
// Whoever sets GOMEMLIMIT or GOGC knows better. It tells the limit, 0 for none.
func limitMemory(root fs.FS, env environment, share float64) int64 {
	if env["GOMEMLIMIT"] != "" || share == 0 {
		return 0
	}
	limit := int64(float64(memoryOf(root)) * share)
	if limit > 0 {
		debug.SetMemoryLimit(limit)
		if env["GOGC"] == "" {
			debug.SetGCPercent(300)
		}
	}
	return limit
}

// memoryOf is what this process may use: the least that a cgroup above it allows, or
// what the machine has; 0 where neither is known. root is the file system.
func memoryOf(root fs.FS) int64 {
	least := int64(math.MaxInt64)
	if b, err := fs.ReadFile(root, "proc/meminfo"); err == nil {
		for line := range strings.Lines(string(b)) {
			if f := strings.Fields(line); len(f) >= 2 && f[0] == "MemTotal:" {
				if kib, err := strconv.ParseInt(f[1], 10, 64); err == nil && kib > 0 {
					least = kib << 10
				}
			}
		}
	}
	if b, err := fs.ReadFile(root, "proc/self/cgroup"); err == nil {
		for line := range strings.Lines(string(b)) {
			group, ok := strings.CutPrefix(strings.TrimSpace(line), "0::/")
			if !ok {
				continue
			}
			for at := path.Join("sys/fs/cgroup", group); strings.HasPrefix(at, "sys/fs/cgroup"); at = path.Dir(at) {
				text, err := fs.ReadFile(root, at+"/memory.max")
				if err != nil {
					continue
				}
				if n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && n > 0 {
					least = min(least, n)
				}
			}
		}
	}
	if least == math.MaxInt64 {
		return 0
	}
	return least
}
