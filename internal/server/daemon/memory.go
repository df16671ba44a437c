package daemon

import (
	"io/fs"
	"math"
	"path"
	"runtime/debug"
	"strconv"
	"strings"
)

// limitMemory sets Go's memory limit, so that garbage is collected before the kernel kills the process, and
// rarely before that. Most of what a report leaves is garbage, and collecting it twice as often is a tenth of
// the cost of a report. GOMEMLIMIT and GOGC take precedence. It returns the limit, 0 for none.
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

// memoryOf returns the memory that this process may use: the minimum that its cgroups allow, or the memory of
// the machine; 0 if neither is known. root is the file system.
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
