package workflow

import (
	"io/fs"
	"path"
)

// Files returns the workflows of a repository that mention pawl, by path.
func Files(repo fs.FS) map[string][]byte {
	list := map[string][]byte{}
	entries, err := fs.ReadDir(repo, Folder)
	if err != nil {
		return list
	}
	for _, e := range entries {
		name := path.Join(Folder, e.Name())
		if ext := path.Ext(name); ext != ".yml" && ext != ".yaml" || !e.Type().IsRegular() {
			continue
		}
		if text, err := fs.ReadFile(repo, name); err == nil && UsesPawl(text) {
			list[name] = text
		}
	}
	return list
}
