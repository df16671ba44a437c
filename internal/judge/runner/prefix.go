package runner

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// PrefixVariable is the environment variable that names the folder into which the build of a side may install what it
// makes. Programs, libraries and Python packages there are found first by the side's command, so two versions of one
// package can be measured side by side.
const PrefixVariable = "PAWL_PREFIX"

// prefixInTree is the install folder, relative to the folder of a side. Sides in other trees cannot write to it.
var prefixInTree = filepath.Join(".pawl", "prefix")

// prefix returns the install folder of a side.
func (s side) prefix() (string, error) {
	dir, err := filepath.Abs(filepath.Join(s.dir, prefixInTree))
	if err != nil {
		return "", fmt.Errorf("cannot find the folder of %s: %w", s.name, err)
	}
	return dir, nil
}

// emptyPrefix removes what earlier builds installed below dir. A link in the tree cannot lead out of it.
func emptyPrefix(dir string) error {
	root, err := os.OpenRoot(dir)
	if err == nil {
		err = errors.Join(root.RemoveAll(prefixInTree), root.Close())
	}
	if err != nil {
		return fmt.Errorf("cannot remove what an earlier build installed: %w", err)
	}
	return nil
}

// ignorePrefix keeps git from seeing what a build installed below dir. It does nothing if the build installed nothing.
func ignorePrefix(dir string) error {
	if !isFolder(filepath.Join(dir, prefixInTree)) {
		return nil
	}
	root, err := os.OpenRoot(dir)
	if err == nil {
		err = errors.Join(root.WriteFile(filepath.Join(prefixInTree, ".gitignore"), []byte("*\n"), 0o644), root.Close())
	}
	if err != nil {
		return fmt.Errorf("cannot hide the installed files from git: %w", err)
	}
	return nil
}

// installedFolders holds the folders of a prefix that exist, by what is searched in them.
type installedFolders struct{ programs, libraries, python []string }

// installed returns the folders that the build of a side installed into.
func (s side) installed() (f installedFolders) {
	dir, err := s.prefix()
	if err != nil || !isFolder(dir) {
		return f
	}
	for _, root := range []string{dir, filepath.Join(dir, "local")} { // Debian's Python installs below local
		if bin := filepath.Join(root, "bin"); isFolder(bin) {
			f.programs = append(f.programs, bin)
		}
		for _, lib := range []string{"lib", "lib64"} {
			at := filepath.Join(root, lib)
			if !isFolder(at) {
				continue
			}
			f.libraries = append(f.libraries, at)
			versions, _ := os.ReadDir(at)
			for _, v := range versions {
				for _, packages := range []string{"site-packages", "dist-packages"} {
					if folder := filepath.Join(at, v.Name(), packages); isFolder(folder) {
						f.python = append(f.python, folder)
					}
				}
			}
		}
	}
	return f
}
