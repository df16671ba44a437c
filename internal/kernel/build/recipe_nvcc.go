package build

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
)

// setsOptimization matches flags that already set an optimization level.
var setsOptimization = lazyregexp.New(`(^|\s)(-O\S*|--optimize\S*|-G|--device-debug)(\s|$)`)

// nvcc compiles every source separately, so that a compiler cache can serve all but the changed
// ones, and links. The extension of the target decides what is made.
func (c *composer) nvcc() error {
	c.needs("nvcc")
	sources, err := c.sources()
	if err != nil {
		return err
	}
	if len(sources) == 0 || c.Target == "" {
		return &SpecError{"recipe nvcc needs sources and a target"}
	}
	archs := c.archs()
	if len(archs) == 0 {
		return &SpecError{"there is no NVIDIA GPU here to take the architecture from: set build.arch, for example to sm_89; pawl preflight also accepts --gpu L4"}
	}
	if len(c.Recipe.Outputs) == 0 {
		c.Recipe.Outputs = []string{c.Target}
	}
	c.Recipe.Title = fmt.Sprintf("nvcc %s -> %s for %s", shortList(sources), c.Target, strings.Join(archs, ", "))
	flags := joinWords(level(c.Flags), archFlags(archs), "-Xptxas -v", c.Flags)
	switch kind := filepath.Ext(c.Target); kind {
	case ".cubin", ".ptx", ".fatbin":
		return c.device(kind[1:], sources, archs, flags)
	case ".so":
		c.program(sources, joinWords(flags, "-Xcompiler -fPIC"), joinWords(archFlags(archs), "-shared"))
	default:
		c.program(sources, flags, archFlags(archs))
	}
	return nil
}

func level(flags string) string {
	if setsOptimization.MatchString(flags) {
		return ""
	}
	return "-O3"
}

// archFlags returns flags for one architecture with its PTX, or for several without PTX.
func archFlags(archs []string) string {
	if len(archs) == 1 {
		return "-arch=" + archs[0]
	}
	var list []string
	for _, a := range archs {
		list = append(list, fmt.Sprintf("-gencode arch=compute_%s,code=%s", strings.TrimPrefix(a, "sm_"), a))
	}
	return strings.Join(list, " ")
}

// device compiles one source to device code only.
func (c *composer) device(kind string, sources, archs []string, flags string) error {
	if len(sources) > 1 {
		return &SpecError{fmt.Sprintf("a .%s is built from one source, but sources match %s", kind, shortList(sources))}
	}
	if kind != "fatbin" && len(archs) > 1 {
		return &SpecError{fmt.Sprintf("a .%s is for one architecture, but arch names %s: build a .fatbin instead", kind, strings.Join(archs, ", "))}
	}
	if kind == "ptx" {
		flags = strings.Replace(flags, "-Xptxas -v", "", 1) // ptxas does not run
	}
	c.scratch(kind, flags, c.Target)
	c.Recipe.Command = joinWords("nvcc", "-"+kind, flags, "-o", quote(c.Target), quote(sources[0]))
	return nil
}

// program compiles and links. The compilers run in parallel; each has its own log, and the logs
// are printed in the order of the sources.
func (c *composer) program(sources []string, flags, link string) {
	o := c.scratch(flags, link, c.Link, c.Target, strings.Join(sources, "\x00"))
	compiler := joinWords(c.launcher(), "nvcc", flags)
	var objects, logs []string
	for i := range sources {
		objects = append(objects, fmt.Sprintf("%s/%d.o", o, i))
		logs = append(logs, fmt.Sprintf("%s/%d.log", o, i))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "mkdir -p %s && rm -f %s/*.o %s/failed || exit\n", o, o, o)
	if len(sources) == 1 {
		fmt.Fprintf(&b, "%s -c %s -o %s || exit\n", compiler, quote(sources[0]), objects[0])
	} else {
		fmt.Fprintf(&b, "compile() { %s -c \"$2\" -o \"%s/$1.o\" >\"%s/$1.log\" 2>&1 || : >%s/failed; }\n", compiler, o, o, o)
		for i, source := range sources {
			fmt.Fprintf(&b, "compile %d %s &\n", i, quote(source))
			fmt.Fprintf(&b, "[ $((%d %% PAWL_JOBS)) != 0 ] || wait\n", i+1)
		}
		fmt.Fprintf(&b, "wait\ncat %s\n[ ! -e %s/failed ] || exit 1\n", strings.Join(logs, " "), o)
	}
	b.WriteString(joinWords("nvcc", link, "-o", quote(c.Target), strings.Join(objects, " "), c.Link))
	c.Recipe.Command = b.String()
}

// shortList returns a short description of several files, with the first name.
func shortList(files []string) string {
	if len(files) == 1 {
		return files[0]
	}
	return fmt.Sprintf("%s and %d more", files[0], len(files)-1)
}
