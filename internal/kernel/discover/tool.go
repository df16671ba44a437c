package discover

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
)

// tools returns benchmarks of other tools whose results pawl reads. The flags they need to keep
// their samples are described in docs/reference/import-formats.md.
func (t *tree) tools() []Finding {
	return slices.Concat(t.compiledTools(), t.cargo(), t.goBenchmarks(), t.pytest())
}

// compiledTool is a benchmark library for C++ or CUDA.
type compiledTool struct {
	name, format string
	include      *lazyregexp.Regexp
	libs         string
	flags        string // followed by the name of the result file
}

var compiledTools = []compiledTool{
	{
		name: "NVBench", format: "nvbench", include: include("nvbench/nvbench.cuh"), libs: "-lnvbench",
		// These three stop after 200 samples in every version; only new versions have sample-count.
		flags: "-d 0 --min-samples 200 --max-noise 100 --min-time 0 --jsonbin ",
	},
	{
		name: "Google Benchmark", format: "google-benchmark", include: include("benchmark/benchmark.h"), libs: "-lbenchmark -lpthread",
		// Every version knows these. Rounds repeat the program, so one round is short.
		flags: "--benchmark_repetitions=5 --benchmark_min_time=0.01 --benchmark_out_format=json --benchmark_out=",
	},
}

func (t *tree) compiledTools() []Finding {
	var list []Finding
	for _, tool := range compiledTools {
		for _, f := range t.files {
			l, ok := f.language()
			if !ok || len(list) == maxFindings {
				continue
			}
			by, ok := t.includer(f, tool.include)
			if !ok {
				continue
			}
			l.libs = tool.libs
			r := t.recipe(f, l)
			result := r.program + ".json"
			if !slices.Contains(r.makes, "build") {
				r.makes = append(r.makes, result+"*")
			}
			s := r.finding(tool.name+" in "+l.name, f, l)
			s.Harness = suite.Harness{Command: runnable(r.program) + " " + tool.flags + result, Format: tool.format, Output: result}
			s.Evidence = append([]Evidence{{by.path, line(by.text, tool.include), "includes " + tool.name}}, r.evidence...)
			if tool.format == "nvbench" {
				s.Cases.Listed = nvbenchAxes(f.text)
			}
			list = append(list, s)
		}
	}
	return list
}

// finding returns the sighting of a benchmark that is built.
func (r recipe) finding(what string, f file, l language) Finding {
	needs := l.tool()
	if tool, _, _ := strings.Cut(r.command, " "); needs == langC.tool() || needs == langCPP.tool() {
		needs = tool // a C compiler is everywhere; make or cmake may not be
	}
	return Finding{
		Level: Tool, What: what, Source: f.path, Files: []string{f.path}, Needs: needs,
		Build: suite.Build{Command: r.command, Outputs: []string{r.program}}, Makes: r.makes, Doubts: r.doubts,
		program: r.program, cmake: r.cmake,
	}
}

// includer returns the file that matches a pattern: a source, or a header of this repository that it includes.
func (t *tree) includer(f file, pattern *lazyregexp.Regexp) (file, bool) {
	if pattern.MatchString(f.text) {
		return f, true
	}
	if !hasMain.MatchString(f.text) && !definesBenchmark.MatchString(f.text) {
		return file{}, false
	}
	for _, h := range t.headers(f) {
		if pattern.MatchString(h.text) {
			return h, true
		}
	}
	return file{}, false
}

var (
	definesBenchmark = lazyregexp.New(`(?m)^[ \t]*(?:NVBENCH_BENCH|BENCHMARK)\w*\s*\(`)
	quotedInclude    = lazyregexp.New(`(?m)^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"`)
)

// headers returns the files of this repository that a source includes by name, beside it or below a folder above it.
func (t *tree) headers(f file) []file {
	var list []file
	for _, m := range quotedInclude.FindAllStringSubmatch(f.text, maxTogether) {
		for _, dir := range ancestors(f.dir()) {
			for _, below := range []string{"", "include", "src"} {
				if h, ok := t.get(path.Join(dir, below, m[1])); ok && h.base() != sdkHeader && !slices.Contains(list, h) {
					list = append(list, h)
				}
			}
		}
	}
	return list
}

// cargoTool is a benchmark library of Rust.
type cargoTool struct {
	name    string
	imports *lazyregexp.Regexp
	harness suite.Harness
}

var cargoTools = []cargoTool{
	{"Criterion", lazyregexp.New(`(?m)^[ \t]*(?:use[ \t]+criterion\b|extern crate criterion\b)|\bcriterion::|\bcriterion_main!`), suite.Harness{Format: "criterion", Output: "target/criterion"}},
	{"diol", lazyregexp.New(`(?m)^[ \t]*use[ \t]+diol\b|\bdiol::`), suite.Harness{Format: "lines"}},
	{"bencher", lazyregexp.New(`(?m)^[ \t]*(?:use[ \t]+bencher\b|extern crate bencher\b|#\[bench\])`), suite.Harness{Format: "lines", Pattern: bencherLine}},
}

// bencherLine is the pattern of "test sort ... bench: 1,234 ns/iter (+/- 5)".
const bencherLine = `^test (?<case>\S+) +\.\.\. bench: +(?<ns>[0-9,.]+) ns/iter`

var workspace = lazyregexp.New(`(?m)^[ \t]*\[workspace\]`)

// cargo returns one sighting per crate and library, or one for a whole workspace.
func (t *tree) cargo() []Finding {
	var list []Finding
	for _, tool := range cargoTools {
		for _, f := range t.files {
			if f.ext() != ".rs" || len(list) == maxFindings || !tool.imports.MatchString(f.text) {
				continue
			}
			root, ok := t.crate(f)
			if !ok {
				continue
			}
			cargo := "cargo bench" + inside("--manifest-path", path.Join(root, "Cargo.toml"))
			if root == "." {
				cargo = "cargo bench"
			}
			s := Finding{
				Level: Tool, What: tool.name + " benchmarks in Rust", Source: f.path, Files: []string{f.path}, Needs: "cargo",
				Build: suite.Build{Command: cargo + " --no-run"}, Harness: tool.harness,
				Evidence: []Evidence{{f.path, line(f.text, tool.imports), "uses " + strings.ToLower(tool.name)}},
			}
			if s.Harness.Command = cargo; s.Harness.Output != "" {
				s.Harness.Output = path.Join(root, s.Harness.Output)
			}
			list = append(list, s)
		}
	}
	return list
}

// crate returns the folder of the workspace or, if there is none, of the crate that a source belongs to.
func (t *tree) crate(f file) (root string, ok bool) {
	for _, dir := range ancestors(f.dir()) {
		c, found := t.get(path.Join(dir, "Cargo.toml"))
		if found && (!ok || workspace.MatchString(c.text)) {
			root, ok = dir, true
		}
	}
	return root, ok
}

var goBenchmark = lazyregexp.New(`(?m)^func (Benchmark(?:[^a-z(\s][^(\s]*)?)\(\w+ \*testing\.B\)`)

// goBenchmarks returns one sighting per module.
func (t *tree) goBenchmarks() []Finding {
	byModule := map[string][]file{}
	var modules []string
	for _, f := range t.files {
		if !strings.HasSuffix(f.path, "_test.go") || !goBenchmark.MatchString(f.text) {
			continue
		}
		module := "."
		for _, dir := range ancestors(f.dir()) {
			if _, ok := t.get(path.Join(dir, "go.mod")); ok {
				module = dir
				break
			}
		}
		if byModule[module] == nil {
			modules = append(modules, module)
		}
		byModule[module] = append(byModule[module], f)
	}
	var list []Finding
	for _, module := range modules[:min(len(modules), maxFindings)] {
		list = append(list, goSighting(module, byModule[module]))
	}
	return list
}

func goSighting(module string, files []file) Finding {
	var packages, names []string
	var evidence []Evidence
	for _, f := range files {
		names = append(names, f.path)
		pkg := "."
		if f.dir() != module {
			pkg = "./" + below(module, f.dir())
		}
		if !slices.Contains(packages, pkg) {
			packages = append(packages, pkg)
		}
		evidence = appendSome(evidence, Evidence{f.path, line(f.text, goBenchmark), goBenchmark.FindStringSubmatch(f.text)[1]})
	}
	where := strings.Join(packages, " ")
	if len(packages) > maxTogether {
		where = "./..."
	}
	tool := "go" + inside("-C", module) + " test "
	return Finding{
		Level: Tool, What: "Go benchmarks", Source: files[0].path, Files: names, Needs: "go",
		Build:    suite.Build{Command: tool + "-c -o /dev/null " + where},
		Harness:  suite.Harness{Command: tool + "-run '^$' -bench . -benchtime 50ms -count 20 " + where, Format: "go"},
		Evidence: evidence,
	}
}

var (
	pytestFixture = lazyregexp.New(`(?m)^[ \t]*(?:async[ \t]+)?def (test_\w+)\([^)]*\bbenchmark\b`)
	pytestCall    = lazyregexp.New(`(?m)(?:^|[\s(=])benchmark(?:\.pedantic)?\(`) // the parameter name alone proves nothing
)

// pytest returns one sighting for all tests that use the benchmark fixture.
func (t *tree) pytest() []Finding {
	const result = ".pytest-benchmark.json"
	s := Finding{Level: Tool, What: "pytest-benchmark tests", Makes: []string{result}}
	var paths []string
	for _, f := range t.files {
		m := pytestFixture.FindStringSubmatch(f.text)
		if m == nil || !pythonTest(f.base()) || !pytestCall.MatchString(f.text) {
			continue
		}
		paths = append(paths, f.path)
		s.Evidence = appendSome(s.Evidence, Evidence{f.path, line(f.text, pytestFixture), fmt.Sprintf("%s takes the benchmark fixture", m[1])})
	}
	if len(paths) == 0 {
		return nil
	}
	s.Source, s.Files, s.Needs = paths[0], paths, "python3"
	where := strings.Join(paths, " ")
	if len(paths) > maxTogether {
		where = ""
	}
	s.Harness = suite.Harness{
		Command: strings.TrimSpace("python3 -m pytest --benchmark-only --benchmark-json=" + result + " " + where),
		Format:  "pytest-benchmark", Output: result,
	}
	return []Finding{s}
}

// appendSome keeps only the first few: more would repeat the same.
func appendSome(list []Evidence, e Evidence) []Evidence {
	const most = 5
	if len(list) < most {
		return append(list, e)
	}
	return list
}
