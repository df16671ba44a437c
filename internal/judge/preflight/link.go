package preflight

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/kernel/build/cuda"
)

// Unresolved is a symbol that a linker or a loader did not find.
type Unresolved struct {
	Symbol string // as printed: mangled or not
	Device bool   // missing in device code
}

// linkErrors matches the linkers' messages about missing symbols.
var linkErrors = []struct {
	*lazyregexp.Regexp
	device bool
}{
	{lazyregexp.New("undefined reference to [`']([^`\n]+?)'(?: follows)?\\s*$"), false},
	{lazyregexp.New(`ld(?:\.lld|64\.lld)?: error: undefined symbol: (.+?)\s*$`), false},
	{lazyregexp.New(`undefined symbol: (\S+)(?:\s+\(.*\))?\s*$`), false},
	{lazyregexp.New(`^nvlink error\s*: Undefined reference to '([^']+)'`), true},
	{lazyregexp.New(`^ptxas fatal\s*: Unresolved extern function '([^']+)'`), true},
}

const (
	maxUnresolved = 1000
	maxLogLine    = 16 << 10
)

// ReadLink returns the symbols that a link failed for, from the log of a build, without duplicates.
func ReadLink(text string) []Unresolved {
	var list []Unresolved
	seen := map[Unresolved]bool{}
	for line := range strings.Lines(text) {
		if len(line) > maxLogLine || len(list) == maxUnresolved {
			continue
		}
		line = strings.TrimRight(line, "\r\n")
		for _, shape := range linkErrors {
			if m := shape.FindStringSubmatch(line); m != nil {
				if u := (Unresolved{m[1], shape.device}); !seen[u] {
					seen[u] = true
					list = append(list, u)
				}
				break
			}
		}
	}
	return list
}

// explainLink adds a gate for every missing symbol: what it is, where it is declared, and
// what to do.
func (l *checker) explainLink(ctx context.Context, missing []Unresolved, where string) {
	if len(missing) == 0 {
		return
	}
	symbols := make([]string, len(missing))
	for i, u := range missing {
		symbols[i] = u.Symbol
	}
	files := sourceFiles(l.Dir)
	for i, name := range cuda.Demangle(ctx, symbols) {
		found := find(l.Dir, files, base(name))
		place := ""
		if found.file != "" {
			place = fmt.Sprintf("; it is %s in %s:%d", map[bool]string{true: "defined", false: "declared"}[found.defined], found.file, found.line)
		}
		g := Gate{Name: Symbols, Kernel: cuda.Short(name)}
		l.add(g.with(Stop, linkFix(name, found, missing[i].Device), "%s: undefined symbol %s%s", where, name, place))
	}
}

// base returns the name of a function without its scope, arguments and parameters.
func base(name string) string {
	short, _, _ := strings.Cut(cuda.Short(name), "<")
	return short[strings.LastIndex(short, ":")+1:]
}

func linkFix(name string, found location, device bool) string {
	switch {
	case strings.Contains(cuda.Short(name), "<"):
		if found.defined {
			return fmt.Sprintf("instantiate the template in %s (%s), or include %s where it is used, so that one compilation unit has both",
				found.file, instantiation(name), found.file)
		}
		return fmt.Sprintf("instantiate the template where it is defined (%s), or put the kernel and its call in one compilation unit", instantiation(name))
	case device:
		return "device code in several files needs -rdc=true for each file and nvcc to link; or put the definition in the file that calls it"
	case found.defined:
		return fmt.Sprintf("compile and link %s", found.file)
	}
	for _, lib := range libraries {
		if lib.MatchString(name) {
			return lib.fix
		}
	}
	return "link the object or library that defines it (-lNAME, after the files that use it)"
}

// instantiation returns the line that makes a compiler emit a template's function.
func instantiation(name string) string {
	name = strings.TrimSpace(name)
	if !strings.Contains(name, "(") {
		name = "void " + name + "(...)"
	}
	return "template __global__ " + strings.TrimPrefix(name, "__global__ ") + ";"
}

// libraries lists which libraries contain well-known names.
var libraries = []struct {
	*lazyregexp.Regexp
	fix string
}{
	{lazyregexp.New(`^(at|c10|torch)::`), "link the PyTorch libraries of the version that the extension was compiled for; if they are already linked, the C++ ABI differs: " +
		"compile with the -D_GLIBCXX_USE_CXX11_ABI that torch.compiled_with_cxx11_abi() reports"},
	{lazyregexp.New(`^cublasLt`), "link -lcublasLt"},
	{lazyregexp.New(`^cublas`), "link -lcublas"},
	{lazyregexp.New(`^cudnn`), "link -lcudnn"},
	{lazyregexp.New(`^nvml`), "link -lnvidia-ml"},
	{lazyregexp.New(`^(__)?cuda[A-Z]`), "link the CUDA runtime: use -lcudart, or link with nvcc"},
	{lazyregexp.New(`^cu[A-Z]`), "link the CUDA driver: -lcuda"},
	{lazyregexp.New(`^cl[A-Z]`), "link -lOpenCL"},
	{lazyregexp.New(`^(sin|cos|exp|log|pow|sqrt|tanh|erf|fma|floor|ceil)[fl]?$`), "link -lm, after the files that use it"},
	{lazyregexp.New(`^pthread_`), "compile and link with -pthread"},
}

// Limits of the search in sources. The search only helps to explain, and may give up.
const (
	maxSources    = 2000
	maxSourceSize = 1 << 20
)

// location is the location of a function.
type location struct {
	file    string // relative to the suite; empty if not found
	line    int
	defined bool // with its body
}

var sourceEndings = []string{".cu", ".cuh", ".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx", ".inl"}

// find finds the definition of a function in files below dir, or else its declaration.
func find(dir string, files []string, name string) location {
	if name == "" {
		return location{}
	}
	declaration, err := regexp.Compile(`^\s*(?:[\w:<>,*&\[\]()]+[\s*&]+)+` + regexp.QuoteMeta(name) + `\s*\(`)
	if err != nil {
		return location{}
	}
	var best location
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			continue
		}
		lines := strings.Split(string(text), "\n")
		for i, line := range lines {
			if !strings.Contains(line, name) || !declaration.MatchString(line) || strings.HasPrefix(strings.TrimSpace(line), "return ") {
				continue
			}
			found := location{file, i + 1, hasBody(lines[i:])}
			if best.file == "" || found.defined && !best.defined {
				best = found
			}
		}
	}
	return best
}

// hasBody reports whether a brace opens before the declaration ends.
func hasBody(lines []string) bool {
	for _, line := range lines[:min(len(lines), 12)] {
		if i := strings.IndexAny(line, "{;"); i >= 0 {
			return line[i] == '{'
		}
	}
	return false
}

// sourceFiles returns the files below dir in which a function may be declared.
func sourceFiles(dir string) (files []string) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // what cannot be read explains nothing
		}
		if d.IsDir() {
			if name := d.Name(); path != dir && (strings.HasPrefix(name, ".") || name == "results" || name == "node_modules") {
				return fs.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err == nil && info.Mode().IsRegular() && info.Size() <= maxSourceSize && slices.Contains(sourceEndings, filepath.Ext(path)) {
			if rel, err := filepath.Rel(dir, path); err == nil {
				files = append(files, rel)
			}
		}
		if len(files) == maxSources {
			return fs.SkipAll
		}
		return nil
	})
	return files
}
