package build

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Enclosure is a sandbox for programs that run beside a build: a copy of a tree that they can only
// read, and the folders that View names.
type Enclosure struct {
	sandbox *Sandbox
	room    *room
}

// View is what a program in an enclosure sees beside the tree, the system and the tools.
type View struct {
	Read      []string // folders
	Write     []string // folders; as root, OwnedInside must have been called for them
	Path      []string // folders that come first on the search path for programs
	Variables []string // names of variables that it gets beside those of a build
	Devices   bool     // GPUs
}

// Enclose copies the tree that dir belongs to: the files that git does not ignore, and outputs, the
// globs of what was built in dir. A copy keeps the program away from git's own files and from what
// else lies in the folder, and what is written to the tree later does not reach it.
func (s *Sandbox) Enclose(ctx context.Context, dir string, outputs []string) (*Enclosure, error) {
	room, err := s.room(ctx, Recipe{Dir: dir}, outputs)
	if err != nil {
		return nil, standing(ctx, err)
	}
	for _, folder := range toolRoots(os.Environ()) {
		if rel, err := filepath.Rel(room.root, folder); err == nil && filepath.IsLocal(rel) {
			_ = os.MkdirAll(filepath.Join(room.at("tree"), rel), 0o755) // a mount point; without it the tools are missing, which shows
		}
	}
	return &Enclosure{s, room}, nil
}

// Remove deletes the copy.
func (e *Enclosure) Remove() { e.room.clear() }

// OwnedInside gives a file or folder to the user that programs in a sandbox run as, where that is
// not the user of pawl.
func OwnedInside(path string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	return os.Lchown(path, nobody, nobody)
}

// Confine makes cmd run in the enclosure. The descriptors that it inherits stay as they are. The
// function that it returns is called when cmd has started.
func (e *Enclosure) Confine(cmd *exec.Cmd, v View) (started func(), err error) {
	filter, err := systemCallFilter()
	if err != nil {
		return nil, &SandboxError{Reason: "it could not be prepared", Err: err}
	}
	var args []string
	started = func() {}
	if filter != nil {
		args = []string{"--seccomp", fmt.Sprint(3 + len(cmd.ExtraFiles))}
		cmd.ExtraFiles = append(cmd.ExtraFiles, filter)
		started = func() { filter.Close() }
	}
	limits := e.sandbox.Limits
	limits.Memory, limits.File = 1<<62, 1<<62 // what a problem needs is the suite's to say
	cmd.Args = slices.Concat([]string{e.sandbox.Program}, args, e.view(cmd.Env, v), []string{"--"}, limits.bounded(e.sandbox.prlimit, cmd.Args))
	cmd.Path, cmd.Dir, cmd.Env = e.sandbox.Program, "/", []string{}
	asNobody(cmd)
	return started, nil
}

// view is how bubblewrap is asked to show the machine, the tree and the folders of v.
func (e *Enclosure) view(env []string, v View) []string {
	args, hidden := e.room.system()
	args = append(args, "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/dev/shm")
	if v.Devices {
		nodes, _ := filepath.Glob("/dev/nvidia*")
		for _, node := range slices.Concat(nodes, []string{"/dev/dri", "/dev/kfd"}) {
			args = append(args, "--dev-bind-try", node, node)
		}
		args = append(args, "--ro-bind-try", "/sys", "/sys")
	}
	args = append(args, "--remount-ro", "/dev", "--tmpfs", "/tmp", "--tmpfs", sandboxHome, "--ro-bind", e.room.at("tree"), e.room.root)
	seen := slices.DeleteFunc(slices.Concat(toolRoots(os.Environ()), v.Read), func(folder string) bool { return !seenInside(folder) })
	tools, masked := e.room.tools(seen)
	args = append(args, tools...)
	for _, folder := range v.Write {
		args = append(args, "--bind", folder, folder)
	}
	own := slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return !slices.Contains(v.Variables, name)
	})
	for _, kv := range cleanEnviron(env, own) {
		name, value, _ := strings.Cut(kv, "=")
		if name == "PATH" {
			value = strings.Join(append(slices.DeleteFunc(slices.Clone(v.Path), func(f string) bool { return !seenInside(f) }), value), ":")
		}
		args = append(args, "--setenv", name, value)
	}
	for _, folder := range append(hidden, masked...) {
		args = append(args, "--remount-ro", folder)
	}
	return append(args, "--remount-ro", "/", "--chdir", e.room.dir)
}

// seenInside reports whether the user that a sandbox runs as can get to a folder: as root, that is
// another user.
func seenInside(folder string) bool {
	_, err := os.Stat(folder)
	return err == nil && (os.Geteuid() != 0 || open(folder))
}

// built returns the files that the globs of a build in a folder of root match.
func built(root, inside string, globs []string) ([]string, error) {
	var files []string
	for _, glob := range globs {
		found, err := declared(os.DirFS(root), path.Join(filepath.ToSlash(inside), filepath.ToSlash(glob)))
		if err != nil {
			return nil, fmt.Errorf("find the outputs %q: %w", glob, err)
		}
		files = append(files, found...)
	}
	return files, nil
}

// SharedFolder makes a folder for files that programs in a sandbox read, where their user can reach it.
func SharedFolder(pattern string) (string, error) {
	dir, err := os.MkdirTemp(roomParent(), pattern)
	if err != nil {
		return "", err
	}
	return dir, os.Chmod(dir, 0o755)
}
