package build

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/parallel"
)

// Limits on the inputs of a build: beyond these, hashing takes longer than building.
const (
	maxInputFiles = 200_000
	maxInputBytes = 8 << 30
)

// errTooLarge reports that a tree is too large to hash before every build.
var errTooLarge = errors.New("the sources are too large to hash before every build: list what the build reads in build.inputs")

// snapshot is the state of everything a build could read in a tree.
type snapshot struct {
	root        string            // top of the tree, absolute
	suiteFolder string            // the suite's folder in it
	inputs      map[string]string // path to content digest, or to its kind if not a regular file
	ignored     map[string]string // path to size and time of files that git ignores, such as objects of an earlier build
	tracked     map[string]bool
	missing     []string // inputs named by the suite that do not exist
}

// snapshot takes a snapshot. In a repository, inputs are the files that git tracks or would track;
// elsewhere all files of the folder. Outputs of the build itself are excluded.
func (r Recipe) snapshot(ctx context.Context) (*snapshot, error) {
	dir, err := filepath.Abs(r.Dir)
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	s := &snapshot{root: dir, suiteFolder: ".", inputs: map[string]string{}, ignored: map[string]string{}, tracked: map[string]bool{}}
	var read []string // relative to root
	repo, err := Open(ctx, dir)
	if err == nil {
		if s.root, err = filepath.EvalSymlinks(repo.Root); err != nil {
			return nil, err
		}
		if s.suiteFolder, err = filepath.Rel(s.root, dir); err != nil {
			return nil, err
		}
	}
	within, outside := s.scope(dir, r.Inputs)
	if repo != nil {
		read, err = s.fromGit(ctx, within, r)
	} else {
		read, err = s.fromFolder(within, r)
	}
	if err != nil {
		return nil, err
	}
	for _, p := range outside {
		more, err := walkFiles("", p) // with absolute paths
		if err != nil {
			return nil, fmt.Errorf("build.inputs: %w", err)
		}
		read = append(read, more...)
	}
	return s, s.hash(ctx, read)
}

// scope returns where the inputs are: the whole tree, or the suite's folder and the inputs that
// the suite names. Inputs outside the tree are returned separately, as absolute paths.
func (s *snapshot) scope(dir string, inputs []string) (within, outside []string) {
	if inputs == nil {
		return []string{"."}, nil
	}
	within = []string{s.suiteFolder}
	for _, in := range inputs {
		if !filepath.IsAbs(in) {
			in = filepath.Join(dir, in)
		}
		at, err := filepath.EvalSymlinks(in)
		if err != nil {
			s.inputs[in], s.missing = "gone", append(s.missing, in)
			continue
		}
		in = at
		rel, err := filepath.Rel(s.root, in)
		if err != nil || !filepath.IsLocal(rel) {
			outside = append(outside, in)
		} else if !slices.Contains(within, rel) {
			within = append(within, rel)
		}
	}
	return within, outside
}

// fromGit lists the files in scope that git tracks or would track. It also records ignored files.
func (s *snapshot) fromGit(ctx context.Context, within []string, r Recipe) ([]string, error) {
	list := func(args ...string) ([]string, error) {
		out, err := git(ctx, s.root, slices.Concat([]string{"--literal-pathspecs", "ls-files", "-z"}, args, []string{"--"}, within)...)
		if err != nil {
			return nil, err
		}
		return strings.FieldsFunc(out, func(r rune) bool { return r == 0 }), nil
	}
	tracked, err := list("--cached", "--recurse-submodules")
	if err != nil {
		return nil, err
	}
	others, err := list("--others", "--exclude-standard")
	if err != nil {
		return nil, err
	}
	ignored, err := list("--others", "--ignored", "--exclude-standard")
	if err != nil {
		return nil, err
	}
	if len(tracked)+len(others)+len(ignored) > maxInputFiles {
		return nil, errTooLarge
	}
	read := tracked
	for _, p := range tracked {
		s.tracked[p] = true
	}
	for _, p := range others {
		if strings.HasSuffix(p, "/") { // a nested repository
			files, err := walkFiles(s.root, filepath.Join(s.root, p))
			if err != nil {
				return nil, err
			}
			read = append(read, files...)
		} else if !r.generates(s, p) {
			read = append(read, p)
		}
	}
	for _, p := range ignored {
		switch {
		case r.isCMakeCache(s, p):
			read = append(read, p)
		case !r.generates(s, p):
			s.ignored[p] = stamp(filepath.Join(s.root, p))
		}
	}
	return read, nil
}

// fromFolder lists every file in scope, if there is no repository.
func (s *snapshot) fromFolder(within []string, r Recipe) ([]string, error) {
	var read []string
	for _, w := range within {
		files, err := walkFiles(s.root, filepath.Join(s.root, w))
		if err != nil {
			return nil, err
		}
		for _, p := range files {
			if !r.generates(s, p) {
				read = append(read, p)
			}
		}
	}
	return read, nil
}

// walkFiles lists the files at and below a path, relative to base if they are below it.
func walkFiles(base, at string) ([]string, error) {
	var list []string
	err := filepath.WalkDir(at, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		if len(list) == maxInputFiles {
			return errTooLarge
		}
		if rel, err := filepath.Rel(base, p); err == nil && filepath.IsLocal(rel) && rel != "." {
			p = rel
		}
		list = append(list, p)
		return nil
	})
	return list, err
}

// generates reports whether a path in the tree is written by this build or by another build in the same
// folder. It is also true in the folders of pawl and of a compiler cache, if these are in the tree.
func (r Recipe) generates(s *snapshot, p string) bool {
	for _, store := range []string{r.Cache.Dir, lookEnv(r.Env, "CCACHE_DIR"), os.Getenv("PAWL_LOCK_DIR"), os.TempDir()} {
		if below(s.root, store) && below(store, s.at(p)) {
			return true
		}
	}
	rel, err := filepath.Rel(s.suiteFolder, p)
	if err != nil || !filepath.IsLocal(rel) || r.isCMakeCache(s, p) {
		return false
	}
	rel = filepath.ToSlash(rel)
	return strings.HasPrefix(rel, ".pawl/") || matchesAny(r.Outputs, rel) || matchesAny(r.Ignore, rel) || r.Scratch != "" && below(r.Scratch, rel)
}

// isCMakeCache reports whether a path is CMake's cache, the one file in a scratch folder that affects
// the build: it contains settings that a user made by hand.
func (r Recipe) isCMakeCache(s *snapshot, p string) bool {
	return r.Scratch != "" && p == filepath.Join(s.suiteFolder, filepath.FromSlash(r.Scratch), "CMakeCache.txt")
}

// below reports whether a path is inside a folder.
func below(folder, p string) bool {
	rel, err := filepath.Rel(folder, p)
	return err == nil && folder != "" && p != "" && rel != "." && filepath.IsLocal(rel)
}

// matchesAny reports whether a glob matches a path or a folder above it.
func matchesAny(globs []string, p string) bool {
	for _, g := range globs {
		g = path.Clean(filepath.ToSlash(g))
		for part := p; part != "." && part != "/"; part = path.Dir(part) {
			if ok, _ := path.Match(g, part); ok {
				return true
			}
		}
	}
	return false
}

// stamp returns a text that changes when a file changes, without reading the file.
func stamp(name string) string {
	info, err := os.Lstat(name)
	if err != nil {
		return "gone"
	}
	return fmt.Sprintf("%d %d %v", info.Size(), info.ModTime().UnixNano(), info.Mode())
}

// hash computes the digests of the inputs, on all processors.
func (s *snapshot) hash(ctx context.Context, names []string) error {
	var total int64
	for _, n := range names {
		if info, err := os.Lstat(s.at(n)); err == nil {
			total += info.Size()
		}
	}
	if len(names) > maxInputFiles || total > maxInputBytes {
		return errTooLarge
	}
	ids, errs := make([]string, len(names)), make([]error, len(names))
	stopped := parallel.Each(ctx, len(names), func(i int) { ids[i], errs[i] = identify(s.at(names[i])) })
	for i, name := range names {
		s.inputs[name] = ids[i]
	}
	return cmp.Or(stopped, errors.Join(errs...))
}

func (s *snapshot) at(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(s.root, name)
}

// identify returns the content digest of a file and whether it is executable. For a link, it adds
// the target.
func identify(name string) (string, error) {
	info, err := os.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "gone", nil // tracked but deleted
	}
	if err != nil {
		return "", err
	}
	id := ""
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err := os.Readlink(name)
		if err != nil {
			return "", err
		}
		id = "-> " + target + " "
		if info, err = os.Stat(name); err != nil || info.IsDir() {
			return id, nil // a dangling link, or a folder: the target alone identifies it
		}
	}
	if !info.Mode().IsRegular() {
		return id + info.Mode().Type().String(), nil
	}
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s%o %s", id, info.Mode().Perm()&0o111, hex.EncodeToString(sum.Sum(nil))), nil
}

// unchangedIn reports whether a later snapshot shows that the build used exactly these inputs: none of
// them changed during the build, and files left by an earlier build were not touched.
func (s *snapshot) unchangedIn(after *snapshot) bool {
	for name, id := range s.inputs {
		if after.inputs[name] != id {
			return false
		}
	}
	return len(s.ignored) == 0 || maps.Equal(s.ignored, after.ignored)
}
