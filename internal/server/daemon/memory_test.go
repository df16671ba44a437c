package daemon

import (
	"testing"
	"testing/fstest"
)

func TestMemoryOf(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	machine := file("MemFree: 1 kB\nMemTotal:       24000000 kB\n")
	for _, tc := range []struct {
		name string
		root fstest.MapFS
		want int64
	}{
		{"nothing is known", fstest.MapFS{}, 0},
		{"a machine", fstest.MapFS{"proc/meminfo": machine}, 24000000 << 10},
		{"a container", fstest.MapFS{"proc/meminfo": machine, "proc/self/cgroup": file("0::/\n"), "sys/fs/cgroup/memory.max": file("1000000\n")}, 1000000},
		{"a service", fstest.MapFS{"proc/self/cgroup": file("0::/system.slice/pawld.service\n"), "sys/fs/cgroup/system.slice/pawld.service/memory.max": file("max\n"), "sys/fs/cgroup/system.slice/memory.max": file("2000000\n")}, 2000000},
		{"no limit", fstest.MapFS{"proc/meminfo": machine, "proc/self/cgroup": file("0::/a\n"), "sys/fs/cgroup/a/memory.max": file("max\n")}, 24000000 << 10},
		{"cgroup 1", fstest.MapFS{"proc/meminfo": machine, "proc/self/cgroup": file("4:memory:/a\n")}, 24000000 << 10},
		{"nonsense", fstest.MapFS{"proc/meminfo": file("MemTotal: many\n"), "proc/self/cgroup": file("0::/../../x\n"), "sys/fs/cgroup/memory.max": file("-1")}, 0},
	} {
		if got := memoryOf(tc.root); got != tc.want {
			t.Errorf("%s: %d, want %d", tc.name, got, tc.want)
		}
	}
	if got := limitMemory(fstest.MapFS{"proc/meminfo": machine}, environment{"GOMEMLIMIT": "1GiB"}, 0.9); got != 0 {
		t.Errorf("a limit of the user's is overruled by %d", got)
	}
}
