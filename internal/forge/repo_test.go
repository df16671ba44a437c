package forge

import (
	"strings"
	"testing"
)

func TestParseRepo(t *testing.T) {
	for text, good := range map[string]bool{
		"a/b": true, "Some-Org/some.repo_1": true, "group/sub/name": true,
		"": false, "a": false, "a/": false, "/b": false, "a//c": false, "/a/b": false, "a/../c": false, "a/..": false, "a/b?x": false, "a b/c": false, "https://h/a/b": false, strings.Repeat("a/", 21) + "b": false,
	} {
		r, err := ParseRepo(text)
		if (err == nil) != good {
			t.Errorf("%q: %v", text, err)
		}
		if good && r.String() != text {
			t.Errorf("%q is read as %q", text, r)
		}
	}
}
