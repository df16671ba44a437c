//go:build linux && (amd64 || arm64)

package setup_test

import (
	"context"
	"maps"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/goatnote-inc/pawl/internal/doctor/setup"
	"github.com/goatnote-inc/pawl/internal/kernel/device"
	"github.com/goatnote-inc/pawl/internal/kernel/device/devicetest"
)

func TestNVIDIA(t *testing.T) {
	stub := devicetest.BuildStub(t)
	adminOnly := map[string]string{"proc/driver/nvidia/params": "ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: 1\n"}
	everybody := map[string]string{"proc/driver/nvidia/params": "RmProfilingAdminOnly: 0\n"}
	for name, test := range map[string]struct {
		trust       string
		persistence int
		files       map[string]string
		admin       bool
		want        map[string]string
		note        string // of counters
	}{
		"as it should be": {
			persistence: 1, files: everybody,
			want: map[string]string{"driver": "here, optional", "persistence": "here, optional", "counters": "here, optional", "ncu": "missing, optional | sudo apt-get install -y --no-install-recommends nsight-compute"},
		},
		"not persistent": {
			want: map[string]string{"persistence": "unset, optional | sudo nvidia-smi -i UUID -pm 1", "counters": ""},
		},
		"counters for root only": {
			files: adminOnly,
			want:  map[string]string{"counters": "unset, optional | sudo sh -c 'echo options nvidia NVreg_RestrictProfilingToAdminUsers=0 > /etc/modprobe.d/nvidia-profiling.conf' (by hand)"},
			note:  "CVE-2018-6260",
		},
		"counters for root, who asks": {
			files: adminOnly, admin: true,
			want: map[string]string{"counters": "here, optional", "persistence": "unset, optional | nvidia-smi -i UUID -pm 1"},
		},
		"counters, and strangers": {
			trust: "trust: self-timed\n", files: adminOnly,
			want: map[string]string{"counters": "unset, optional (by hand)"},
			note: "profile on another machine",
		},
		"a profiler beside the search path": {
			files: map[string]string{"usr/local/cuda-12.6/bin/ncu": ""},
			want:  map[string]string{"ncu": "here, optional"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := devicetest.L4()
			g.Persistence = test.persistence
			stub.SetState(devicetest.State{GPUs: []devicetest.GPU{g}})
			stub.Use()
			files := map[string]string{"etc/os-release": bookworm}
			maps.Copy(files, test.files)
			m := machine{suite: test.trust + "harness: {command: ./h}\n", tools: []string{"git"}, files: files, admin: test.admin}
			o := m.options(t)
			o.Devices = func(ctx context.Context) (device.Inventory, error) {
				return device.List(ctx, device.Options{Root: fstest.MapFS{}})
			}
			p, err := setup.Look(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			for _, i := range p.Items {
				got[i.Name] = strings.ReplaceAll(told(i), g.UUID, "UUID")
				if i.Name == "counters" && !strings.Contains(i.Note, test.note) {
					t.Errorf("it says of the counters %q, want %q", i.Note, test.note)
				}
			}
			for name, want := range test.want {
				if got[name] != want {
					t.Errorf("%s: %q, want %q", name, got[name], want)
				}
			}
			for _, c := range p.Commands {
				if strings.Contains(c.Line, "NVreg") {
					t.Errorf("%s would be run, and it loosens the protection of the machine", c.Line)
				}
			}
		})
	}
}
