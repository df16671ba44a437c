package lazyregexp

import (
	"os"
	"testing"
)

// In a command a pattern is compiled when it is first asked, in a test at once: a mistake in
// one that no test uses is seen by all of them.
func TestPatternsAreCompiledWhenTheyAreUsed(t *testing.T) {
	broken := func() (compiled bool) {
		defer func() { compiled = recover() != nil }()
		New("(")
		return false
	}
	if !broken() {
		t.Error("a broken pattern went unseen in a test")
	}
	name := os.Args[0]
	defer func() { os.Args[0] = name }()
	os.Args[0] = "pawl"
	if broken() {
		t.Error("a command compiles patterns that it does not use")
	}
	r := New(`^a(b*)$`)
	if !r.MatchString("abb") || r.MatchString("ba") || r.FindStringSubmatch("abb")[1] != "bb" {
		t.Error("a pattern does not say what it says")
	}
}
