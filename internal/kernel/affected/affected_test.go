package affected_test

import (
	"context"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/goatnote-inc/pawl/internal/kernel/affected"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
)

func rules(t *testing.T, folder, text string) affected.Rules {
	t.Helper()
	s, err := suite.Parse("pawl.yaml", []byte("version: 1\n"+text))
	if err != nil {
		t.Fatal(err)
	}
	return affected.Of(s, folder)
}

func TestWhy(t *testing.T) {
	const (
		atTop  = "build: {command: make}\nharness: {command: ./h}\n"
		narrow = "build: {command: make -C ../build, inputs: [../lib, '../gen/*.h']}\nharness: {command: python3 ../../tools/h.py --x=../data/w.bin}\ndefinition: [../oracle.py]\ngate: {paths: ['third_party/**/*.cuh']}\n"
		plain  = "harness: {command: ./h}\n"
	)
	for _, test := range []struct {
		folder, suite string
		yes, no       string // files
	}{
		{".", atTop, "pawl.yaml a.cu src/b.cu CMakeLists.txt docs/x.png Makefile .github/workflows/pawl-gate.yml", "README.md docs/guide.md LICENSE .gitignore .github/workflows/test.yml .github/CODEOWNERS x/y.RST"},
		{"kernels", atTop, "kernels/pawl.yaml kernels/a.cu common.h web/app.js", "README.md kernels/README.md"},
		{"a/k", narrow, "a/k/pawl.yaml a/k/x.cu a/lib/y.c a/lib/deep/z a/gen/z.h a/build/m.mk tools/h.py a/data/w.bin a/oracle.py third_party/x/y/z.cuh third_party/z.cuh", "web/app.js a/kk/x.cu a/gen/z.c a/other pawl.yaml README.md a/k/notes.md third_party/z.c"},
		{"k", plain, "k/x k/pawl.yaml x web/app.js kk/x common/pawl.yaml", "x.md"},
		{"k", plain + "gate: {paths: [lib], ignore: ['**/*.TXT']}\n", "k/x k/README.md lib/x.txt.c", "other/pawl.yaml x web/app.js kk/x k/notes.txt lib2/x"},
		{".", plain, "license/check.cu src/LICENSE/x notes.md/x.h CODEOWNERS/x", "license src/LICENSE notes.md .github/x/y"},
		{".", "build: {command: xxd -i LICENSE > l.h; sh .github/build.sh}\nharness: {command: ./h --table=data/table.md}\n", "LICENSE data/table.md .github/build.sh", "README.md data/other.md sub/LICENSE"},
		{"k", "harness: {command: ./h notes.md}\n", "k/notes.md", "notes.md"},
		{".", plain + "gate: {paths: ['docs/**']}\n", "docs/x.md x.cu", "README.md"},
	} {
		r := rules(t, test.folder, test.suite)
		for file := range strings.FieldsSeq(test.yes) {
			if r.Why(file) == "" {
				t.Errorf("%s does not touch the suite in %s", file, test.folder)
			}
		}
		for file := range strings.FieldsSeq(test.no) {
			if why := r.Why(file); why != "" {
				t.Errorf("%s touches the suite in %s: %s", file, test.folder, why)
			}
		}
	}
}

func TestMatch(t *testing.T) {
	for _, test := range []struct {
		glob, file string
		want       bool
	}{
		{"a/*.cu", "a/b.cu", true},
		{"a/*.cu", "a/b/c.cu", false},
		{"a", "a/b/c", true},
		{"a/", "a/b", true},
		{"a", "ab", false},
		{"**/*.cu", "x.cu", true},
		{"**/*.cu", "a/b/x.cu", true},
		{"a/**", "a", true},
		{"a/**/b", "a/b", true},
		{"a/**/b", "a/x/y/b/z", true},
		{"[", "anything", true},
		{"a/../b", "b/c", true},
		{".", "x", true},
		{"../x", "x", false},
		{strings.Repeat("**/", 50) + "x", strings.Repeat("a/", 500) + "y", false},
	} {
		if got := affected.Match(test.glob, test.file); got != test.want {
			t.Errorf("%.40s means %.40s: %t, want %t", test.glob, test.file, got, test.want)
		}
	}
}

// A file that a folder's glob means stays meant however deep it lies.
func TestMatchFolders(t *testing.T) {
	name := rapid.StringMatching(`[a-c]{1,2}(/[a-c]{1,2}){0,4}`)
	rapid.Check(t, func(t *rapid.T) {
		folder, below := name.Draw(t, "folder"), name.Draw(t, "below")
		if !affected.Match(folder, folder+"/"+below) || !affected.Match("**", below) || !affected.Match(folder+"/**", folder+"/"+below) {
			t.Fatalf("%s is not in %s", below, folder)
		}
	})
}

// A file whose name is that of documentation counts where a source reads it.
func TestTouching(t *testing.T) {
	r := rules(t, "k", "harness: {command: ./h}\n")
	for _, test := range []struct {
		changed    string
		from, line string // a line of a file
		want, why  string
	}{
		{"k/steps.md", "k/a.c", `#include "steps.md"`, "k/steps.md", "k/a.c names it"},
		{"k/steps.md", "k/a.c", "# include <steps.md>", "k/steps.md", "k/a.c names it"},
		{"k/steps.md", "k/Makefile", "\tFLAGS := $(shell cat steps.md)", "k/steps.md", "k/Makefile names it"},
		{".github/steps.h", "k/a.c", "#include \"../.github/steps.h\"", ".github/steps.h", "k/a.c names it"},
		{"k/steps.md", "k/setup.py", "flags = open('steps.md').read()", "k/steps.md", "k/setup.py names it"},
		{"README.md", "pyproject.toml", `readme = "README.md"`, "", ""},
		{"README.md", "k/a.c", "// see README.md for more", "", ""},
		{"README.md", "k/a.c", " * README.md says why", "", ""},
		{"README.md", "k/a.c", ` * load("README.md")`, "README.md", "k/a.c names it"},
		{"README.md", "docs/other.md", "see README.md", "", ""},
		{"k/x.cu README.md", "k/a.c", "int x;", "k/x.cu", "in the suite's folder"},
	} {
		got, err := r.Affecting(t.Context(), strings.Fields(test.changed), func(context.Context, []string) ([]affected.Mention, error) {
			return []affected.Mention{{File: test.from, Line: test.line}}, nil
		})
		switch {
		case err != nil:
			t.Error(err)
		case test.want == "" && len(got) > 0, test.want != "" && (len(got) != 1 || got[0] != affected.File{Path: test.want, Why: test.why}):
			t.Errorf("%s with %s: %s: %v, want %q", test.changed, test.from, test.line, got, test.want)
		}
	}
}
