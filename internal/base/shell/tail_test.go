package shell

import (
	"strings"
	"testing"
)

func TestTail_KeepsTheEnd(t *testing.T) {
	t.Parallel()
	whole := strings.Repeat("0123456789", 10)
	for _, size := range []int{1, 3, 7, 20, 100} {
		tail := &Tail{Max: 7}
		for rest := whole; rest != ""; {
			n := min(size, len(rest))
			if written, err := tail.Write([]byte(rest[:n])); written != n || err != nil {
				t.Fatal(written, err)
			}
			rest = rest[n:]
		}
		if got := string(tail.Bytes()); got != "3456789" {
			t.Errorf("written in pieces of %d: %q", size, got)
		}
	}
}
