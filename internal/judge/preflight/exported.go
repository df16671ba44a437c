package preflight

import (
	"debug/elf"
	"fmt"
	"path"
	"path/filepath"
	"slices"
)

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
