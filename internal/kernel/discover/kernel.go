package discover

import (
	"embed"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/sdk"
)

// skeletons holds harnesses that run but do not measure anything yet.
//
//go:embed skeleton
var skeletons embed.FS

// kernelKind is a kind of code that can be measured once it has a harness.
type kernelKind struct {
	what        string
	exts        []string
	pattern     *lazyregexp.Regexp
	description string // describes a file that matches
	skeleton    string
	ext         string // extension of the harness to write
	built       bool   // requires a Makefile in the repository
}

// kernelKinds lists the kinds, those with the most information on how to call them first.
var kernelKinds = []kernelKind{
	{
		"a PyTorch extension",
		[]string{".py"},
		lazyregexp.New(`\b(?:CUDAExtension|CppExtension|torch\.utils\.cpp_extension)\b`),
		"builds a PyTorch extension", "harness.py", ".py", false,
	},
	{"Triton kernels", []string{".py"}, lazyregexp.New(`(?m)^[ \t]*@triton\.jit\b`), "has a Triton kernel", "harness.py", ".py", false},
	{"CUDA kernels", []string{".cu"}, lazyregexp.New(`\b__global__\b`), "has a CUDA kernel", "harness.cu", ".cu", false},
	{"OpenCL kernels", []string{".cl"}, lazyregexp.New(`\b(?:__)?kernel\s+void\b`), "has an OpenCL kernel", "opencl.c", ".c", false},
	{"C code", []string{".c"}, lazyregexp.New(`(?m)^[A-Za-z_][^;{}#\n]*\)\s*\{`), "has a function", "harness.c", ".c", true},
}

// kernels returns what could be measured with a harness that does not exist yet.
func (t *tree) kernels() []Finding {
	var list []Finding
	for _, k := range kernelKinds {
		var found []Evidence
		for _, f := range t.files {
			if n := line(f.text, k.pattern); n > 0 && slices.Contains(k.exts, f.ext()) {
				found = appendSome(found, Evidence{f.path, n, k.description})
			}
		}
		if len(found) > 0 && (!k.built || t.hasMakefile()) {
			list = append(list, t.skeleton(k, found))
		}
	}
	return list
}

func (t *tree) hasMakefile() bool {
	return slices.ContainsFunc(t.files, func(f file) bool { return slices.Contains(makeNames, f.base()) })
}

// skeleton returns the suite of a harness that the user must complete.
func (t *tree) skeleton(k kernelKind, found []Evidence) Finding {
	content, err := skeletons.ReadFile("skeleton/" + k.skeleton)
	if err != nil {
		panic("scout: " + err.Error()) // the file is embedded
	}
	source := "harness" + k.ext
	if _, taken := t.get(source); taken {
		source = "pawl_bench" + k.ext
	}
	s := Finding{
		Level: Kernel, What: k.what, Source: source, Evidence: found,
		Adds: []File{{source, content}},
		Doubts: []string{
			"pawl init writes " + source + ", which measures an empty placeholder until you call your kernel at its TODO",
		},
	}
	if k.ext == ".py" {
		s.SDK = sdkPython
		s.Harness = suite.Harness{Command: "python3 " + source}
		s.Makes = []string{"__pycache__/"}
		if _, ok := t.moduleSetup("."); ok {
			s.Build.Command = "python3 setup.py build_ext --inplace"
		}
	} else {
		f := file{source, string(content)}
		l, _ := f.language()
		s.Timer, _ = t.timer(f, l)
		program := strings.TrimSuffix(source, k.ext)
		s.SDK = sdkHeader
		s.Build = suite.Build{Command: strings.TrimSpace(l.compile + " -o " + program + " " + source + " " + l.libs), Outputs: []string{program}}
		s.Harness = suite.Harness{Command: "./" + program}
		s.Makes = []string{program}
	}
	s.Adds = append(s.Adds, sdkFile(s.SDK, "."))
	return s
}

// sdkFile returns a file of the SDK, to write into a folder.
func sdkFile(name, dir string) File {
	content := sdk.Header
	if name == sdkPython {
		content = sdk.Python
	}
	if dir != "." {
		name = dir + "/" + name
	}
	return File{name, content}
}
