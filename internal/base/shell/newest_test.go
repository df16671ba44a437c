package shell

import (
	"testing"
	"testing/fstest"
)

func TestNewestMatch(t *testing.T) {
	for want, names := range map[string][]string{
		"opt/cuda-12.4/bin/ncu":  {"opt/cuda-9.2/bin/ncu", "opt/cuda-12.4/bin/ncu", "opt/cuda-12.10x"},
		"opt/cuda-12.10/bin/ncu": {"opt/cuda-12.10/bin/ncu", "opt/cuda-12.9/bin/ncu"},
		"opt/cuda/bin/ncu":       {"opt/cuda/bin/ncu"},
		"opt/cuda-010/bin/ncu":   {"opt/cuda-010/bin/ncu", "opt/cuda-9/bin/ncu"},
		"":                       {"opt/hip/bin/ncu"},
	} {
		root := fstest.MapFS{}
		for _, name := range names {
			root[name] = &fstest.MapFile{}
		}
		if got := NewestMatch(root, "usr/*/ncu", "opt/cuda*/bin/ncu"); got != want {
			t.Errorf("%v: %q, want %q", names, got, want)
		}
	}
}
