package shell

import (
	"os"
	"path/filepath"
	"strings"
)

// Search holds where a shell searches for programs.
type Search struct {
	Dir  string // working folder
	Path string // value of PATH
}

// Find returns the file that a shell would run for a name. If name has a slash and the file
// is not executable, Find returns it with false.
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
