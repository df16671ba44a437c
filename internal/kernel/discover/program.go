package discover

import (
	"slices"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
)

var (
	readsClock = lazyregexp.New(`\b(?:cudaEventElapsedTime|hipEventElapsedTime|clock_gettime|gettimeofday|omp_get_wtime|std::chrono|clGetEventProfilingInfo|QueryPerformanceCounter)\b`)
	// streamsTime matches a stream that prints a unit behind a value.
	streamsTime = lazyregexp.New(`<<[^;"]*<<\s*"[ )\]]*(?:ns|us|ms|s|sec|seconds?|milliseconds?|microseconds?)\b`)
	benchNames  = lazyregexp.New(`(?i)bench|perf|speed|timing`)
)

// programs returns the programs in C, C++, CUDA and HIP that time themselves and print it: here, or in a header that they
// include. If some are named like benchmarks, only those count.
func (t *tree) programs() []Finding {
	var list []Finding
	for _, f := range t.files {
		l, ok := f.language()
		if !ok || len(list) == maxFindings || !hasMain.MatchString(f.text) || includesPawl.MatchString(f.text) {
			continue
		}
		near := append([]file{f}, t.headers(f)...)
		clock := slices.IndexFunc(near, func(f file) bool { return readsClock.MatchString(f.text) })
		if clock < 0 || slices.ContainsFunc(compiledTools, func(tool compiledTool) bool { return tool.include.MatchString(f.text) }) {
			continue
		}
		if s, ok := t.program(f, l, near, near[clock]); ok {
			list = append(list, s)
		}
	}
	named := slices.DeleteFunc(slices.Clone(list), func(s Finding) bool { return !benchNames.MatchString(s.Source) })
	if len(named) > 0 {
		return named
	}
	return list
}

func (t *tree) program(f file, l language, near []file, clock file) (Finding, bool) {
	var formats []timedFormat
	streams := false
	for _, n := range near {
		formats = append(formats, timedFormats(n)...)
		streams = streams || streamsTime.MatchString(n.text)
	}
	if len(formats) == 0 && !streams {
		return Finding{}, false
	}
	r := t.recipe(f, l)
	s := r.finding("a program in "+l.name+" that times itself", f, l)
	s.Harness = suite.Harness{Command: runnable(r.program), Format: "lines"}
	s.Evidence = []Evidence{{clock.path, line(clock.text, readsClock), "reads a clock"}}
	if len(formats) > 0 {
		s.Evidence = append(s.Evidence, Evidence{formats[0].path, formats[0].line, "prints a time"})
	}
	if len(formats) == 1 && !streams {
		s.Harness.Pattern = formats[0].pattern
	}
	s.Evidence = append(s.Evidence, r.evidence...)
	return s, true
}
