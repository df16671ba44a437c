package discover

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/measure"
)

// language is a language with its compiler command.
type language struct {
	name    string
	compile string // the compiler, with optimization flags
	libs    string
	with    []string // extensions of sources that may be compiled together with it
}

var (
	langC    = language{"C", "cc -O3 -march=native", "-lm", []string{".c"}}
	langCPP  = language{"C++", "c++ -O3 -march=native -std=c++17", "", []string{".cc", ".cpp", ".cxx"}}
	langCUDA = language{"CUDA", "nvcc -O3 -arch=native", "", []string{".cu", ".cc", ".cpp", ".cxx"}}
	langHIP  = language{"HIP", "hipcc -O3", "", []string{".hip", ".cc", ".cpp", ".cxx"}}
)

// tool returns the compiler's program.
func (l language) tool() string {
	name, _, _ := strings.Cut(l.compile, " ")
	return name
}

var languages = map[string]language{
	".c": langC, ".cc": langCPP, ".cpp": langCPP, ".cxx": langCPP, ".cu": langCUDA, ".hip": langHIP,
}

// language returns the language of a source file.
func (f file) language() (language, bool) {
	l, ok := languages[f.ext()]
	if ok && l.name == langCPP.name && hipCode.MatchString(f.text) {
		l = langHIP // HIP programs are often plain .cpp
	}
	if ok && l.name != langCUDA.name && opencl.MatchString(f.text) {
		l.name, l.libs = "OpenCL", "-lOpenCL "+l.libs
		if !definesOpenCL.MatchString(f.text) {
			l.compile += " -DPAWL_OPENCL"
		}
	}
	return l, ok
}

// include returns a pattern for a line that includes a header; the header is taken literally.
func include(header string) *lazyregexp.Regexp {
	return lazyregexp.New(`(?m)^[ \t]*#[ \t]*include[ \t]*["<](?:[^">\n]*/)?` + regexp.QuoteMeta(header) + `[">]`)
}

var (
	opencl        = lazyregexp.New(`\bPAWL_OPENCL\b|\bpawl_queue\s*\(|\bCL/cl\.h\b`)
	definesOpenCL = lazyregexp.New(`(?m)^[ \t]*#[ \t]*define[ \t]+PAWL_OPENCL\b`)
	hipCode       = lazyregexp.New(`\bhip/hip_runtime\.h\b`)
	hasMain       = lazyregexp.New(`\bmain\s*\(`)
	openMP        = lazyregexp.New(`(?m)^[ \t]*#[ \t]*pragma[ \t]+omp\b|-fopenmp\b`)
	threads       = lazyregexp.New(`\bstd::(?:jthread|thread|async|execution)\b|\bpthread_create\b|\btbb::`)
	onDevice      = lazyregexp.New(`\bcuda_runtime\b|<cuda\.h>|\bhip_runtime\b|<<<|\bcu(?:Module|Library)Load|\bcuLaunchKernel\b`)
	loadsCode     = lazyregexp.New(`\b(?:dlopen|cu(?:da)?(?:Module|Library)Load\w*|hipModuleLoad\w*)\s*\(`)
	pythonThreads = lazyregexp.New(`(?m)^\s*(?:import|from)\s+(torch|triton|numpy|cupy|jax|numba|tensorflow)\b`)
)

// timer chooses the clock for a harness on the host. CPU time excludes other processes on a
// shared machine. But it covers only one thread, so a kernel that starts threads would look
// faster than it is.
func (t *tree) timer(f file, l language) (measure.Timer, []Evidence) {
	if l.name != langC.name && l.name != langCPP.name || onDevice.MatchString(f.text) {
		return "", nil
	}
	for _, other := range t.filesIn(f.dir()) {
		for _, p := range []*lazyregexp.Regexp{openMP, threads} {
			if n := line(other.text, p); n > 0 {
				return measure.TimerWall, []Evidence{{other.path, n, "uses threads: measured with the wall clock"}}
			}
		}
	}
	return measure.TimerCPU, nil
}

// pythonTimer chooses the clock for a Python harness. Numeric libraries use threads or a GPU,
// so for them it leaves the choice to the harness.
func pythonTimer(f file) (measure.Timer, []Evidence) {
	if m := pythonThreads.FindStringSubmatch(f.text); m != nil {
		return "", []Evidence{{f.path, line(f.text, pythonThreads), fmt.Sprintf("imports %s: measured on the GPU, or with the wall clock", m[1])}}
	}
	return measure.TimerCPU, nil
}
