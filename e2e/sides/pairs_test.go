package sides

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/base/testrun"
)

// pairFiles are the files of a generated repository. %d is a number that a commit can change.
var pairFiles = map[string]string{
	// read by the build
	"Makefile":          "CFLAGS = -O1 -DFLAG=%d\nOUT = kernel\n$(OUT): src/kernel.c include/kernel.h license/check.h notes.md/inner.h generated.h\n\tgcc $(CFLAGS) -g0 -I. -Iinclude -o $@ src/kernel.c\ngenerated.h: src/table.in tools/generate.sh\n\tsh tools/generate.sh < src/table.in > $@\n",
	"src/kernel.c":      pairKernel,
	"include/kernel.h":  "#define HEADER %d\n",
	"license/check.h":   "#define CHECK %d\n", // the folder has the name of an ignored file
	"notes.md/inner.h":  "#define INNER %d\n", // so has this one
	"src/table.in":      "%d\n",
	"tools/generate.sh": "# version %d\nread n; echo \"#define TABLE $n\"\n",
	// read at run time
	"data/weights.txt":     "%d\n",
	"data/table.md":        "| %d |\n", // the suite names it
	".github/launch.txt":   "%d\n",     // the suite names it
	"data/optional.txt":    "%d\n",
	"package/src/k/one.py": "ONE = %d\n",
	"bench.py":             pairPython,
	// read by neither, but no name says so
	"web/app.js":     "let n = %d;\n",
	"docs/example.c": "int n = %d;\n",
	// documentation
	"README.md": "%d\n", "docs/guide.rst": "%d\n", "docs/deep/NOTES.MD": "%d\n", "LICENSE": "%d\n", "src/README.md": "%d\n",
	"CODEOWNERS": "# %d\n", ".github/workflows/test.yml": "# %d\n", "docs/a b\"c.md": "%d\n",
	".gitignore": "# %d\nresults/\n/kernel\n/bench/kernel\ngenerated.h\n.pawl/\n",
}

const pairKernel = `#include <stdio.h>
#include "kernel.h"
#include "generated.h"
#include "license/check.h"
#include "notes.md/inner.h"
int main(int argc, char **argv) {
  int sum = HEADER + TABLE + CHECK + INNER + FLAG + %d, n;
  for (int i = 1; i < argc; i++) {
    FILE *f = fopen(argv[i], "r");
    if (f && fscanf(f, "%%d", &n) == 1) sum += n;
    if (f) fclose(f);
  }
  fprintf(stderr, "%%d\n", sum);
  printf("{\"results\":[{\"command\":\"kernel\",\"times\":[0.100,0.1001,0.1002,0.1003,0.1004]}]}\n");
}
`

const pairPython = `import json, sys
sys.path.insert(0, "package/src")
from k import one
weights = open("data/weights.txt").read()  # version %d
print(json.dumps({"results": [{"command": "kernel", "times": [0.1 + 0.0001 * i for i in range(5)]}]}))
`

// layouts are the suites of generated repositories, and where they are.
var layouts = []struct{ name, folder, build, start, suite string }{
	{"suite at the top", ".", "make", "./kernel data/weights.txt data/optional.txt data/table.md .github/launch.txt", ""},
	{"suite in a folder", "bench", "make -C .. OUT=bench/kernel", "./kernel ../data/weights.txt ../data/optional.txt ../data/table.md ../.github/launch.txt", ""},
	{"suite in a folder, with paths", "bench", "make -C .. OUT=bench/kernel", "./kernel ../data/weights.txt ../data/optional.txt", "gate: {paths: [Makefile, src, include, license, notes.md, tools]}\n"},
	{"no build", ".", "", "python3 bench.py", ""},
	{"documentation is data", ".", "make", "./kernel data/weights.txt LICENSE README.md", ""},
	{"other documentation", ".", "make", "./kernel data/weights.txt data/table.md data/optional.txt", "gate: {ignore: [web, 'docs/**', '**/*.js']}\n"},
}

// "identical" is never said of two commits whose clean builds differ, or whose harnesses open a
// file that differs. strace says what they open.
func TestRandomPairs(t *testing.T) {
	beside(t)
	needs(t, "strace", "gcc", "make")
	const seed, perRepository = 31, 10
	pairs := testrun.Times(len(layouts)*3, 300)
	each := min(perRepository, (pairs+len(layouts)-1)/len(layouts))
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, seed))
	var counts struct{ pairs, same, identical, wrong int }
	for n := 0; counts.pairs < pairs; n++ {
		layout := layouts[n%len(layouts)]
		g := generate(t, rng, layout.folder, layout.build, layout.start, layout.suite)
		for i := 0; i < each && counts.pairs < pairs; i++ {
			head := g.change(t)
			base := g.commits[max(0, len(g.commits)-2-rng.IntN(3))]
			counts.pairs++
			same := g.truth(t, base) == g.truth(t, head)
			if same {
				counts.same++
			}
			said := g.pawl(t, layout.folder, []int{0}, "bench", "--base", base, "--rounds", "1").said
			identical := strings.Contains(said, "identical: no input of a build or a kernel differs")
			if identical {
				counts.identical++
			}
			if identical && !same {
				counts.wrong++
				t.Errorf("%s: identical was said of\n%s\nbase:\n%schange:\n%s", layout.name, g.git(t, "diff", "--stat", base, head), g.truth(t, base), g.truth(t, head))
			}
			var touched struct{ Measure bool }
			cmd := g.command(t, layout.folder, "ci", "affected", "--json", "--base", base)
			out, err := cmd.Output()
			must(t, err)
			must(t, json.Unmarshal(out, &touched))
			if touched.Measure == identical {
				t.Errorf("%s: identical %t, and pawl ci affected says measure %t", layout.name, identical, touched.Measure)
			}
		}
	}
	t.Logf("%d pairs, %d without a difference, identical was said of %d, wrongly of %d", counts.pairs, counts.same, counts.identical, counts.wrong)
	if counts.identical < pairs/10 || counts.same == counts.pairs {
		t.Errorf("identical was said of %d of %d pairs, and %d have no difference: this proves nothing", counts.identical, pairs, counts.same)
	}
}

// generated is a repository of random commits.
type generated struct {
	*repository
	rng                         *rand.Rand
	folder, build, start, suite string
	versions                    map[string]int // of the files that are there
	commits                     []string
	truths                      map[string]string
	clone                       string
}

func generate(t *testing.T, rng *rand.Rand, folder, build, start, suite string) *generated {
	t.Helper()
	g := &generated{newRepository(t, ""), rng, folder, build, start, suite, map[string]int{"pawl.yaml": 1}, nil, map[string]string{}, filepath.Join(t.TempDir(), "clone")}
	for name := range pairFiles {
		g.versions[name] = 1
	}
	g.write(t)
	g.commits = append(g.commits, g.commit(t))
	shell(t, g.dir, "git clone -q . "+g.clone)
	return g
}

// write makes the working tree that of the versions.
func (g *generated) write(t *testing.T) {
	t.Helper()
	put := func(name, text string) {
		path := filepath.Join(g.dir, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(text), 0o644))
	}
	for name, text := range pairFiles {
		if v, there := g.versions[name]; there {
			put(name, fmt.Sprintf(text, v))
		} else if err := os.Remove(filepath.Join(g.dir, name)); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	suite := fmt.Sprintf("version: 1 # %d\nharness: {command: %s, format: hyperfine}\n", g.versions["pawl.yaml"], g.start) + g.suite
	if g.build != "" {
		suite += fmt.Sprintf("build: {command: %s, outputs: [kernel], inputs: [data/table.md]}\n", g.build)
	}
	put(filepath.Join(g.folder, "pawl.yaml"), suite)
}

// change commits a random change: mostly documentation, so that identical is said often.
func (g *generated) change(t *testing.T) string {
	t.Helper()
	documentation := []string{"README.md", "docs/guide.rst", "docs/deep/NOTES.MD", "LICENSE", "src/README.md", "CODEOWNERS", ".github/workflows/test.yml", "docs/a b\"c.md", ".gitignore", "web/app.js", "docs/example.c"}
	all := append(slices.Sorted(maps.Keys(pairFiles)), "pawl.yaml")
	from := all
	if g.rng.IntN(3) > 0 {
		from = documentation[:len(documentation)-2*g.rng.IntN(2)]
	}
	for range 1 + g.rng.IntN(3) {
		name := from[g.rng.IntN(len(from))]
		_, there := g.versions[name]
		mayGo := slices.Contains([]string{"data/optional.txt", "README.md", "docs/guide.rst", "LICENSE", "docs/example.c"}, name)
		switch {
		case there && mayGo && g.rng.IntN(3) == 0:
			delete(g.versions, name)
		default:
			g.versions[name] = 1 + g.rng.IntN(4) // sometimes as before
		}
	}
	g.write(t)
	g.commits = append(g.commits, g.commit(t))
	return g.commits[len(g.commits)-1]
}

// truth says what a commit is: the digests of what a clean build makes and of what its harness opens.
func (g *generated) truth(t *testing.T, commit string) string {
	t.Helper()
	if text, done := g.truths[commit]; done {
		return text
	}
	shell(t, g.clone, "git fetch -q && git checkout -q "+commit+" && git clean -q -fdx")
	dir := filepath.Join(g.clone, g.folder)
	files := map[string]bool{}
	if g.build != "" {
		shell(t, dir, g.build)
		files[filepath.Join(dir, "kernel")] = true
	}
	trace := filepath.Join(g.own, "trace")
	shell(t, dir, "strace -f -e trace=open,openat,execve -o "+trace+" "+g.start+" > /dev/null", "PYTHONDONTWRITEBYTECODE=1", "PATH=/usr/bin:"+os.Getenv("PATH"))
	text, err := os.ReadFile(trace)
	must(t, err)
	for _, m := range opened.FindAllStringSubmatch(string(text), -1) {
		path := m[1]
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		files[filepath.Clean(path)] = true
	}
	var b strings.Builder
	for _, path := range slices.Sorted(maps.Keys(files)) {
		content, err := os.ReadFile(path)
		if name, inside := strings.CutPrefix(path, g.clone+"/"); inside && err == nil {
			fmt.Fprintf(&b, "%s %.4x\n", name, sha256.Sum256(content))
		}
	}
	if !strings.Contains(b.String(), "data/weights.txt") {
		t.Fatalf("the trace of %s does not show that the weights are read:\n%s", g.start, text)
	}
	g.truths[commit] = b.String()
	return b.String()
}

// opened is a call that opened a file.
var opened = regexp.MustCompile(`(?m)(?:open|openat|execve)\((?:AT_FDCWD, )?"([^"]*)".*= \d+$`)
