package discover

import (
	"bytes"
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

var deviceCode = lazyregexp.New(`\b__global__\b`)

// kernelKinds lists the kinds, those with the most information on how to call them first.
var kernelKinds = []kernelKind{
	{
		"a PyTorch extension",
		[]string{".py"},
		lazyregexp.New(`\b(?:CUDAExtension|CppExtension|torch\.utils\.cpp_extension)\b`),
		"builds a PyTorch extension", "harness.py", ".py", false,
	},
	{"Triton kernels", []string{".py", ".ipynb"}, lazyregexp.New(`(?m)^[ \t"]*@triton\.jit\b`), "has a Triton kernel", "harness.py", ".py", false},
	{"HIP kernels", []string{".hip", ".cpp", ".cc", ".h", ".hpp"}, deviceCode, "has a HIP kernel", "harness.cu", ".hip", false},
	{"CUDA kernels", []string{".cu", ".cuh", ".h", ".hpp", ".cpp"}, deviceCode, "has a CUDA kernel", "harness.cu", ".cu", false},
	{"OpenCL kernels", []string{".cl", ".opencl"}, lazyregexp.New(`\b__kernel\b|\bkernel\s+void\b`), "has an OpenCL kernel", "opencl.c", ".c", false},
	{"C code", []string{".c"}, lazyregexp.New(`(?m)^[A-Za-z_][^;{}#\n]*\)\s*\{`), "has a function", "harness.c", ".c", true},
}

// kernels returns what could be measured with a harness that does not exist yet.
func (t *tree) kernels() []Finding {
	var list []Finding
	for _, k := range kernelKinds {
		var found []Evidence
		var files []string
		for _, f := range t.files {
			if f.base() == sdkHeader || f.base() == sdkPython || !slices.Contains(k.exts, f.ext()) {
				continue
			}
			if hip := f.ext() == ".hip" || hipCode.MatchString(f.text); k.pattern == deviceCode && hip != (k.ext == ".hip") {
				continue
			}
			if n := line(f.text, k.pattern); n > 0 && !isSkeleton(f) {
				found, files = appendSome(found, Evidence{f.path, n, k.description}), append(files, f.path)
			}
		}
		if len(found) > 0 && (!k.built || t.hasMakefile()) {
			s := t.skeleton(k, found)
			s.Files = files
			list = append(list, s)
		}
	}
	return list
}

func (t *tree) hasMakefile() bool {
	return slices.ContainsFunc(t.files, func(f file) bool { return slices.Contains(makeNames, f.base()) })
}

// skeleton returns the suite of a harness that the user must complete.
func (t *tree) skeleton(k kernelKind, found []Evidence) Finding {
	content := k.content()
	source := "harness" + k.ext
	if f, taken := t.get(source); taken && f.text != string(content) {
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
		if setup, ok := t.moduleSetup("."); ok {
			s.Build.Command = buildsExtension(setup)
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

// content returns the harness to write.
func (k kernelKind) content() []byte {
	content, err := skeletons.ReadFile("skeleton/" + k.skeleton)
	if err != nil {
		panic("discover: " + err.Error()) // the file is embedded
	}
	if k.ext == ".hip" { // HIP has the functions of CUDA under its own names
		content = bytes.ReplaceAll(content, []byte("cuda"), []byte("hip"))
	}
	return content
}

// isSkeleton reports whether a file is a harness that pawl init wrote and that measures nothing yet.
func isSkeleton(f file) bool {
	return slices.ContainsFunc(kernelKinds, func(k kernelKind) bool { return f.ext() == k.ext && f.text == string(k.content()) })
}
