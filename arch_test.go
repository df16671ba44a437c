package pawl_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/lazyregexp"
)

const module = "github.com/goatnote-inc/pawl"

// imports is the architecture: which of our packages each package may import,
// besides what those packages are allowed themselves. A level may import only lower
// ones; where a feature needs another edge, change the table with a reason.
//
// Packages under "also" may be imported by any package above their own level.
var levels = []struct {
	packages []string
	reason   string
}{
	0: {[]string{"stats", "gpu", "sdk", "internal/version", "internal/lazyregexp", "internal/disk", "internal/await", "internal/testrun"}, "the words everything else is said in"},
	1: {[]string{"measure", "internal/tensor"}, "what was measured, and what kernels are given; neither knows how it is read"},
	2: {[]string{
		"internal/suite/spell", "internal/suite/expr", "internal/suite", "internal/shell", "internal/integrity",
		"internal/forge", "internal/forge/github", "internal/identity", "internal/parcel", "internal/workflow",
		"internal/blob", "internal/pgtemp", "internal/samples", "internal/failpoint", "internal/codechange", "internal/learn/keep",
	}, "what the user asks for, how a command line of theirs is run, what of a record can be believed; a forge, its machines and what they send, which know nothing of measuring"},
	3: {[]string{
		"internal/device/host", "internal/device/nvml", "internal/device/smi", "internal/device",
		"internal/harness", "internal/harness/adapter", "internal/profile", "ratchet", "internal/tune/space", "internal/wake", "internal/touch",
	}, "the things outside, devices, harnesses and what profilers saw, hosts that sleep; and the judge, the set of points a tuner chooses from and what touches a suite, which need none of them"},
	4: {[]string{
		"internal/build", "internal/build/cuda", "internal/build/codeid", "internal/scout", "internal/loop", "internal/claim", "internal/account",
		"internal/oracle", "internal/launch", "internal/profile/tool", "internal/diagnose", "internal/tune/search", "internal/trend", "client", "internal/tile",
	}, "sources and repositories; what is right; why it is slow; what a run and a tuner do next; what remains of a stranger's record"},
	5:  {[]string{"internal/trial", "internal/report", "internal/ledger", "internal/preflight", "internal/tune/replay", "internal/demo", "internal/parquet", "internal/learn/journal", "internal/learn/model"}, "rounds on one device, and what is known before them; saying and keeping what they gave, or might have"},
	6:  {[]string{"internal/sweep", "internal/sweep/artifact", "internal/tune", "internal/notice", "internal/watch", "internal/web", "internal/learn/gates", "internal/learn/lesson", "internal/learn/simulate"}, "many implementations compared, and what is published of it; what came of trying out points; what a pull request is told, and how a history looks"},
	7:  {[]string{"internal/bench", "internal/store", "internal/store/db", "internal/learn"}, "a whole run on this machine; and what is kept of all of them"},
	8:  {[]string{"internal/setup", "internal/doctor", "internal/lab", "internal/server", "internal/queue", "internal/mcp", "internal/learn/page"}, "what the machine lacks; judge it by running on it, and the judge by data of which the truth is known"},
	9:  {[]string{"internal/cli", "internal/daemon"}, "wires and prints"},
	10: {[]string{"cmd/pawl", "cmd/pawld", "scripts/citest"}, "twenty lines; and what decides CI, which knows nothing of pawl"},
}

// forbidden are edges that the levels would allow and the architecture does not.
var forbidden = []struct{ from, to, reason string }{
	{"internal/trial", "internal/suite", "a trial measures cases, whoever named them"},
	{"internal/trial", "internal/device", "a trial is told of the device through a callback"},
	{"internal/trial", "internal/build", "a side comes built"},
	{"internal/report", "internal/harness", "a report knows records only"},
	{"internal/report", "internal/device", "a report knows records only"},
	{"internal/report", "internal/suite", "a report knows records only"},
	{"internal/harness", "internal/device", "a harness is told its device by name"},
	{"internal/harness/adapter", "internal/harness", "files need no process"},
	{"internal/loop", "internal/build", "the loop decides, and does nothing itself"},
	{"internal/loop", "internal/harness", "the loop decides, and does nothing itself"},
	{"internal/loop", "internal/suite", "the loop is given a policy, not a file"},
	{"internal/profile", "internal/harness", "a profile is read from files"},
	{"internal/diagnose", "internal/build", "what is known of code is in the profile"},
	{"internal/diagnose", "internal/harness", "a diagnosis begins with a profile"},
	{"ratchet", "internal/harness", "the judge sees evidence only"},
	{"internal/sweep", "internal/report", "a comparison does not know how it is shown"},
	{"internal/sweep", "internal/trial", "a comparison begins with a record"},
}

// siblings are edges inside one level.
var siblings = map[string][]string{
	"internal/suite":        {"internal/suite/spell", "internal/suite/expr"},
	"internal/suite/expr":   {"internal/suite/spell"},
	"internal/device":       {"internal/device/host", "internal/device/nvml", "internal/device/smi"},
	"internal/device/nvml":  {"internal/device/host"},
	"internal/build/codeid": {"internal/build/cuda"}, // kernels are one kind of machine code

	"internal/profile/tool": {"internal/launch"}, // what kind of kernel the launcher starts says which tool sees it

	"internal/sweep/artifact": {"internal/sweep"},

	"internal/forge/github": {"internal/forge"},

	"internal/version": {"internal/lazyregexp"},

	"internal/blob": {"internal/failpoint"}, // where a crash is tried out

	"internal/store": {"internal/store/db"}, // what sqlc makes of its queries

	"internal/learn/lesson": {"internal/learn/gates"}, // symptoms ask for what gates learn of a session

	"internal/doctor": {"internal/setup"}, // it tells of what is missing in the same words
}

// testHelpers are packages for tests of other packages; production code must
// not import them, and they may import what they test.
var testHelpers = []string{"internal/device/devicetest", "internal/forge/githubtest", "internal/identity/identitytest", "internal/claim/claimtest", "client/clienttest", "internal/hammer", "internal/await", "internal/store/storetest", "internal/tile/tiletest", "internal/learn/keep/keeptest", "sdk/conformance", "e2e", "e2e/redteam", "e2e/poison", "e2e/github", "e2e/mcp", "e2e/server", "e2e/sides"}

func TestImports(t *testing.T) {
	level := map[string]int{}
	for n, l := range levels {
		for _, p := range l.packages {
			level[p] = n
		}
	}
	for _, pkg := range ourPackages(t) {
		if slices.Contains(testHelpers, pkg) || pkg == "" {
			continue
		}
		own, known := level[pkg]
		if !known {
			t.Errorf("%s stands on no level of arch_test.go: say where it belongs, and why", pkg)
			continue
		}
		for _, imported := range importsOf(t, pkg) {
			other, ours := strings.CutPrefix(imported, module+"/")
			if !ours {
				continue
			}
			if slices.Contains(testHelpers, other) {
				t.Errorf("%s must not import %s: it is for tests", pkg, other)
			}
			if level[other] >= own && !slices.Contains(siblings[pkg], other) {
				t.Errorf("%s (level %d) must not import %s (level %d: %s)", pkg, own, other, level[other], levels[level[other]].reason)
			}
			for _, f := range forbidden {
				if f.from == pkg && f.to == other {
					t.Errorf("%s must not import %s: %s", pkg, other, f.reason)
				}
			}
		}
	}
}

// The public packages and the rules of measuring are reproducible from their
// inputs: no logger, no context, no network, no clock of their own.
func TestPureCore(t *testing.T) {
	banned := []string{"log", "log/slog", "context", "net", "net/http", "os/exec", "math/rand"}
	for _, pkg := range []string{"stats", "gpu", "measure", "internal/suite", "internal/suite/expr", "internal/report", "internal/sweep", "internal/profile", "internal/diagnose", "internal/tune/space", "internal/tune/search", "internal/tune/replay"} {
		for _, imported := range importsOf(t, pkg) {
			if slices.Contains(banned, imported) {
				t.Errorf("%s must not import %s: it is part of the pure core", pkg, imported)
			}
		}
	}
	for _, imported := range importsOf(t, "stats") {
		if strings.Contains(imported, ".") {
			t.Errorf("stats must not import %s: standard library only", imported)
		}
	}
}

// What a binary links is what it can be attacked through: pawl runs strangers'
// kernels and must hold no database driver, pawld holds the database and must start
// nothing of a stranger's, and no binary links the testing package.
func TestLinked(t *testing.T) {
	never := map[string][]string{
		"pawl": {"testing", "database/sql", "github.com/jackc/pgx", "github.com/riverqueue/river", "github.com/invopop/jsonschema", "gocloud.dev", module + "/internal/store", module + "/internal/queue"},
		"pawld": {
			"testing", "github.com/invopop/jsonschema", "github.com/NVIDIA/go-nvml", module + "/internal/harness", module + "/internal/build", module + "/internal/device",
			module + "/internal/oracle", module + "/internal/trial", module + "/internal/profile/tool", module + "/internal/bench",
		},
	}
	for binary, no := range never {
		if _, err := os.Stat(filepath.Join("cmd", binary)); err != nil {
			continue
		}
		out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "./cmd/"+binary).Output()
		if err != nil {
			t.Fatalf("go list: %v", err)
		}
		for dep := range strings.FieldsSeq(string(out)) {
			for _, n := range no {
				if dep == n || strings.Contains(n, ".") && strings.HasPrefix(dep, n+"/") {
					t.Errorf("cmd/%s links %s", binary, dep)
				}
			}
		}
	}
}

func TestEveryPackageIsDocumentedOnce(t *testing.T) {
	for _, pkg := range ourPackages(t) {
		var docs []string
		for _, file := range goFiles(t, pkg) {
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.PackageClauseOnly|parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			if f.Doc != nil {
				docs = append(docs, filepath.Base(file))
			}
		}
		if len(docs) != 1 {
			t.Errorf("%s has %d package comments %v, want exactly one", pkg, len(docs), docs)
		}
	}
}

// Every command starts all packages: what a package compiles for itself, all commands wait
// for. internal/lazyregexp compiles what is used.
func TestPatternsAreCompiledWhenTheyAreUsed(t *testing.T) {
	if err := lazyregexp.Broken(); err != nil { // those of both commands: script_test.go has them
		t.Error(err)
	}
	for _, pkg := range ourPackages(t) {
		for _, file := range goFiles(t, pkg) {
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range f.Decls {
				if _, function := d.(*ast.FuncDecl); function {
					continue
				}
				ast.Inspect(d, func(n ast.Node) bool {
					if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "MustCompile" {
						t.Errorf("%s compiles a pattern when it is loaded: want lazyregexp.New", file)
					}
					return true
				})
			}
		}
	}
}

// A file is one idea: past 600 lines it is two.
func TestFilesAreShort(t *testing.T) {
	exempt := []string{"sdk/cpp/pawl.h", "sdk/python/pawl_harness.py"} // one file to copy is what users ask for
	for _, path := range sources(t) {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(b), "\n"); n > 600 && !slices.Contains(exempt, path) {
			t.Errorf("%s has %d lines", path, n)
		}
	}
}

func TestNames(t *testing.T) {
	for _, pkg := range ourPackages(t) {
		for _, vague := range []string{"util", "utils", "common", "helpers", "misc", "manager", "types", "models", "pkg"} {
			if filepath.Base(pkg) == vague {
				t.Errorf("%s: a package is named after the thing it knows", pkg)
			}
		}
	}
}

// ourPackages lists the folders with Go code, relative to the module.
func ourPackages(t *testing.T) []string {
	t.Helper()
	var list []string
	for _, path := range sources(t) {
		dir := filepath.ToSlash(filepath.Dir(path))
		if dir == "." {
			dir = ""
		}
		if strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") && !slices.Contains(list, dir) {
			list = append(list, dir)
		}
	}
	return list
}

func goFiles(t *testing.T, pkg string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(filepath.FromSlash(pkg), "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(files, func(f string) bool { return strings.HasSuffix(f, "_test.go") })
}

func importsOf(t *testing.T, pkg string) []string {
	t.Helper()
	var list []string
	for _, file := range goFiles(t, pkg) {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range f.Imports {
			list = append(list, strings.Trim(i.Path.Value, `"`))
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// sources are the files written by hand.
func sources(t *testing.T) []string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && path != "." || d.Name() == "results" || d.Name() == "node_modules" || strings.HasPrefix(d.Name(), "build-")) {
			return fs.SkipDir
		}
		switch filepath.Ext(path) {
		case ".go", ".py", ".c", ".h", ".cu", ".cl", ".cpp":
			list = append(list, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}
