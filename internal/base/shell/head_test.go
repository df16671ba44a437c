package shell

import (
	"strings"
	"testing"
)

func TestHead(t *testing.T) {
	h := &Head{Max: 5}
	for _, step := range []struct {
		write, want string
		over        bool
	}{
		{"abc", "abc", false},
		{"de", "abcde", false},
		{"f", "abcde", true},
		{strings.Repeat("g", 100), "abcde", true},
	} {
		n, err := h.Write([]byte(step.write))
		if n != len(step.write) || err != nil {
			t.Errorf("wrote %d bytes, %v", n, err)
		}
		if h.String() != step.want || h.Over != step.over {
			t.Errorf("after %.10q: %q, over %v", step.write, h.String(), h.Over)
		}
	}
}
