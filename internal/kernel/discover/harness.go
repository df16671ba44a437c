package discover

import (
	"path"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/sdk"
)

// The files of the two SDKs, as sources name them.
const (
	sdkHeader = "pawl.h"
	sdkPython = "pawl_harness.py"
)

// maxFindings is the maximum for each kind: with more, the user must choose anyway.
const maxFindings = 50

var (
	includesPawl = include(sdkHeader)
	callsPawl    = lazyregexp.New(`\bpawl_main\s*\(`)
	importsPawl  = lazyregexp.New(`(?m)^[ \t]*(?:import|from)[ \t]+(?:pawl_harness\b|pawl_perf\.harness\b|pawl_perf[ \t]+import[ \t]+harness\b)`)
	callsMain    = lazyregexp.New(`\bmain\s*\(\s*\)`)
	buildsModule = lazyregexp.New(`\b(?:CUDAExtension|CppExtension|ext_modules)\b`)
)

// harnesses returns the programs that use the harness protocol.
func (t *tree) harnesses() []Finding {
	var list []Finding
	for _, f := range t.files {
		if len(list) == maxFindings {
			break
		}
		if l, ok := f.language(); ok && includesPawl.MatchString(f.text) && callsPawl.MatchString(f.text) && !isSkeleton(f) {
			list = append(list, t.compiledHarness(f, l))
		}
		if f.ext() == ".py" && !pythonTest(f.base()) && f.base() != sdkPython && importsPawl.MatchString(f.text) && callsMain.MatchString(f.text) && !isSkeleton(f) {
			list = append(list, t.pythonHarness(f))
		}
	}
	return list
}

func (t *tree) compiledHarness(f file, l language) Finding {
	r := t.recipe(f, l)
	s := Finding{
		Level: Harness, What: "a harness in " + l.name, Source: f.path, SDK: sdkHeader,
		Build:    suite.Build{Command: r.command, Outputs: []string{r.program}},
		Harness:  suite.Harness{Command: runnable(r.program)},
		Makes:    r.makes,
		Evidence: slices.Concat([]Evidence{{f.path, line(f.text, includesPawl), "includes pawl.h and calls pawl_main"}}, r.evidence),
		Doubts:   r.doubts, program: r.program, cmake: r.cmake,
	}
	timer, why := t.timer(f, l)
	s.Timer, s.Evidence = timer, append(s.Evidence, why...)
	t.readsAtRun(&s, f, l)
	return s
}

// readsAtRun searches for code that the program loads at run time. Two builds with equal
// programs may still differ in it, and must not count as identical.
func (t *tree) readsAtRun(s *Finding, f file, l language) {
	if l.name == "OpenCL" {
		for _, k := range t.files {
			if glob := path.Join(k.dir(), "*.cl"); k.ext() == ".cl" && !slices.Contains(s.Harness.Files, glob) {
				s.Harness.Files = append(s.Harness.Files, glob)
				s.Evidence = append(s.Evidence, Evidence{k.path, 0, "is read when the harness runs"})
			}
		}
	}
	for _, other := range t.filesIn(f.dir()) {
		if other.base() == sdkHeader && strings.HasPrefix(string(sdk.Header), other.text) {
			continue // it loads CUPTI, which is not what is measured
		}
		if n := line(other.text, loadsCode); n > 0 && len(s.Build.Outputs) > 0 {
			s.Build.Outputs = nil
			s.Evidence = append(s.Evidence, Evidence{other.path, n, "loads code at run time"})
			s.Doubts = append(s.Doubts, "list everything that the harness loads in build.outputs, including the program: pawl then detects when a change leaves the code unchanged")
		}
	}
}

func (t *tree) pythonHarness(f file) Finding {
	module := "pawl_harness"
	if strings.Contains(importsPawl.FindString(f.text), "pawl_perf") {
		module = "pawl_perf.harness" // of the wheel
	}
	s := Finding{
		Level: Harness, What: "a harness in Python", Source: f.path, SDK: sdkPython,
		Harness:  suite.Harness{Command: "python3 " + f.path},
		Makes:    []string{path.Join(f.dir(), "__pycache__") + "/"},
		Evidence: []Evidence{{f.path, line(f.text, importsPawl), "imports " + module + " and calls its main"}},
	}
	timer, why := pythonTimer(f)
	s.Timer, s.Evidence = timer, append(s.Evidence, why...)
	if setup, ok := t.moduleSetup(f.dir()); ok {
		s.Build.Command = buildsExtension(setup)
		s.Evidence = append(s.Evidence, Evidence{setup.path, line(setup.text, buildsModule), "builds an extension module"})
	}
	return s
}

// moduleSetup returns the setup.py that builds compiled code, in a folder or above it.
func (t *tree) moduleSetup(dir string) (file, bool) {
	for _, d := range ancestors(dir) {
		if f, ok := t.get(path.Join(d, "setup.py")); ok && buildsModule.MatchString(f.text) {
			return f, true
		}
	}
	return file{}, false
}

func pythonTest(name string) bool {
	return strings.HasPrefix(name, "test_") || strings.HasSuffix(name, "_test.py") || name == "conftest.py"
}

// runnable returns a program as a path, so that a shell does not search for it.
func runnable(program string) string {
	if strings.Contains(program, "/") {
		return program
	}
	return "./" + program
}
