package host_test

import (
	"testing"
	"testing/fstest"

	"github.com/goatnote-inc/pawl/internal/kernel/device/host"
)

func TestCapable(t *testing.T) {
	const whole = "         0          0 4294967295\n"
	for _, test := range []struct {
		name, mask, users string
		admin, perfmon    bool
	}{
		{"root", "000001ffffffffff", whole, true, true},
		{"a user", "0000000000000000", whole, false, false},
		{"a container without options", "00000000a80425fb", whole, false, false},
		{"perfmon alone", "0000004000000000", whole, false, true},
		{"root of a user namespace", "000001ffffffffff", "         0       1000          1\n", false, false},
		{"a kernel without namespaces", "000001ffffffffff", "", true, true},
		{"no mask", "", whole, false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := host.System{FS: fstest.MapFS{
				"proc/self/status":  {Data: []byte("Name:\tpawl\nCapEff:\t" + test.mask + "\n")},
				"proc/self/uid_map": {Data: []byte(test.users)},
			}}
			if got := s.Capable(host.SysAdmin); got != test.admin {
				t.Errorf("CAP_SYS_ADMIN: %v, want %v", got, test.admin)
			}
			if got := s.Capable(host.PerfMon); got != test.perfmon {
				t.Errorf("CAP_PERFMON: %v, want %v", got, test.perfmon)
			}
		})
	}
}

func TestContainer(t *testing.T) {
	for mark, want := range map[string]bool{".dockerenv": true, "run/.containerenv": true, "etc/passwd": false} {
		if got := (host.System{FS: fstest.MapFS{mark: {}}}).Container(); got != want {
			t.Errorf("with %s: %v, want %v", mark, got, want)
		}
	}
}
