package client_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/client"
)

// The rules are GitHub's, as its documentation of code owners tells them.
func TestOwners(t *testing.T) {
	for _, tc := range []struct{ name, file, path, want string }{
		{"nobody", "", "kernels/a.cu", ""},
		{"everybody", "* @all", "kernels/deep/a.cu", "@all"},
		{"the last line that matches counts", "* @all\n*.cu @gpu", "a.cu", "@gpu"},
		{"also where it says less", "*.cu @gpu\n* @all", "a.cu", "@all"},
		{"several", "* @a @octo/b c@example.com", "a.cu", "@a @octo/b c@example.com"},
		{"an ending, anywhere", "*.cu @gpu", "kernels/deep/a.cu", "@gpu"},
		{"an ending of another", "*.cu @gpu", "kernels/a.cuh", ""},
		{"a name, anywhere", "a.cu @gpu", "kernels/a.cu", "@gpu"},
		{"a name at the top", "/a.cu @gpu", "kernels/a.cu", ""},
		{"a name at the top, there", "/a.cu @gpu", "a.cu", "@gpu"},
		{"a folder at the top", "/kernels/ @gpu", "kernels/deep/a.cu", "@gpu"},
		{"a folder at the top, elsewhere", "/kernels/ @gpu", "old/kernels/a.cu", ""},
		{"a folder anywhere", "kernels/ @gpu", "old/kernels/deep/a.cu", "@gpu"},
		{"a folder is no file", "kernels/ @gpu", "old/kernels", ""},
		{"a folder without its slash", "/kernels @gpu", "kernels/deep/a.cu", "@gpu"},
		{"a path with a slash inside is from the top", "src/kernels @gpu", "src/kernels/a.cu", "@gpu"},
		{"and not elsewhere", "src/kernels @gpu", "old/src/kernels/a.cu", ""},
		{"what is in a folder itself", "kernels/* @gpu", "kernels/a.cu", "@gpu"},
		{"and not deeper", "kernels/* @gpu", "kernels/deep/a.cu", ""},
		{"all below", "kernels/** @gpu", "kernels/deep/a.cu", "@gpu"},
		{"all below is not the folder's name", "kernels/** @gpu", "kernels", ""},
		{"folders of a name, anywhere", "**/kernels @gpu", "a/b/kernels/c/d.cu", "@gpu"},
		{"also at the top", "**/kernels @gpu", "kernels/d.cu", "@gpu"},
		{"folders between", "src/**/a.cu @gpu", "src/x/y/a.cu", "@gpu"},
		{"no folder between", "src/**/a.cu @gpu", "src/a.cu", "@gpu"},
		{"a star stops at a slash", "src/*/a.cu @gpu", "src/x/y/a.cu", ""},
		{"one character", "/a?.cu @gpu", "ab.cu", "@gpu"},
		{"one character is no slash", "/a?b.cu @gpu", "a/b.cu", ""},
		{"letters have a size", "A.cu @gpu", "a.cu", ""},
		{"a dot is a dot", "a.cu @gpu", "abcu", ""},
		{"a comment", "# *.cu @gpu", "a.cu", ""},
		{"a comment behind", "*.cu @gpu # and @nobody else", "a.cu", "@gpu"},
		{"no owner", "* @all\n/vendored", "vendored/a.cu", ""},
		{"blanks and tabs", "  *.cu\t\t@gpu  \r\n", "a.cu", "@gpu"},
		{"a blank in a name", `/my\ kernels/ @gpu`, "my kernels/a.cu", "@gpu"},
		{"negation is not known", "* @all\n!*.cu @gpu", "a.cu", "@all"},
		{"nor are ranges", "* @all\n[ab].cu @gpu", "a.cu", "@all"},
		{"nor is an escaped comment", "* @all\n\\#a @gpu", "#a", "@all"},
		{"a line with a word that is no owner is skipped", "* @all\n*.cu gpu", "a.cu", "@all"},
		{"so is one with half an address", "* @all\n*.cu a@", "a.cu", "@all"},
		{"so is one with half a name", "* @all\n*.cu @", "a.cu", "@all"},
		{"only a slash", "* @all\n/ @gpu", "a.cu", "@all"},
		{"other letters", "/kerné/ @gpu", "kerné/a.cu", "@gpu"},
		{"a long pattern is skipped", "* @all\n" + strings.Repeat("a", 2000) + " @gpu", strings.Repeat("a", 2000), "@all"},
		{"a backslash at the end", `a\`, "a", ""},
		{"characters of expressions", `/a+(b).cu @gpu`, "a+(b).cu", "@gpu"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := strings.Join(client.ParseOwners([]byte(tc.file)).Of(tc.path), " ")
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("of %s by %q:\n%s", tc.path, tc.file, diff)
			}
		})
	}
}

func FuzzOwners(f *testing.F) {
	f.Add("* @a\n/b/**/c? @d e@f # g\n", "b/x/c1")
	f.Add(`a\ b\ @x`, "a b")
	f.Fuzz(func(t *testing.T, file, path string) {
		for _, owner := range client.ParseOwners([]byte(file)).Of(path) {
			if !strings.Contains(owner, "@") || strings.ContainsAny(owner, " \t\n\x00") {
				t.Errorf("%q is no owner", owner)
			}
		}
	})
}
