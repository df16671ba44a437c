package build

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// machine is a machine with a repository, the checkout of a base in it, and everything else that a
// build must not reach. All of it holds the word secret.
type machine struct{ top, repo, base string }

func newMachine(t *testing.T) machine {
	t.Helper()
	t.Setenv("TMPDIR", "/var/tmp") // a build has a /tmp of its own, which would hide the machine
	top := reachable(t)
	m := machine{top: top, repo: filepath.Join(top, "repo"), base: filepath.Join(top, "repo/.git/pawl/base-1")}
	write := func(files map[string]string) {
		for name, text := range files {
			path := filepath.Join(top, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	write(map[string]string{"repo/k.c": "", "repo/.gitignore": "out\n"})
	commitAll(t, m.repo)
	for _, args := range [][]string{
		{"config", "http.extraheader", "secret"},
		{"worktree", "add", "-q", "--detach", m.base},
	} {
		if _, err := git(t.Context(), m.repo, args...); err != nil {
			t.Fatal(err)
		}
	}
	write(map[string]string{
		"repo/change.c":                    "secret of the change",
		"repo/.git/pawl/base-1/made.c":     "secret of the base",
		"home/.ssh/id_ed25519":             "secret key",
		"tools/cache/builds/entry/harness": "secret build",
		"ccache/a/b":                       "secret object",
		"tmp/pawl-build-other/tree/new.c":  "secret of the other build",
	})
	if err := os.Chmod(filepath.Join(top, "tmp"), 0o1777); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", filepath.Join(top, "home"))
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("PAWL_CACHE", filepath.Join(top, "tools/cache"))
	t.Setenv("CCACHE_DIR", filepath.Join(top, "ccache"))
	t.Setenv("TMPDIR", filepath.Join(top, "tmp"))
	return m
}

// TestSandbox_ReachesNothingElse tries what a build at the level checked must not be able to do. An
// attempt that works prints secret, or changes a file of the machine.
func TestSandbox_ReachesNothingElse(t *testing.T) {
	s := sandbox(t)
	other := exec.Command("sleep", "600")
	other.Env = append(os.Environ(), "TOKEN=secret")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Process.Kill(); _ = other.Wait() })
	shared := sharedMemory(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	marker := fmt.Sprintf("88%d", os.Getpid())
	attempts := []struct {
		name, command string
		base          bool // it is the base that is built
	}{
		{"read the configuration of git", "cat TOP/repo/.git/config", false},
		{"run git in its tree", "git config http.extraheader; git -C TOP/repo config http.extraheader", false},
		{"run git on the repository", "git --git-dir=TOP/repo/.git config http.extraheader", false},
		{"write a hook", "mkdir -p TOP/repo/.git/hooks; echo secret > TOP/repo/.git/hooks/post-checkout", false},
		{"read the base", "cat TOP/repo/.git/pawl/base-1/made.c", false},
		{"write into the base", "echo planted > TOP/repo/.git/pawl/base-1/k.c; echo planted > TOP/repo/.git/pawl/base-1/out", false},
		{"read the change from the base's build", "cat TOP/repo/change.c", true},
		{"write into the change from the base's build", "echo planted > TOP/repo/change.c", true},
		{"run git from the base's build", "git config http.extraheader; git -C TOP/repo config http.extraheader; cat TOP/repo/.git/config", true},
		{"read the other build", "cat TOP/tmp/pawl-build-*/tree/new.c", false},
		{"write into the other build", "echo planted > TOP/tmp/pawl-build-other/tree/new.c", false},
		{"read pawl's cache", "cat TOP/tools/cache/builds/entry/harness", false},
		{"write into pawl's cache", "echo planted > TOP/tools/cache/builds/entry/harness; mkdir -p TOP/tools/cache/builds/new", false},
		{"read the compiler cache", "cat TOP/ccache/a/b", false},
		{"write into the compiler cache", "echo planted > TOP/ccache/a/b; export CCACHE_DIR=TOP/ccache CCACHE_NODISABLE=1; ccache gcc -c -o k.o k.c", false},
		{"read the home", "cat TOP/home/.ssh/id_ed25519 ~/.ssh/id_ed25519", false},
		{"write into the home", "echo planted > TOP/home/.profile", false},
		{"read another process", fmt.Sprintf("cat /proc/%d/environ; cat /proc/[0-9]*/environ", other.Process.Pid), false},
		{"end another process", fmt.Sprintf("kill -9 %d && echo secret", other.Process.Pid), false},
		{"read shared memory", "cat " + shared + " /dev/shm/*", false},
		{"write shared memory", "echo planted > " + shared, false},
		{"reach the network", fmt.Sprintf("bash -c 'echo > /dev/tcp/127.0.0.1/%d' && echo secret", l.Addr().(*net.TCPAddr).Port), false},
		{"use a descriptor of pawl's", "for f in 3 4 5 6 7 8 9; do readlink /proc/$$/fd/$f && echo secret $f; done", false},
		{"write beside its outputs", "echo planted > planted.c; echo planted >> k.c; mkdir -p results; echo planted > results/verdict.json", false},
		{"leave a process behind", "setsid sleep " + marker + " >/dev/null 2>&1 </dev/null &", false},
	}
	for name, place := range map[string]func(t *testing.T, m machine){
		"in a folder of its own": func(*testing.T, machine) {},
		"below a folder of the system": func(t *testing.T, m machine) { // as /opt is, where CI runners have their homes
			t.Helper()
			was := systemFolders
			systemFolders = append(systemFolders[:len(was):len(was)], m.top)
			t.Cleanup(func() { systemFolders = was })
		},
		"beside tools": func(t *testing.T, m machine) {
			t.Helper()
			t.Setenv("CUDA_HOME", filepath.Join(m.top, "tools"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			place(t, m)
			before := tree(t, m.top)
			for _, a := range attempts {
				t.Run(a.name, func(t *testing.T) {
					dir := m.repo
					if a.base {
						dir = m.base
					}
					got := m.try(t, s, dir, a.command)
					if strings.Contains(got, "secret") {
						t.Errorf("a build can:\n%s", got)
					}
					after := tree(t, m.top)
					if diff := cmp.Diff(before, after); diff != "" {
						t.Errorf("a build changed (-before +after):\n%s", diff)
					}
				})
			}
		})
	}
	if text, err := os.ReadFile(shared); err != nil || string(text) != "secret" {
		t.Errorf("shared memory holds %q (%v)", text, err)
	}
	noneAlive(t, marker)
}

// try builds, and returns what the command printed.
func (m machine) try(t *testing.T, s *Sandbox, dir, command string) string {
	t.Helper()
	command = "{ " + strings.ReplaceAll(command, "TOP", m.top) + "\n} > /tmp/said 2>/dev/null; cp /tmp/said out"
	var log bytes.Buffer
	if _, err := Run(t.Context(), Recipe{Command: command, Dir: dir, Outputs: []string{"out"}, Timeout: time.Minute, Sandbox: s}, &log); err != nil {
		t.Fatalf("%v\n%s", err, log.String())
	}
	said, err := os.ReadFile(filepath.Join(dir, "out"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "out")); err != nil {
		t.Fatal(err)
	}
	return string(said)
}

// sharedMemory is a file in the shared memory of the machine.
func sharedMemory(t *testing.T) string {
	t.Helper()
	f, err := os.CreateTemp("/dev/shm", "pawl-test-")
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { os.Remove(f.Name()) })
	if _, err := f.WriteString("secret"); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Chmod(0o666), f.Close()); err != nil {
		t.Fatal(err)
	}
	return f.Name()
}
