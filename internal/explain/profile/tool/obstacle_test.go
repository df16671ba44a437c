package tool

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/gpu"
)

func TestObstacles(t *testing.T) {
	const (
		user    = "CapEff:\t0000000000000000\n"
		perfmon = "CapEff:\t0000004000000000\n"
		root    = "CapEff:\t000001ffffffffff\n"
		closed  = "ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: 1\nTCEBypassMode: 0\n"
		open    = "RmProfilingAdminOnly: 0\n"
	)
	l4 := gpu.Identity{Kind: gpu.NVIDIA, Name: "NVIDIA L4", UUID: "GPU-1", Driver: "550.54.15"}
	newer := l4
	newer.Driver = "570.86.10"
	slice := l4
	slice.Parent = "GPU-1"
	grid := l4
	grid.Name = "GRID T4-8Q"
	for _, test := range []struct {
		name   string
		id     gpu.Identity
		status string
		files  map[string]string
		want   []string // name, whether it stops, a part of the fix
	}{
		{"open to all", l4, user, map[string]string{"proc/driver/nvidia/params": open}, nil},
		{"a driver that does not say", l4, user, nil, nil},
		{"closed to a user", l4, user, map[string]string{"proc/driver/nvidia/params": closed}, []string{"counters stops sudo"}},
		{"closed, and root", l4, root, map[string]string{"proc/driver/nvidia/params": closed}, nil},
		{"closed, with perfmon and a driver too old for it", l4, perfmon, map[string]string{"proc/driver/nvidia/params": closed}, []string{"counters stops sudo"}},
		{"closed, with perfmon", newer, perfmon, map[string]string{"proc/driver/nvidia/params": closed}, nil},
		{"closed, in a container", l4, user, map[string]string{"proc/driver/nvidia/params": closed, ".dockerenv": ""}, []string{"counters stops --cap-add=SYS_ADMIN"}},
		{"closed, in a container of a newer driver", newer, user, map[string]string{"proc/driver/nvidia/params": closed, "run/.containerenv": ""}, []string{"counters stops --cap-add=PERFMON"}},
		{"watched by DCGM", l4, root, map[string]string{"proc/812/comm": "nv-hostengine\n", "proc/1/comm": "systemd\n"}, []string{"dcgm may dcgmi profile --pause"}},
		{"watched by the exporter", l4, root, map[string]string{"proc/99/comm": "dcgm-exporter\n"}, []string{"dcgm may dcgmi profile --pause"}},
		{"a slice", slice, root, nil, []string{"mig may -mig 0"}},
		{"a virtual GPU", grid, root, nil, []string{"vgpu may enable_profiling"}},
		{"under Windows", l4, root, map[string]string{"proc/version": "Linux version 5.15.90.1-microsoft-standard-WSL2"}, []string{"wsl may Control Panel"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			fsys := fstest.MapFS{"proc/self/status": {Data: []byte(test.status)}}
			for name, text := range maps.All(test.files) {
				fsys[name] = &fstest.MapFile{Data: []byte(text)}
			}
			var got []string
			for i, o := range Obstacles(fsys, test.id) {
				stops := "may"
				if o.Stops {
					stops = "stops"
				}
				line := o.Name + " " + stops + " " + o.Fix
				if i < len(test.want) && fits(line, test.want[i]) {
					line = test.want[i]
				}
				got = append(got, line)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// fits tells whether a line begins with the first two words of the other and has the rest of it.
func fits(line, want string) bool {
	words := strings.SplitN(want, " ", 3)
	return slices.Equal(strings.SplitN(line, " ", 3)[:2], words[:2]) && strings.Contains(line, words[2])
}
