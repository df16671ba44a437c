package preflight

import (
	"cmp"
	"debug/elf"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// maxLibraries bounds the libraries that one library may need.
const maxLibraries = 500

// undefined lists the symbols that a shared library needs and that no library it names
// has. A program with such symbols does not link; a library links, and fails when it is
// loaded. If one of the libraries is not found, the answer is unknown, which is an error.
func undefined(path string) ([]string, error) {
	f, err := elf.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	defer f.Close()
	if f.Type != elf.ET_DYN {
		return nil, nil
	}
	symbols, err := f.DynamicSymbols()
	if err != nil {
		return nil, nil // a library without symbols needs none
	}
	wanted := map[string]bool{}
	for _, s := range symbols {
		if s.Section == elf.SHN_UNDEF && elf.ST_BIND(s.Info) == elf.STB_GLOBAL && s.Name != "" && !fromInterpreter(s.Name) {
			wanted[s.Name] = true
		}
	}
	if len(wanted) == 0 {
		return nil, nil
	}
	if err := provide(f, path, wanted); err != nil {
		return nil, err
	}
	var missing []string
	for name := range wanted {
		missing = append(missing, name)
	}
	slices.Sort(missing)
	return missing, nil
}

// fromInterpreter reports whether a Python extension gets a symbol from its interpreter,
// which it does not name as a library.
func fromInterpreter(name string) bool {
	return strings.HasPrefix(name, "Py") || strings.HasPrefix(name, "_Py")
}

// provide removes from wanted what the libraries have, including those that they need.
func provide(f *elf.File, path string, wanted map[string]bool) error {
	queue := needs(f, path, nil)
	for i := 0; i < len(queue) && len(wanted) > 0; i++ {
		if i == maxLibraries {
			return fmt.Errorf("%s needs more than %d libraries", path, maxLibraries)
		}
		file := queue[i].find()
		if file == "" {
			return fmt.Errorf("%s needs %s, which was not found", filepath.Base(path), queue[i].name)
		}
		lib, err := elf.Open(file)
		if err != nil {
			return fmt.Errorf("read %s: %w", file, err)
		}
		symbols, _ := lib.DynamicSymbols()
		for _, s := range symbols {
			if s.Section != elf.SHN_UNDEF {
				delete(wanted, s.Name)
			}
		}
		queue = append(queue, needs(lib, file, queue)...)
		_ = lib.Close()
	}
	return nil
}

// need is a library and the folders that the loader searches first for it.
type need struct {
	name string
	dirs []string
}

func needs(f *elf.File, path string, known []need) []need {
	names, _ := f.ImportedLibraries()
	run, _ := f.DynString(elf.DT_RUNPATH)
	old, _ := f.DynString(elf.DT_RPATH)
	var dirs []string
	for _, list := range slices.Concat(run, old) {
		for dir := range strings.SplitSeq(list, ":") {
			dirs = append(dirs, strings.NewReplacer("$ORIGIN", filepath.Dir(path), "${ORIGIN}", filepath.Dir(path)).Replace(dir))
		}
	}
	var list []need
	for _, name := range names {
		if !slices.ContainsFunc(slices.Concat(known, list), func(n need) bool { return n.name == name }) {
			list = append(list, need{name, dirs})
		}
	}
	return list
}

// systemDirs are the folders that loaders search by default.
var systemDirs = []string{
	"/lib64", "/usr/lib64", "/lib", "/usr/lib", "/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu",
	"/lib/aarch64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/local/lib", "/usr/local/cuda/lib64",
}

func (n need) find() string {
	if strings.Contains(n.name, "/") {
		return n.name
	}
	env := filepath.SplitList(os.Getenv("LD_LIBRARY_PATH"))
	for _, dir := range slices.Concat(n.dirs, env, systemDirs) {
		path := filepath.Join(cmp.Or(dir, "."), n.name)
		info, err := os.Stat(path) //nolint:gosec // the loader looks there too, and nothing is run
		if err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	return ""
}

// checkExports finds host kernels that the suite launches but their library does not export.
// Without this check the launcher would fail at every config.
func (l *checker) checkExports(points []point) {
	told := map[string]bool{}
	for _, p := range points {
		if p.launch == nil || path.Ext(p.launch.File) != ".so" || told[p.launch.File+" "+p.launch.Kernel] {
			continue
		}
		told[p.launch.File+" "+p.launch.Kernel] = true
		names, err := functions(filepath.Join(l.Dir, filepath.FromSlash(p.launch.File)))
		if err != nil || slices.Contains(names, p.launch.Kernel) {
			continue // other code reports a file that is missing or not a library
		}
		has := "it exports none"
		if len(names) > 0 {
			has = "it exports " + some(names, 6)
		}
		l.add(Gate{
			Name: Symbols, State: Stop, Benchmark: p.benchmark, Config: p.config, Kernel: p.launch.Kernel,
			Text: fmt.Sprintf("%s has no function with that name; %s", p.launch.File, has),
			Fix:  `correct launch.kernel in the suite; a C++ function needs extern "C", and a static function is not exported`,
		})
	}
}

// functions returns the functions that a shared library exports.
func functions(name string) ([]string, error) {
	f, err := elf.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	defer f.Close()
	symbols, err := f.DynamicSymbols()
	if err != nil {
		return nil, fmt.Errorf("cannot read the symbols of %s: %w", name, err)
	}
	var list []string
	for _, s := range symbols {
		if s.Section != elf.SHN_UNDEF && (elf.ST_TYPE(s.Info) == elf.STT_FUNC || elf.ST_TYPE(s.Info) == elf.STT_GNU_IFUNC) && s.Name != "_init" && s.Name != "_fini" {
			list = append(list, s.Name)
		}
	}
	slices.Sort(list)
	return list, nil
}
