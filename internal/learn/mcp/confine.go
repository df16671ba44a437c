package mcp

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
)

// maxFile is the largest file that an agent may have a command read.
const maxFile = 64 << 20

// confined says how a file of the repository is named from the folder of the suite. Links
// are followed, and what they lead to must lie in the repository too.
func (s *Server) confined(name string) (string, error) {
	bad := func(why string) (string, error) { return "", &inputError{"file", why} }
	clean := path.Clean(filepath.ToSlash(name))
	if path.IsAbs(clean) || clean == "." {
		return bad("take a path from the folder of the suite")
	}
	from, err := filepath.Rel(s.o.Top, s.o.Dir)
	if err != nil {
		return bad("the folder of the suite is not in the repository")
	}
	inside := path.Join(filepath.ToSlash(from), clean)
	if inside == ".." || strings.HasPrefix(inside, "../") {
		return bad("leads out of the repository")
	}
	for part := range strings.SplitSeq(inside, "/") {
		if strings.EqualFold(part, ".git") {
			return bad("what git keeps for itself is not read")
		}
	}
	// Opening it through the root follows links only inside; the kernel sees to it.
	f, err := s.root.Open(filepath.FromSlash(inside))
	if errors.Is(err, fs.ErrNotExist) {
		return bad("there is no such file in the repository")
	}
	if err != nil {
		return bad("cannot be opened inside the repository: it may be a link that leads out of it")
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return bad("is no file")
	}
	if info.Size() > maxFile {
		return bad("is larger than 64 MiB")
	}
	return filepath.FromSlash(clean), nil
}
