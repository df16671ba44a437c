package build

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// What a build sees of the machine, all read-only: programs, libraries and headers, and only those
// files of /etc that compilers read.
var (
	systemFolders = []string{"/usr", "/opt", "/nix/store"}
	systemLinks   = []string{"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"} // usually links into /usr
	systemFiles   = []string{
		"/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime", "/etc/OpenCL",
		"/etc/nvcc.profile", "/etc/debian_version", "/etc/os-release", "/etc/python3", "/etc/mime.types",
	}
)

// toolFolders lists the variables that name a folder with tools. A build sees these folders too,
// wherever they are.
var toolFolders = []string{"CUDA_HOME", "CUDA_PATH", "ROCM_PATH", "HIP_PATH", "VIRTUAL_ENV", "CONDA_PREFIX"}

// passed lists the variables that a build gets from pawl's own environment; * matches any suffix.
// Any other variable could be a token.
var passed = append([]string{
	"LANG", "LC_*", "TZ", "CC", "CXX", "CUDACXX", "CUDAHOSTCXX", "HIPCXX", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "CUDAFLAGS", "LDFLAGS",
	"NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "NVCC_CCBIN", "LD_LIBRARY_PATH", "LIBRARY_PATH", "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH",
	"PKG_CONFIG_PATH", "CMAKE_GENERATOR", "CMAKE_PREFIX_PATH", "CMAKE_BUILD_PARALLEL_LEVEL", "TORCH_CUDA_ARCH_LIST", "MAX_JOBS", "SOURCE_DATE_EPOCH",
}, toolFolders...)

const sandboxHome = "/home/build"

// cleanEnviron returns the environment of a build: the passed variables of pawl, then those of the
// suite. It disables the compiler cache: an untrusted build must not write to a shared one, and an
// empty one is useless.
func cleanEnviron(ours, suites []string) []string {
	env := []string{"HOME=" + sandboxHome, "USER=build", "TMPDIR=/tmp"}
	for _, kv := range ours {
		name, value, _ := strings.Cut(kv, "=")
		switch {
		case name == "PATH":
			env = append(env, "PATH="+visiblePath(value, toolRoots(ours)))
		case slices.ContainsFunc(passed, func(p string) bool {
			stem, open := strings.CutSuffix(p, "*")
			return name == p || open && strings.HasPrefix(name, stem)
		}):
			env = append(env, kv)
		}
	}
	return append(append(env, suites...), "CCACHE_DISABLE=1")
}

// visiblePath returns the folders of a search path that are visible in the sandbox.
func visiblePath(path string, tools []string) string {
	seen := slices.Concat(systemFolders, systemLinks, tools)
	folders := slices.DeleteFunc(filepath.SplitList(path), func(f string) bool {
		return !slices.ContainsFunc(seen, func(s string) bool { return within(s, f) })
	})
	if len(folders) == 0 {
		return "/usr/local/bin:/usr/bin:/bin"
	}
	return strings.Join(folders, ":")
}

// toolRoots returns the folders of tools that the environment names. It leaves out a folder that
// contains the home folder, because it would expose it.
func toolRoots(env []string) []string {
	home, _ := os.UserHomeDir()
	var list []string
	for _, kv := range env {
		name, folder, _ := strings.Cut(kv, "=")
		if !slices.Contains(toolFolders, name) || !filepath.IsAbs(folder) {
			continue
		}
		if folder = filepath.Clean(folder); folder != "/" && (home == "" || !within(folder, home)) {
			list = append(list, folder)
		}
	}
	return list
}

// privateFolders returns the folders that no build may see, even inside a folder that builds see: the
// homes of CI runners are often below /opt. They are the home, caches, copies of the sources of other
// builds, and the repository with its checkouts.
func privateFolders(ctx context.Context, dir string) []string {
	list := []string{workspaceParent(), os.Getenv("CCACHE_DIR"), os.Getenv("SCCACHE_DIR")}
	for _, find := range []func() (string, error){os.UserHomeDir, os.UserCacheDir, CacheDir} {
		if folder, err := find(); err == nil {
			list = append(list, folder)
		}
	}
	if repo, err := Open(ctx, dir); err == nil {
		list = append(list, repo.git)
		if filepath.Base(repo.git) == ".git" {
			list = append(list, filepath.Dir(repo.git))
		}
	}
	var private []string
	for _, folder := range list {
		if target, err := filepath.EvalSymlinks(folder); err == nil && filepath.IsAbs(target) {
			private = append(private, target)
		}
	}
	return private
}

// masks returns the private folders that are inside shown ones, outermost only.
func masks(private, shown []string) []string {
	var list []string
	for _, s := range shown {
		target, err := filepath.EvalSymlinks(s)
		if err != nil {
			continue
		}
		for _, p := range private {
			if rel, err := filepath.Rel(target, p); err == nil && rel != "." && filepath.IsLocal(rel) {
				list = append(list, filepath.Join(s, rel))
			}
		}
	}
	slices.Sort(list)
	list = slices.Compact(list)
	return slices.DeleteFunc(slices.Clone(list), func(m string) bool {
		return slices.ContainsFunc(list, func(outer string) bool { return outer != m && within(outer, m) })
	})
}

// within reports whether a path is a folder or inside it.
func within(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}

// namespaces returns the bubblewrap options that isolate a build from everything on the machine but
// its kernel.
func namespaces() []string {
	return []string{
		"--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try",
		"--uid", "1000", "--gid", "1000", "--cap-drop", "ALL", "--hostname", "build", "--die-with-parent", "--new-session",
	}
}

// system returns the bubblewrap options for new namespaces that show the machine's programs, libraries
// and headers, and the private folders below them that it hides.
func (r *workspace) system() (args, hidden []string) {
	args = namespaces()
	for _, folder := range systemFolders {
		args = append(args, "--ro-bind-try", folder, folder)
	}
	// An empty folder replaces each private one. It becomes read-only at the end, after the copy of the
	// sources is mounted in it. Inside that copy, nothing needs to be hidden.
	hidden = slices.DeleteFunc(masks(r.private, systemFolders), func(m string) bool { return within(r.root, m) })
	for _, folder := range hidden {
		args = append(args, "--tmpfs", folder)
	}
	for _, link := range systemLinks {
		if target, err := os.Readlink(link); err == nil {
			args = append(args, "--symlink", target, link)
		} else {
			args = append(args, "--ro-bind-try", link, link)
		}
	}
	python, _ := filepath.Glob("/etc/python3.*")
	for _, file := range slices.Concat(systemFiles, python) {
		args = append(args, "--ro-bind-try", file, file)
	}
	return append(args, "--ro-bind", r.at("passwd"), "/etc/passwd", "--ro-bind", r.at("group"), "/etc/group"), hidden
}

// tools returns the bubblewrap options that show folders of tools, except those that contain the sources,
// and the private folders below them that it hides.
func (r *workspace) tools(folders []string) (args, hidden []string) {
	folders = slices.DeleteFunc(slices.Clone(folders), func(folder string) bool { return within(folder, r.root) })
	for _, folder := range folders {
		args = append(args, "--ro-bind-try", folder, folder)
	}
	hidden = masks(r.private, folders)
	for _, folder := range hidden {
		args = append(args, "--tmpfs", folder)
	}
	return args, hidden
}

// view returns the bubblewrap options that show the machine and the room, and set the variables. The
// variables must not be set for bubblewrap itself, which runs outside: a suite may set LD_PRELOAD.
func (r *workspace) view(env []string) []string {
	args, hidden := r.system()
	args = append(args,
		"--proc", "/proc", "--dev", "/dev", "--bind", r.at("shm"), "/dev/shm", "--remount-ro", "/dev",
		"--bind", r.at("tmp"), "/tmp", "--bind", r.at("home"), sandboxHome,
		"--bind", r.at("tree"), r.root,
	)
	tools, masked := r.tools(toolRoots(os.Environ()))
	args = append(args, tools...)
	for _, folder := range append(hidden, masked...) {
		args = append(args, "--remount-ro", folder)
	}
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		args = append(args, "--setenv", name, value)
	}
	return append(args, "--remount-ro", "/", "--chdir", r.dir)
}
