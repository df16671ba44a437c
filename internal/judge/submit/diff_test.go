package submit

import (
	"strings"
	"testing"
)

const twoHunks = `Here is the change:
diff --git a/k/kernel.c b/k/kernel.c
index 1111111..2222222 100644
--- a/k/kernel.c
+++ b/k/kernel.c
@@ -1,3 +1,3 @@
 one
-two
+TWO
 three
@@ -7,2 +7,3 @@ void f()
 seven
+seven and a half
 eight
`

func TestReadDiff_AppliesHunks(t *testing.T) {
	t.Parallel()
	lines := func(text string) string { return strings.ReplaceAll(text, " ", "\n") + "\n" }
	for _, test := range []struct{ name, diff, before, after string }{
		{"two hunks", twoHunks, lines("one two three four five six seven eight"), "one\nTWO\nthree\nfour\nfive\nsix\nseven\nseven and a half\neight\n"},
		{"hunks that moved", twoHunks, lines("zero one two three four seven eight"), "zero\none\nTWO\nthree\nfour\nseven\nseven and a half\neight\n"},
		{"a new file", "--- /dev/null\n+++ b/new.c\n@@ -0,0 +1,2 @@\n+a\n+b\n", "", "a\nb\n"},
		{"an insertion", "--- a/x.c\n+++ b/x.c\n@@ -1,0 +2 @@\n+new\n", lines("one two"), "one\nnew\ntwo\n"},
		{"no newline at the end", "--- a/x.c\n+++ b/x.c\n@@ -1 +1 @@\n-one\n\\ No newline at end of file\n+two\n\\ No newline at end of file\n", "one", "two"},
		{"a newline added at the end", "--- a/x.c\n+++ b/x.c\n@@ -1 +1 @@\n-one\n\\ No newline at end of file\n+one\n", "one", "one\n"},
		{"stripped spaces of empty lines", "--- a/x.c\n+++ b/x.c\n@@ -1,3 +1,3 @@\n one\n\n-two\n+three\n", "one\n\ntwo\n", "one\n\nthree\n"},
		{"times after the names", "--- x.c\t2026-01-01\n+++ x.c\t2026-01-02\n@@ -1 +1 @@\n-one\n+two\n", "one\n", "two\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			files, err := readDiff([]byte(test.diff))
			if err != nil || len(files) != 1 {
				t.Fatalf("%d files, %v", len(files), err)
			}
			if got, err := files[0].apply(test.before); err != nil || got != test.after {
				t.Errorf("%q, %v; want %q", got, err, test.after)
			}
		})
	}
}

func TestReadDiff_Refuses(t *testing.T) {
	t.Parallel()
	const body = "@@ -1 +1 @@\n-a\n+b\n"
	for _, test := range []struct{ name, diff, want string }{
		{"nothing", "", "changes no file"},
		{"prose", "I made it faster.\n", "changes no file"},
		{"an absolute path", "--- /etc/passwd\n+++ /etc/passwd\n" + body, "inside the repository"},
		{"a path out of it", "--- a/../x\n+++ b/../x\n" + body, "inside the repository"},
		{"git's own folder", "--- /dev/null\n+++ b/.git/hooks/post-checkout\n@@ -0,0 +1 @@\n+b\n", "belongs to git"},
		{"git's own folder in capitals", "--- /dev/null\n+++ b/k/.GIT/config\n@@ -0,0 +1 @@\n+b\n", "belongs to git"},
		{"attributes", "--- a/.gitattributes\n+++ b/.gitattributes\n" + body, "belongs to git"},
		{"submodules", "--- a/.gitmodules\n+++ b/.gitmodules\n" + body, "belongs to git"},
		{"pawl's own folder", "--- a/.pawl/corpus/x\n+++ b/.pawl/corpus/x\n" + body, "belongs to git or to pawl"},
		{"a link", "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+/etc/passwd\n\\ No newline at end of file\n", "is a link"},
		{"a file that becomes a link", "diff --git a/l b/l\nold mode 100644\nnew mode 120000\n", "is a link"},
		{"a submodule", "diff --git a/l b/l\nnew file mode 160000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+Subproject commit 1\n", "is a submodule"},
		{"a device", "diff --git a/l b/l\nnew file mode 020000\n", "has the mode"},
		{"a rename", "diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n", "renames"},
		{"two names", "--- a/x\n+++ b/y\n" + body, "renames"},
		{"binary files", "diff --git a/x b/x\nBinary files a/x and b/x differ\n", "binary"},
		{"a binary patch", "diff --git a/x b/x\nGIT binary patch\nliteral 1\n", "binary"},
		{"a hunk without a file", body, "without the name"},
		{"a hunk that is too short", "--- a/x\n+++ b/x\n@@ -1,5 +1 @@\n-a\n+b\n", "its header says 5 and 1"},
		{"a quoted name", "--- \"a/x\\n\"\n+++ \"a/x\\n\"\n" + body, "quoted paths"},
		{"a control character", "--- a/x\x01y\n+++ b/x\x01y\n" + body, "not a path"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			files, err := readDiff([]byte(test.diff))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, %v; want an error with %q", files, err, test.want)
			}
		})
	}
}

func TestReadDiff_OldLinesMustBeThere(t *testing.T) {
	t.Parallel()
	files, err := readDiff([]byte(twoHunks))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "one\n", "one\nTWO\nthree\n", "three\ntwo\none\nseven\neight\n"} {
		if got, err := files[0].apply(text); err == nil {
			t.Errorf("applied to %q: %q", text, got)
		}
	}
}

func FuzzReadDiff(f *testing.F) {
	f.Add([]byte(twoHunks), "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n")
	f.Add([]byte("--- /dev/null\n+++ b/new.c\n@@ -0,0 +1,2 @@\n+a\n+b\n"), "")
	f.Add([]byte("diff --git a/x b/x\ndeleted file mode 100644\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"), "a\n")
	f.Add([]byte("--- a/x.c\n+++ b/x.c\n@@ -9999999,0 +2 @@\n+new\n"), "one\n")
	f.Fuzz(func(t *testing.T, diff []byte, content string) {
		files, err := readDiff(diff)
		if err != nil {
			return
		}
		for _, file := range files {
			if err := checkPath(file.name); err != nil {
				t.Errorf("accepted the path %q: %v", file.name, err)
			}
			if out, err := file.apply(content); err == nil && len(out) > len(content)+len(diff) {
				t.Errorf("%d bytes from %d and a diff of %d", len(out), len(content), len(diff))
			}
		}
	})
}
