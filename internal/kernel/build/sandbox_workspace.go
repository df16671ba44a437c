package build

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/scratch"
)

// nobody is the user ID for builds when pawl is root. Files of root then do not belong to the
// build, and the kernel limits its processes, which it does not do for root.
const nobody = 65534

func asNobody(cmd *exec.Cmd) {
	if os.Geteuid() != 0 {
		return
	}
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
}

// workspace is the only folder that a build in the sandbox can write: a private copy of the sources,
// visible at their original path, with its own home and /tmp.
type workspace struct {
	path    string          // folder of the room
	folder  *scratch.Folder // the same, locked
	root    string          // top of the original sources
	dir     string          // where the build runs, in or below root
	sources map[string]bool // copied files, relative to root
	private []string        // folders of the machine that a build must not see
}

// workspaceParent returns the folder for rooms: the folder for temporary files, or, if pawl is root and
// only root can reach that one, a folder that every user can reach.
func workspaceParent() string {
	own := os.TempDir()
	for _, dir := range []string{own, "/var/tmp", "/tmp"} {
		if os.Geteuid() != 0 || worldAccessible(dir) {
			return dir
		}
	}
	return own
}

// worldAccessible reports whether every user may pass through a folder and all folders above it.
func worldAccessible(dir string) bool {
	info, err := os.Stat(dir)
	if err != nil || info.Mode()&0o001 == 0 {
		return false
	}
	parent := filepath.Dir(dir)
	return parent == dir || worldAccessible(parent)
}

func (r *workspace) at(name string) string { return filepath.Join(r.path, name) }

// newWorkspace creates a room with a copy of the sources: the files of the repository that git does not
// ignore, or all files of the folder if there is no repository. It adds the outputs of an earlier build in
// the recipe's folder that match the globs in keep.
func (s *Sandbox) newWorkspace(ctx context.Context, recipe Recipe, keep []string) (_ *workspace, err error) {
	failed := func(what string, err error) error {
		return &SandboxError{Reason: what, Err: err}
	}
	dir, err := filepath.Abs(recipe.Dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return nil, failed("cannot find the sources", err)
	}
	root, files, err := sourceFiles(ctx, dir, recipe.Outputs)
	if err != nil {
		return nil, failed("cannot list the sources", err)
	}
	inside, err := filepath.Rel(root, dir)
	if err != nil {
		return nil, failed("cannot list the sources", err)
	}
	made, err := allDeclared(os.DirFS(root), inside, keep)
	if err != nil {
		return nil, failed("cannot list the existing outputs", err)
	}
	files = append(files, slices.DeleteFunc(made, func(name string) bool { return slices.Contains(files, name) })...)
	if root == "/" {
		return nil, &SandboxError{Reason: "the sources are the root folder of the machine", Fix: "move them to a separate folder"}
	}
	r := &workspace{root: root, dir: dir, sources: map[string]bool{}, private: privateFolders(ctx, dir)}
	if r.folder, err = scratch.New(workspaceParent(), "build"); err != nil {
		return nil, failed("cannot create a folder for a copy of the sources", err)
	}
	r.path = r.folder.Path
	if err := r.fill(files, recipe.Scratch, s.Limits.Disk); err != nil {
		r.clear()
		return nil, failed("cannot copy the sources", err)
	}
	return r, nil
}

func (r *workspace) fill(files []string, scratch string, most int64) error {
	for _, folder := range []string{"tree", "tmp", "home", "shm"} {
		if err := os.Mkdir(r.at(folder), 0o755); err != nil {
			return err
		}
	}
	from, err := os.OpenRoot(r.root)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenRoot(r.at("tree"))
	if err != nil {
		return err
	}
	defer to.Close()
	folders := map[string]bool{".": true}
	for _, file := range files {
		if folder := filepath.Dir(file); !folders[folder] {
			if err := to.MkdirAll(folder, 0o755); err != nil {
				return err
			}
			folders[folder] = true
		}
		n, err := copyEntry(from, to, file, most)
		if err != nil {
			return err
		}
		if most -= n; most < 0 {
			return fmt.Errorf("they exceed the disk limit of a build (%s does not fit): exclude data with .gitignore", file)
		}
		r.sources[file] = true
	}
	inside, err := filepath.Rel(r.root, r.dir)
	if err == nil {
		err = to.MkdirAll(filepath.Join(inside, filepath.FromSlash(scratch)), 0o755) // git does not store empty folders
	}
	if err == nil {
		err = os.WriteFile(r.at("passwd"), []byte("build:x:1000:1000::"+sandboxHome+":/bin/sh\n"), 0o644)
	}
	if err == nil {
		err = os.WriteFile(r.at("group"), []byte("build:x:1000:\n"), 0o644)
	}
	if err != nil || os.Geteuid() != 0 {
		return err
	}
	return r.each(func(in *os.Root, path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, in.Lchown(path, nobody, nobody))
	})
}

// watch returns an error when the room becomes too large.
func (r *workspace) watch(ctx context.Context, most int64) error {
	pause := time.Second
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
		began := time.Now()
		if r.size(ctx) > most {
			return fmt.Errorf("it wrote more than %.0f GiB", float64(most)/gib)
		}
		pause = max(time.Second, 10*time.Since(began)) // limits how often a large room is walked
	}
}

func (r *workspace) size(ctx context.Context) (bytes int64) {
	_ = r.each(func(_ *os.Root, _ string, e fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return fs.SkipAll
		}
		if err == nil { // files may disappear during a build
			if info, err := e.Info(); err == nil {
				if s, ok := info.Sys().(*syscall.Stat_t); ok {
					bytes += s.Blocks * 512
				}
			}
		}
		return nil
	})
	return bytes
}

// clear removes the room. A build may have made some of its folders read-only.
func (r *workspace) clear() {
	if r.folder.Remove() == nil {
		return
	}
	_ = r.each(func(in *os.Root, path string, e fs.DirEntry, _ error) error {
		if e != nil && e.IsDir() {
			return in.Chmod(path, 0o700)
		}
		return nil
	})
	_ = os.RemoveAll(r.path)
}

// each calls visit for everything in the room. It does not follow links.
func (r *workspace) each(visit func(in *os.Root, path string, e fs.DirEntry, err error) error) error {
	in, err := os.OpenRoot(r.path)
	if err != nil {
		return err
	}
	defer in.Close()
	return fs.WalkDir(in.FS(), ".", func(path string, e fs.DirEntry, err error) error { return visit(in, path, e, err) })
}
