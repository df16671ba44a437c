package discover

import (
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
)

// pythonClock is a way in which Python programs measure.
type pythonClock struct {
	says    string
	pattern *lazyregexp.Regexp
	format  string
}

// pythonClocks lists them, those that keep every sample first: pawl's recorder sees their times without a change of the
// program. The others print times.
var pythonClocks = []pythonClock{
	{"reports with perf_report", lazyregexp.New(`\bperf_report\s*\(`), suite.Python},
	{"measures with do_bench", lazyregexp.New(`\bdo_bench\w*\s*\(`), suite.Python},
	{"measures with torch.utils.benchmark", lazyregexp.New(`(?m)^[ \t]*(?:from|import)[ \t]+torch\.utils(?:\.benchmark\b|[ \t]+import[ \t]+benchmark\b)|\btorch\.utils\.benchmark\.Timer\b`), suite.Python},
	{"measures with torch events", lazyregexp.New(`\.elapsed_time\s*\(`), suite.Python},
	{"measures with timeit", lazyregexp.New(`\btimeit\.(?:repeat|timeit|Timer|default_timer)\b|(?m)^[ \t]*from[ \t]+timeit[ \t]+import\b`), suite.Python},
	{"tunes with Kernel Tuner", lazyregexp.New(`\btune_kernel\s*\(`), "lines"},
	{"measures with kineto", lazyregexp.New(`\bbench_kineto\s*\(`), "lines"},
	{"measures with bench_gpu_time", lazyregexp.New(`\bbench_gpu_time\w*\s*\(`), "lines"},
	{"reads the clock and prints a time", lazyregexp.New(`\btime\.(?:perf_counter|perf_counter_ns|time|time_ns|monotonic)\s*\(`), "lines"},
}

var (
	mainGuard = lazyregexp.New(`(?m)^if[ \t]+__name__[ \t]*==`)
	// topCall matches a statement outside of functions that may start a measurement.
	topCall = lazyregexp.New(`(?m)^(?:for[ \t]|with[ \t]|print\(|[A-Za-z_][\w.]*\.run\(|[A-Za-z_][\w.]*\(|[A-Za-z_]\w*[ \t]*=[ \t]*(?:do_bench|timeit|tune_kernel|triton\.testing\.))`)
	// printsTime matches a text that ends in a unit behind a value.
	printsTime   = lazyregexp.New(`(?:\}|%[-+ #0-9.]*[feg])[ )\]]*(?:ns|us|µs|ms|s|sec|secs|seconds?|milliseconds?|microseconds?)\b|[" '](?:ns|us|µs|ms|sec|seconds)[" ',)]`)
	pythonKernel = lazyregexp.New(`(?m)^[ \t]*@(?:triton\.jit|helion\.kernel|cute\.kernel|cuda\.jit|numba\.)`)
)

// scripts returns the Python programs that measure something by themselves.
func (t *tree) scripts() []Finding {
	var list []Finding
	for _, f := range t.files {
		if f.ext() != ".py" || f.base() == "setup.py" || f.base() == sdkPython || len(list) == maxFindings {
			continue
		}
		if pythonTest(f.base()) && (!mainGuard.MatchString(f.text) || strings.Contains(f.text, "pytest.main")) {
			continue
		}
		if importsPawl.MatchString(f.text) || !mainGuard.MatchString(f.text) && !topCall.MatchString(f.text) {
			continue
		}
		for _, c := range pythonClocks {
			if n := line(f.text, c.pattern); n > 0 && (c.format == suite.Python || t.prints(f)) {
				list = append(list, t.script(f, c, n))
				break
			}
		}
	}
	return list
}

// prints reports whether a program prints times with their units, here or in a module beside it that it imports.
func (t *tree) prints(f file) bool {
	if printsTime.MatchString(f.text) || strings.Contains(f.text, "tune_kernel") { // Kernel Tuner prints by itself
		return true
	}
	for _, other := range t.filesIn(f.dir()) {
		if other.ext() == ".py" && other.path != f.path && strings.Contains(f.text, other.stem()) && printsTime.MatchString(other.text) {
			return true
		}
	}
	return false
}

func (t *tree) script(f file, c pythonClock, at int) Finding {
	s := Finding{
		Level: Tool, What: "a Python benchmark", Source: f.path, Files: []string{f.path}, Needs: "python3",
		Harness:  suite.Harness{Command: "python3 " + f.path, Format: c.format},
		Evidence: []Evidence{{f.path, at, c.says}},
		Makes:    []string{"__pycache__/"},
	}
	if !pythonKernel.MatchString(f.text) {
		s.Cases.Definition = []string{f.path}
	}
	if c.format == suite.Python {
		s.Cases.Listed = perfReports(f)
	}
	for _, l := range s.Cases.Listed {
		s.Evidence = append(s.Evidence, Evidence{f.path, line(f.text, pythonClocks[0].pattern), "lists the configs of " + l.Name})
	}
	if setup, ok := t.moduleSetup(f.dir()); ok {
		s.Build.Command = buildsExtension(setup)
		s.Evidence = append(s.Evidence, Evidence{setup.path, line(setup.text, buildsModule), "builds an extension module"})
	}
	return s
}

// buildsExtension returns the command that builds the extension modules of a setup.py into the tree.
func buildsExtension(setup file) string {
	command := "python3 setup.py build_ext --inplace"
	if dir := setup.dir(); dir != "." {
		command = "cd " + dir + " && " + command
	}
	return command
}
