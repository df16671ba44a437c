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
	return slices.Concat(t.compiledTools(), t.criterion(), t.goBenchmarks(), t.pytest())
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
		flags: "--benchmark_repetitions=20 --benchmark_enable_random_interleaving=true --benchmark_out_format=json --benchmark_out=",
	},
}

func (t *tree) compiledTools() []Finding {
	var list []Finding
	for _, tool := range compiledTools {
		for _, f := range t.files {
			l, ok := f.language()
			if !ok || len(list) == maxFindings || !tool.include.MatchString(f.text) {
				continue
			}
			l.libs = tool.libs
			r := t.recipe(f, l)
			result := r.program + ".json"
			if !slices.Contains(r.makes, "build") {
				r.makes = append(r.makes, result+"*")
			}
			list = append(list, Finding{
				Level: Tool, What: tool.name + " in " + l.name, Source: f.path,
				Build:    suite.Build{Command: r.command, Outputs: []string{r.program}},
				Harness:  suite.Harness{Command: runnable(r.program) + " " + tool.flags + result, Format: tool.format, Output: result},
				Makes:    r.makes,
				Evidence: append([]Evidence{{f.path, line(f.text, tool.include), "includes " + tool.name}}, r.evidence...),
				Doubts:   r.doubts,
			})
		}
	}
	return list
}

var (
	usesCriterion = lazyregexp.New(`(?m)^[ \t]*criterion[ \t]*=|^[ \t]*\[(?:dev-)?dependencies\.criterion\]`)
	workspace     = lazyregexp.New(`(?m)^[ \t]*\[workspace\]`)
)

// criterion returns one sighting per crate, or one for a whole workspace.
func (t *tree) criterion() []Finding {
	var list []Finding
	for _, f := range t.files {
		if f.base() != "Cargo.toml" || len(list) == maxFindings || !usesCriterion.MatchString(f.text) {
			continue
		}
		root := f.dir()
		for _, dir := range ancestors(f.dir()) {
			if c, ok := t.get(path.Join(dir, "Cargo.toml")); ok && workspace.MatchString(c.text) {
				root = dir
			}
		}
		cargo := "cargo bench" + inside("--manifest-path", path.Join(root, "Cargo.toml"))
		if root == "." {
			cargo = "cargo bench"
		}
		list = append(list, Finding{
			Level: Tool, What: "Criterion benchmarks in Rust", Source: f.path,
			Build:    suite.Build{Command: cargo + " --no-run"},
			Harness:  suite.Harness{Command: cargo, Format: "criterion", Output: path.Join(root, "target/criterion")},
			Evidence: []Evidence{{f.path, line(f.text, usesCriterion), "depends on criterion"}},
		})
	}
	return list
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
	var packages []string
	var evidence []Evidence
	for _, f := range files {
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
		Level: Tool, What: "Go benchmarks", Source: files[0].path,
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
	s.Source = paths[0]
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
