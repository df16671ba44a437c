package pawl_test

import (
	"cmp"
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

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
)

const module = "github.com/goatnote-inc/pawl"

// wings is the architecture: a wing may import itself and the wings above it in this table, and of those only the ones
// it names. The order is one direction without cycles. A new package joins the wing whose question it answers; a new
// edge between wings is added here, with a reason in the commit.
var wings = []struct {
	name string
	may  string // wings that it may import
	what string
}{
	{"base", "", "files, shell, words, charts, version, failpoints: no domain"},
	{"public", "base", "stats, gpu, measure, ratchet, client: arithmetic, hardware, the run record, the judge, the server's client"},
	{"kernel", "base public", "one side of a comparison: suite, builds, harness, devices, correctness"},
	{"explain", "base public kernel", "why a kernel is as fast as it is: profiles, diagnosis, machine code"},
	{"report", "base public explain", "what people read of a run"},
	{"tune", "base public kernel report", "faster parameters: spaces, search, proof"},
	{"judge", "base public kernel explain tune", "two sides and one answer: rounds, the run loop, the ledger"},
	{"learn", "base public kernel explain report judge", "journal, gates, lessons; the interface for agents"},
	{"forge", "base public kernel report judge", "pull requests, CI workflows, comments, untrusted results, identity"},
	{"doctor", "base public kernel explain judge forge", "what a machine has, lacks and can measure"},
	{"fleet", "base public", "work on several machines"},
	{"server", "base public report forge fleet", "HTTP, pages, store, queue, trends, alerts; no GPU code"},
	{"cli", "base public kernel explain report tune judge learn forge doctor fleet", "commands: wires and prints"},
	{"cmd", "cli server", "main functions"},
}

// forbidden are edges that the wings would allow and the architecture does not.
var forbidden = []struct{ from, to, reason string }{
	{"internal/judge/trial", "internal/kernel/suite", "a trial measures the cases it is given"},
	{"internal/judge/trial", "internal/kernel/device", "a trial reads the device through a callback"},
	{"internal/judge/trial", "internal/kernel/build", "a side comes built"},
	{"internal/kernel/harness", "internal/kernel/device", "a harness gets its device by name"},
	{"internal/kernel/harness/adapter", "internal/kernel/harness", "reading files needs no process"},
	{"internal/judge/loop", "internal/kernel/build", "the loop decides and has no effects"},
	{"internal/judge/loop", "internal/kernel/harness", "the loop decides and has no effects"},
	{"internal/judge/loop", "internal/kernel/suite", "the loop takes a policy, not a file"},
	{"internal/explain/profile", "internal/kernel/harness", "a profile is read from files"},
	{"internal/explain/diagnose", "internal/kernel/build", "the profile has all facts about the code"},
	{"internal/explain/diagnose", "internal/kernel/harness", "a diagnosis starts from a profile"},
	{"internal/report/sweep", "internal/report", "a comparison does not know how it is shown"},
	{"internal/report/sweep", "internal/base/chart", "a comparison does not know how it is shown"},
}

// testHelpers are packages for tests. Other packages must not import them; they may import what they test.
var testHelpers = []string{
	"internal/base/await", "internal/base/testrun", "internal/fleet/fleettest", "internal/kernel/device/devicetest", "internal/forge/githubtest", "internal/forge/forgetest", "internal/forge/identity/identitytest",
	"internal/forge/untrusted/untrustedtest", "client/clienttest", "internal/base/mutate", "internal/base/golden", "internal/server/store/storetest",
	"internal/server/pointcodec/pointcodectest",
}

// wingOf returns the wing of a package; "" for tests and tools outside the wings.
func wingOf(pkg string) string {
	switch first, rest, _ := strings.Cut(pkg, "/"); first {
	case "internal":
		wing, _, _ := strings.Cut(rest, "/")
		return wing
	case "cmd":
		return "cmd"
	case "stats", "gpu", "measure", "ratchet", "client", "sdk", "examples":
		return "public"
	}
	return ""
}

func TestWings_ImportsFollowTheTable(t *testing.T) {
	may := map[string][]string{}
	for _, w := range wings {
		for other := range strings.FieldsSeq(w.may) {
			if may[other] == nil {
				t.Errorf("wing %s may import %s, which comes after it in the table: want one direction", w.name, other)
			}
		}
		may[w.name] = append(strings.Fields(w.may), w.name)
	}
	for _, pkg := range ourPackages(t) {
		wing := wingOf(pkg)
		if wing == "" || slices.Contains(testHelpers, pkg) {
			continue
		}
		if may[wing] == nil {
			t.Errorf("%s: %s is not a wing in arch_test.go: move the package to the wing whose question it answers", pkg, wing)
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
			if !slices.Contains(may[wing], wingOf(other)) {
				t.Errorf("%s must not import %s: wing %s may import %v", pkg, other, wing, may[wing])
			}
			for _, f := range forbidden {
				if f.from == pkg && f.to == other {
					t.Errorf("%s must not import %s: %s", pkg, other, f.reason)
				}
			}
		}
	}
}

func TestWings_ThePageHasTheTable(t *testing.T) {
	text, err := os.ReadFile("docs/explanation/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	page := strings.ReplaceAll(string(text), "`", "")
	for _, w := range wings {
		may := cmp.Or(strings.Join(strings.Fields(w.may), ", "), "-")
		if w.name == "cli" {
			may = "all but server"
		}
		if row := "| " + w.name + " | " + w.what + " | " + may + " |"; w.name != "cmd" && !strings.Contains(page, row) {
			t.Errorf("architecture.md has no row %q", row)
		}
	}
}

// A newcomer finds a package by its wing, so the number of wings stays small and nothing stands beside them.
func TestWings_AllOfInternal(t *testing.T) {
	entries, err := os.ReadDir("internal")
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) > 12 {
		t.Errorf("internal has %d entries, want at most 12", len(entries))
	}
}

// namesGitHub lists the files and folders outside the forge wing that may name GitHub.
var namesGitHub = []struct{ path, reason string }{
	{"internal/cli/env/forge.go", "the list of forges"},
	{"internal/cli/start", "init --github, doctor --github, and version, which checks the workflows"},
	{"internal/cli/ci", "help and flags of the steps of the workflows"},
	{"internal/cli/more/wake.go", "pawl wake asks GitHub for jobs; a wake.yaml names its forge"},
	{"internal/cli/improve/tuneapply.go", "help"},
	{"internal/cli/share/push.go", "help"},
	{"client", "CODEOWNERS: GitHub defines its format and where it is"},
	{"internal/doctor", "the checks of doctor --github, and its advice to run init --github"},
	{"internal/fleet/wake/config.go", "github: is a key of wake.yaml"},
	{"internal/fleet/wake/fleet.go", "variables with GITHUB_ are hidden from commands"},
	{"internal/server/daemon", "the identity defaults of pawld, and help"},
	{"internal/kernel/build/sandbox_confine.go", "a fork's code is confined in every CI, whether or not its forge is linked, and no caller can forget to say so"},
	{"internal/kernel/build/key.go", "variables of all CI systems that do not affect a build"},
	{"internal/judge/lab/ratio.go", "the name of a tool that the judge is compared with"},
	{"internal/learn/journal/redact.go", "the shape of a token"},
}

// A second forge is one package and one line. What names GitHub elsewhere would have to be found and repeated for it.
func TestGitHub_NamedOnlyWhereListed(t *testing.T) {
	used := map[string]bool{}
	for _, path := range sources(t) {
		path = filepath.ToSlash(path)
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "internal/forge/") ||
			!strings.HasPrefix(path, "internal/") && !strings.HasPrefix(path, "cmd/") && wingOf(path) != "public" {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if rest := strings.ReplaceAll(strings.ToLower(string(text)), "github.com/", ""); !strings.Contains(rest, "github") {
			continue
		}
		i := slices.IndexFunc(namesGitHub, func(n struct{ path, reason string }) bool {
			return path == n.path || strings.HasPrefix(path, n.path+"/")
		})
		if i < 0 {
			t.Errorf("%s names GitHub: move that to the forge wing, or list the file with a reason", path)
			continue
		}
		used[namesGitHub[i].path] = true
	}
	for _, n := range namesGitHub {
		if !used[n.path] {
			t.Errorf("%s does not name GitHub any more: remove it from the list", n.path)
		}
	}
}

// The public packages and the rules of measuring are reproducible from their
// inputs: no logger, no context, no network, no clock of their own.
func TestPureCore(t *testing.T) {
	banned := []string{"log", "log/slog", "context", "net", "net/http", "os/exec", "math/rand"}
	for _, pkg := range []string{"stats", "gpu", "measure", "internal/kernel/suite", "internal/kernel/suite/expr", "internal/base/chart", "internal/report", "internal/report/roofline", "internal/report/summary", "internal/report/sweep", "internal/explain/profile", "internal/explain/diagnose", "internal/tune/space", "internal/tune/search", "internal/tune/replay", "internal/fleet/placement", "internal/fleet/calibration", "internal/fleet/tier", "internal/fleet/capacity"} {
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

// What a binary links is what it can be attacked through. pawl runs untrusted kernels, so it
// has no database driver. pawld has the database, so it runs no untrusted code. pawl-agent has
// a key, and starts pawl to measure. pawl does not link the testing package.
func TestLinked(t *testing.T) {
	never := map[string][]string{
		"pawl": {"testing", "go.temporal.io/sdk", "go.temporal.io/api", "database/sql", "github.com/jackc/pgx", "github.com/riverqueue/river", "github.com/invopop/jsonschema", "gocloud.dev", module + "/internal/server/store", module + "/internal/server/queue", module + "/internal/judge/lab"},
		"pawl-agent": { // Temporal's SDK brings its test environment, and with it the testing package, here and in pawld
			"database/sql", "github.com/jackc/pgx", "github.com/riverqueue/river", "gocloud.dev", "github.com/ebitengine/purego",
			module + "/internal/server", module + "/internal/kernel/harness", module + "/internal/kernel/build", module + "/internal/kernel/device",
			module + "/internal/judge/runner", module + "/internal/fleet/gateway",
		},
		"pawld": {
			"github.com/invopop/jsonschema", "github.com/ebitengine/purego", module + "/internal/kernel/harness", module + "/internal/kernel/build", module + "/internal/kernel/device",
			module + "/internal/kernel/correctness", module + "/internal/judge/trial", module + "/internal/explain/profile/tool", module + "/internal/judge/runner",
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
// for. internal/base/lazyregexp compiles what is used.
func TestPatternsAreCompiledWhenTheyAreUsed(t *testing.T) {
	if err := lazyregexp.CompileAll(); err != nil { // those of both commands: script_test.go has them
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
