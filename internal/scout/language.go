package scout

import (
	"fmt"
	"regexp"

	"github.com/goatnote-inc/pawl/internal/lazyregexp"
	"github.com/goatnote-inc/pawl/measure"
)

// language is one that a compiler is called for by name.
type language struct {
	name    string
	compile string // the compiler, with flags that make code worth measuring
	libs    string
	with    []string // sources that may be compiled together with one of it
}

var (
	langC    = language{"C", "cc -O3 -march=native", "-lm", []string{".c"}}
	langCPP  = language{"C++", "c++ -O3 -march=native -std=c++17", "", []string{".cc", ".cpp", ".cxx"}}
	langCUDA = language{"CUDA", "nvcc -O3 -arch=native", "", []string{".cu", ".cc", ".cpp", ".cxx"}}
	langHIP  = language{"HIP", "hipcc -O3", "", []string{".hip", ".cc", ".cpp", ".cxx"}}
)

var languages = map[string]language{
	".c": langC, ".cc": langCPP, ".cpp": langCPP, ".cxx": langCPP, ".cu": langCUDA, ".hip": langHIP,
}

// of is the language of a source file.
func (f file) language() (language, bool) {
	l, ok := languages[f.ext()]
	if ok && l.name != langCUDA.name && opencl.MatchString(f.text) {
		l.name, l.libs = "OpenCL", "-lOpenCL "+l.libs
		if !definesOpenCL.MatchString(f.text) {
			l.compile += " -DPAWL_OPENCL"
		}
	}
	return l, ok
}

// include matches a line that includes one of these headers; dots are taken for dots.
func include(header string) *lazyregexp.Regexp {
	return lazyregexp.New(`(?m)^[ \t]*#[ \t]*include[ \t]*["<](?:[^">\n]*/)?` + regexp.QuoteMeta(header) + `[">]`)
}

var (
	opencl        = lazyregexp.New(`\bPAWL_OPENCL\b|\bpawl_queue\s*\(|\bCL/cl\.h\b`)
	definesOpenCL = lazyregexp.New(`(?m)^[ \t]*#[ \t]*define[ \t]+PAWL_OPENCL\b`)
	hasMain       = lazyregexp.New(`\bmain\s*\(`)
	openMP        = lazyregexp.New(`(?m)^[ \t]*#[ \t]*pragma[ \t]+omp\b|-fopenmp\b`)
	threads       = lazyregexp.New(`\bstd::(?:jthread|thread|async|execution)\b|\bpthread_create\b|\btbb::`)
	onDevice      = lazyregexp.New(`\bcuda_runtime\b|<cuda\.h>|\bhip_runtime\b|<<<|\bcu(?:Module|Library)Load|\bcuLaunchKernel\b`)
	loadsCode     = lazyregexp.New(`\b(?:dlopen|cu(?:da)?(?:Module|Library)Load\w*|hipModuleLoad\w*)\s*\(`)
	pythonThreads = lazyregexp.New(`(?m)^\s*(?:import|from)\s+(torch|triton|numpy|cupy|jax|numba|tensorflow)\b`)
)

// timer chooses the clock for a harness on the host. CPU time does not count the
// neighbours on a shared machine; but it is that of one thread, so a kernel that
// starts threads would look faster than it is.
func (t *tree) timer(f file, l language) (measure.Timer, []Evidence) {
	if l.name != langC.name && l.name != langCPP.name || onDevice.MatchString(f.text) {
		return "", nil
	}
	for _, other := range t.beside(f.dir()) {
		for _, p := range []*lazyregexp.Regexp{openMP, threads} {
			if n := line(other.text, p); n > 0 {
				return measure.TimerWall, []Evidence{{other.path, n, "uses threads: measured with the wall clock"}}
			}
		}
	}
	return measure.TimerCPU, nil
}

// pythonTimer is the same for Python. Libraries that compute have threads or a GPU
// of their own: the harness knows best.
func pythonTimer(f file) (measure.Timer, []Evidence) {
	if m := pythonThreads.FindStringSubmatch(f.text); m != nil {
		return "", []Evidence{{f.path, line(f.text, pythonThreads), fmt.Sprintf("imports %s: measured on the GPU, or with the wall clock", m[1])}}
	}
	return measure.TimerCPU, nil
}
