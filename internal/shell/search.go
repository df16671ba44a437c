package shell

import (
	"os"
	"path/filepath"
	"strings"
)

// Search is where a shell looks for programs.
type Search struct {
	Dir  string // where it runs
	Path string // its PATH
}

// Find returns the file that a shell would run for a name. A file that is there
// and may not be run is returned too, with false.
func (s Search) Find(name string) (at string, runs bool) {
	if strings.Contains(name, "/") {
		return s.executable(name)
	}
	for _, folder := range filepath.SplitList(s.Path) {
		if at, runs := s.executable(filepath.Join(folder, name)); runs {
			return at, true
		}
	}
	return "", false
}

func (s Search) executable(at string) (string, bool) {
	if !filepath.IsAbs(at) {
		at = filepath.Join(s.Dir, at)
	}
	info, err := os.Stat(at)
	if err != nil || info.IsDir() {
		return "", false
	}
	return at, info.Mode()&0o111 != 0
}
