package harness_test

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/goatnote-inc/pawl/internal/kernel/harness"
)

// A session reports the program and the libraries of its processes.
func TestLoadedCode(t *testing.T) {
	self, err := filepath.EvalSymlinks("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	var loaded []string
	c := command(t, "good")
	c.Loaded = func(file string) error {
		loaded = append(loaded, file)
		return nil
	}
	if _, err = measureOnce(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(loaded, self) {
		t.Errorf("%q is not in %q", self, loaded)
	}
	c.Loaded = func(string) error { return errors.New("it belongs to the other side") }
	_, err = measureOnce(t.Context(), c)
	if e, ok := errors.AsType[*harness.Error](err); !ok || e.Kind != harness.Foreign {
		t.Errorf("got %v, want an error of the kind %q", err, harness.Foreign)
	}
}

func TestMappedCode(t *testing.T) {
	for _, tt := range []struct{ line, want string }{
		{"7f1c000-7f1d000 r-xp 00026000 08:01 1234    /usr/lib/libc.so.6\n", "/usr/lib/libc.so.6"},
		{"7f1c000-7f1d000 r-xp 00026000 08:01 1234    /home/my kernels/k.so\n", "/home/my kernels/k.so"},
		{"7f1c000-7f1d000 r-xp 00026000 08:01 1234    /tmp/k.so (deleted)\n", "/tmp/k.so"},
		{"7f1c000-7f1d000 r--p 00026000 08:01 1234    /usr/lib/libc.so.6\n", ""}, // data
		{"7f1c000-7f1d000 r-xp 00000000 00:00 0       [vdso]\n", ""},
		{"7f1c000-7f1d000 rwxp 00000000 00:00 0\n", ""},
		{"", ""},
	} {
		if got := harness.MappedCode(tt.line); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.line, got, tt.want)
		}
	}
}

func TestGroupOf(t *testing.T) {
	for stat, want := range map[string]int{
		"42 (sh) S 1 41 41 0":                41,
		"42 (a) S 9 9 9 (b) S 1 41 41 0":     41,
		"42 (sh) S":                          0,
		"":                                   0,
		"42 (python3 -m x) R 7 40 7 34816 0": 40,
	} {
		if got := harness.GroupOf([]byte(stat)); got != want {
			t.Errorf("%q: group %d, want %d", stat, got, want)
		}
	}
}
