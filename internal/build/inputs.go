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
	"runtime"
	"slices"
	"strings"
	"sync"
)

// What a build may read, bounded: beyond this, hashing takes longer than building.
const (
	maxInputFiles = 200_000
	maxInputBytes = 8 << 30
)

// errTooLarge says that a tree is too large to be looked at before every build.
var errTooLarge = errors.New("there is too much to look at before every build: name what it reads in build.inputs")

// snapshot is the state of a tree before a build, as far as a build could read it.
type snapshot struct {
	root    string            // top of the tree, absolute
	inside  string            // the suite's folder in it
	inputs  map[string]string // path to digest of its content, or what else it is
	left    map[string]string // path to size and time: what git ignores, objects of an earlier build among it
	tracked map[string]bool
	missing []string // what the suite names and nobody finds
}

// look takes the snapshot. In a repository, inputs are the files that git tracks
// or would track; elsewhere all files of the folder. What the build itself makes does not count.
func (r Recipe) look(ctx context.Context) (*snapshot, error) {
	dir, err := filepath.Abs(r.Dir)
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	s := &snapshot{root: dir, inside: ".", inputs: map[string]string{}, left: map[string]string{}, tracked: map[string]bool{}}
	var read []string // below root
	repo, err := Open(ctx, dir)
	if err == nil {
		if s.root, err = filepath.EvalSymlinks(repo.Root); err != nil {
			return nil, err
		}
		if s.inside, err = filepath.Rel(s.root, dir); err != nil {
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
		more, err := walkFiles("", p) // their full names
		if err != nil {
			return nil, fmt.Errorf("build.inputs: %w", err)
		}
		read = append(read, more...)
	}
	return s, s.hash(ctx, read)
}

// scope says where to look: the whole tree, or the suite's folder and what the
// suite names beside it. Names outside the tree are returned apart, absolute.
func (s *snapshot) scope(dir string, inputs []string) (within, outside []string) {
	if inputs == nil {
		return []string{"."}, nil
	}
	within = []string{s.inside}
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

// fromGit lists what git knows of the scope.
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
		if strings.HasSuffix(p, "/") { // a repository inside this one
			files, err := walkFiles(s.root, filepath.Join(s.root, p))
			if err != nil {
				return nil, err
			}
			read = append(read, files...)
		} else if !r.makes(s, p) {
			read = append(read, p)
		}
	}
	for _, p := range ignored {
		switch {
		case r.remembers(s, p):
			read = append(read, p)
		case !r.makes(s, p):
			s.left[p] = stamp(filepath.Join(s.root, p))
		}
	}
	return read, nil
}

// fromFolder lists every file where there is no git to ask.
func (s *snapshot) fromFolder(within []string, r Recipe) ([]string, error) {
	var read []string
	for _, w := range within {
		files, err := walkFiles(s.root, filepath.Join(s.root, w))
		if err != nil {
			return nil, err
		}
		for _, p := range files {
			if !r.makes(s, p) {
				read = append(read, p)
			}
		}
	}
	return read, nil
}

// walkFiles lists the files at and below a path, named as seen from base when they
// are below it.
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

// makes tells whether a path of the tree is made by this build, by another of the
// same folder, or by pawl or a compiler cache whose folder was put into the tree.
func (r Recipe) makes(s *snapshot, p string) bool {
	for _, store := range []string{r.Cache.Dir, lookEnv(r.Env, "CCACHE_DIR"), os.Getenv("PAWL_LOCK_DIR"), os.TempDir()} {
		if below(s.root, store) && below(store, s.at(p)) {
			return true
		}
	}
	rel, err := filepath.Rel(s.inside, p)
	if err != nil || !filepath.IsLocal(rel) || r.remembers(s, p) {
		return false
	}
	rel = filepath.ToSlash(rel)
	return strings.HasPrefix(rel, ".pawl/") || matchesAny(r.Outputs, rel) || matchesAny(r.Ignore, rel) || r.Scratch != "" && below(r.Scratch, rel)
}

// remembers tells of the one file of a scratch folder that changes what is built:
// CMake keeps there what it was told by hand.
func (r Recipe) remembers(s *snapshot, p string) bool {
	return r.Scratch != "" && p == filepath.Join(s.inside, filepath.FromSlash(r.Scratch), "CMakeCache.txt")
}

// below tells whether a path lies in a folder.
func below(folder, p string) bool {
	rel, err := filepath.Rel(folder, p)
	return err == nil && folder != "" && p != "" && rel != "." && filepath.IsLocal(rel)
}

// matchesAny tells whether a glob matches a path or a folder above it.
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

// stamp is what tells a file from its later self without reading it.
func stamp(name string) string {
	info, err := os.Lstat(name)
	if err != nil {
		return "gone"
	}
	return fmt.Sprintf("%d %d %v", info.Size(), info.ModTime().UnixNano(), info.Mode())
}

// hash reads the inputs, on all processors.
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
	var (
		mu   sync.Mutex
		wg   sync.WaitGroup
		errs []error
		next = make(chan string)
	)
	for range runtime.NumCPU() {
		wg.Go(func() {
			for n := range next {
				id, err := identify(s.at(n))
				mu.Lock()
				s.inputs[n] = id
				errs = append(errs, err)
				mu.Unlock()
			}
		})
	}
	for _, n := range names {
		if ctx.Err() != nil {
			break
		}
		next <- n
	}
	close(next)
	wg.Wait()
	return cmp.Or(ctx.Err(), errors.Join(errs...))
}

func (s *snapshot) at(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(s.root, name)
}

// identify is the content of a file and whether it can be run. Of a link it is
// where it leads and what is there.
func identify(name string) (string, error) {
	info, err := os.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "gone", nil // tracked and deleted
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
			return id, nil // that it leads nowhere is what there is to say of it
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

// keeps tells whether a later snapshot shows that the build was one of these
// inputs and no others: nothing that it could read was changed meanwhile, and what
// an earlier build left was not touched.
func (s *snapshot) keeps(after *snapshot) bool {
	for name, id := range s.inputs {
		if after.inputs[name] != id {
			return false
		}
	}
	return len(s.left) == 0 || maps.Equal(s.left, after.left)
}
