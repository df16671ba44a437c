package lazyregexp

import "testing"

func TestPatternsAreCompiledWhenTheyAreUsed(t *testing.T) {
	r := New(`^a(b*)$`)
	if !r.MatchString("abb") || r.MatchString("ba") || r.FindStringSubmatch("abb")[1] != "bb" {
		t.Error("a pattern does not say what it says")
	}
	if err := CompileAll(); err != nil {
		t.Error(err)
	}
	broken := New("(")
	if CompileAll() == nil {
		t.Error("a broken pattern is not seen")
	}
	defer func() {
		if recover() == nil {
			t.Error("a broken pattern was used")
		}
	}()
	broken.MatchString("")
}
