package build

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Enclosure is a sandbox for other programs than a build. It has a read-only copy of a tree, and the
// folders in View.
type Enclosure struct {
	sandbox *Sandbox
	room    *workspace
}

// View lists what a program in an enclosure sees in addition to the tree, the system and the tools.
type View struct {
	Read      []string // read-only folders
	Write     []string // writable folders; as root, call ChownForSandbox for them first
	Path      []string // folders at the start of PATH
	Variables []string // names of variables it gets in addition to those of a build
	Devices   bool     // whether it sees GPUs
}

// Enclose copies the tree that contains dir: the files that git does not ignore, and the files in dir
// that match the globs in outputs. The copy hides git's own files and everything else in the folder,
// and later writes to the tree do not reach it.
func (s *Sandbox) Enclose(ctx context.Context, dir string, outputs []string) (*Enclosure, error) {
	room, err := s.newWorkspace(ctx, Recipe{Dir: dir}, outputs)
	if err != nil {
		return nil, setupError(ctx, err)
	}
	for _, folder := range toolRoots(os.Environ()) {
		if rel, err := filepath.Rel(room.root, folder); err == nil && filepath.IsLocal(rel) {
			_ = os.MkdirAll(filepath.Join(room.at("tree"), rel), 0o755) // a mount point; if it is missing, so are the tools, which shows
		}
	}
	return &Enclosure{s, room}, nil
}

// Remove deletes the copy.
func (e *Enclosure) Remove() { e.room.clear() }

// ChownForSandbox makes the user that runs programs in a sandbox the owner of a file or folder, if it is
// not the user of pawl.
func ChownForSandbox(path string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	return os.Lchown(path, nobody, nobody)
}

// Confine makes cmd run in the enclosure. The descriptors that it inherits stay as they are. The
// caller must call started after cmd has started.
func (e *Enclosure) Confine(cmd *exec.Cmd, v View) (started func(), err error) {
	filter, err := systemCallFilter()
	if err != nil {
		return nil, &SandboxError{Reason: "cannot set up the sandbox", Err: err}
	}
	var args []string
	started = func() {}
	if filter != nil {
		args = []string{"--seccomp", fmt.Sprint(3 + len(cmd.ExtraFiles))}
		cmd.ExtraFiles = append(cmd.ExtraFiles, filter)
		started = func() { filter.Close() }
	}
	limits := e.sandbox.Limits
	limits.Memory, limits.File = 1<<62, 1<<62 // the suite decides how much a problem needs
	cmd.Args = slices.Concat([]string{e.sandbox.Program}, args, e.view(cmd.Env, v), []string{"--"}, limits.bounded(e.sandbox.prlimit, cmd.Args))
	cmd.Path, cmd.Dir, cmd.Env = e.sandbox.Program, "/", []string{}
	asNobody(cmd)
	return started, nil
}

// view returns the bubblewrap options that show the machine, the tree and the folders of v.
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
	seen := slices.DeleteFunc(slices.Concat(toolRoots(os.Environ()), v.Read), func(folder string) bool { return !reachableInside(folder) })
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
			value = strings.Join(append(slices.DeleteFunc(slices.Clone(v.Path), func(f string) bool { return !reachableInside(f) }), value), ":")
		}
		args = append(args, "--setenv", name, value)
	}
	for _, folder := range append(hidden, masked...) {
		args = append(args, "--remount-ro", folder)
	}
	return append(args, "--remount-ro", "/", "--chdir", e.room.dir)
}

// reachableInside reports whether the user that runs a sandbox can reach a folder. If pawl is root, that is
// another user.
func reachableInside(folder string) bool {
	_, err := os.Stat(folder)
	return err == nil && (os.Geteuid() != 0 || worldAccessible(folder))
}

// SharedFolder creates a folder for files that programs in a sandbox read, where their user can reach it.
func SharedFolder(pattern string) (string, error) {
	dir, err := os.MkdirTemp(workspaceParent(), pattern)
	if err != nil {
		return "", err
	}
	return dir, os.Chmod(dir, 0o755)
}
