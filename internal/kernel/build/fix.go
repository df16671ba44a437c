package build

import "github.com/goatnote-inc/pawl/internal/base/lazyregexp"

// knownFix is the fix for an error with a known cause. $1 stands for what the pattern matched.
type knownFix struct {
	pattern  *lazyregexp.Regexp
	fix      string
	anywhere bool // about the machine, so the pattern may match any line
}

func fixFor(pattern, fix string) knownFix { return knownFix{lazyregexp.New(pattern), fix, false} }

func (r knownFix) inWholeLog() knownFix {
	r.anywhere = true
	return r
}

var remedies = []knownFix{
	fixFor(`Value '(\w+)' is not defined for option 'gpu-(?:architecture|code)'`,
		"this CUDA toolkit does not support $1: install a newer one, or set build.arch to one that nvcc --list-gpu-arch lists"),
	fixFor(`Unsupported gpu architecture '(\w+)'`,
		"this CUDA toolkit does not support $1: install a newer one, or set build.arch to one that nvcc --list-gpu-arch lists"),
	fixFor(`uses too much shared data \((0x[0-9a-f]+) bytes, (0x[0-9a-f]+) max\)`,
		"the kernel declares $1 bytes of shared memory, and the limit is $2: use smaller tiles, or extern __shared__ with cudaFuncAttributeMaxDynamicSharedMemorySize"),
	fixFor(`unsupported GNU version! gcc versions later than (\d+) are not supported`,
		"nvcc needs an older host compiler: install g++-$1 and add -ccbin g++-$1 to build.flags"),
	fixFor(`(?:fatal error: |cannot open source file ")pawl\.h`,
		"write pawl.h into this folder with `pawl sdk c`, or add its folder with -I"),
	fixFor(`fatal error: (\S+): No such file or directory`,
		"add the folder of $1 with -I, or install the package that contains it; for a base, check that it is committed"),
	fixFor(`cannot open source file "([^"]+)"`,
		"add the folder of $1 with -I, or install the package that contains it; for a base, check that it is committed"),
	fixFor(`(?:cannot find|unable to find library) -l(\S+?)(?::|$)`,
		"install the development package of lib$1, or add its folder with -L to build.link"),
	fixFor("undefined reference to [`']([^']+)'",
		"compile the file that defines it, or link its library; a template must be instantiated where it is defined"),
	fixFor(`Undefined reference to '([^']+)' in`,
		"device code calls a function of another file: compile with -rdc=true, or define the function in the same file"),
	fixFor(`Unresolved extern function '([^']+)'`,
		"device code calls a function of another file: compile with -rdc=true, or define the function in the same file"),
	fixFor(`[Gg]enerator\s*:.*\s+[Dd]oes not match the generator used\s+previously`,
		"the build folder was configured for another generator: remove it, or set build.folder to another folder").inWholeLog(),
	fixFor(`(?:No CMAKE_CUDA_COMPILER could be found|Failed to find nvcc|Could not find .?nvcc)`,
		"install the CUDA toolkit, or add its bin folder to PATH"),
	fixFor(`No module named '?(torch)`,
		"install PyTorch for this python3, or choose another Python with build.env: {PYTHON: ...}"),
	fixFor(`No module named '?([\w.]+)`,
		"install the package $1 for this python3, or choose another Python with build.env: {PYTHON: ...}"),
	fixFor(`Ninja is required to load C\+\+ extensions`, "install ninja"),
	fixFor(`No rule to make target '?([^',]+)'?`,
		"it is neither a target nor a file: check its name; for a base, check that it is committed"),
	fixFor(`(?:virtual memory exhausted|Killed signal terminated program|[Cc]annot allocate memory|out of memory)`,
		"the machine ran out of memory: raise build.memory or lower build.jobs, so that fewer compilers run at once").inWholeLog(),
	fixFor(`No space left on device`, "free some disk space; pawl build --clean empties the build cache").inWholeLog(),
}

// withFix adds the fix for the error, found in its message or else in the rest of the output.
func (d Diagnostic) withFix(log string) Diagnostic {
	find := func(text string, r knownFix) bool {
		m := r.pattern.FindStringSubmatchIndex(text)
		if m != nil {
			d.Fix = clean(string(r.pattern.ExpandString(nil, r.fix, text, m)))
		}
		return m != nil
	}
	for _, r := range remedies {
		if find("fatal error: "+d.Message, r) || r.anywhere && find(log, r) {
			break
		}
	}
	return d
}
