package build

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/base/await"
)

// sandbox is the one of this machine; tests that need it are skipped where there is none.
func sandbox(t *testing.T) *Sandbox {
	t.Helper()
	s, err := FindSandbox(t.Context())
	if err != nil {
		t.Skip(err)
	}
	return s
}

// sources is a repository with these files, all committed.
func sources(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	commitAll(t, dir)
	return dir
}

func commitAll(t *testing.T, dir string) {
	t.Helper()
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", "sources"}} {
		if _, err := git(t.Context(), dir, args...); err != nil {
			t.Fatal(err)
		}
	}
}

// buildIn builds in the sandbox and returns what stands in the output "out".
func buildIn(t *testing.T, s *Sandbox, dir, command string, env ...string) string {
	t.Helper()
	var log bytes.Buffer
	_, err := Run(t.Context(), Recipe{Command: command, Dir: dir, Env: env, Outputs: []string{"out"}, Timeout: time.Minute, Sandbox: s}, &log)
	if err != nil {
		t.Fatalf("%v\n%s", err, log.String())
	}
	text, err := os.ReadFile(filepath.Join(dir, "out"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// reachable is a folder that everybody may use, also who builds for root.
func reachable(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, d := range []string{dir, filepath.Dir(dir)} {
		if err := os.Chmod(d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestSandboxHasNoNetwork(t *testing.T) {
	s := sandbox(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	try := fmt.Sprintf("bash -c 'echo > /dev/tcp/127.0.0.1/%d' 2>/dev/null", l.Addr().(*net.TCPAddr).Port)
	if err := exec.Command("sh", "-c", try).Run(); err != nil {
		t.Skip("the test's own server cannot be reached with bash: ", err)
	}
	got := buildIn(t, s, sources(t, map[string]string{"k.c": ""}), try+` && echo reached > out || echo alone > out; cat /proc/net/dev | grep -c : >> out`)
	if got != "alone\n1\n" {
		t.Errorf("it says %q, want that it is alone, with the loopback interface only", got)
	}
}

// Of the home nothing is there, also when the sources lie in it.
func TestSandboxHasNoHome(t *testing.T) {
	s := sandbox(t)
	home := t.TempDir()
	t.Setenv("HOME", home)
	dir := filepath.Join(home, "work", "kernels")
	for name, text := range map[string]string{
		".ssh/id_ed25519": "secret", ".cache/ccache/x": "cached", ".netrc": "secret", "work/other/notes": "secret", "work/kernels/k.c": "",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(home, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	commitAll(t, dir)
	got := buildIn(t, s, dir, fmt.Sprintf(`{ find %s -type f; find "$HOME" -mindepth 1; find /tmp -type f -not -path '%[1]s/*'; } > out`, home))
	want := filepath.Join(dir, "k.c") + "\n" + filepath.Join(dir, "out") + "\n"
	lines := strings.SplitAfter(got, "\n")
	slices.Sort(lines)
	if got := strings.Join(lines, ""); got != want {
		t.Errorf("it sees\n%swant\n%s", got, want)
	}
}

// What git ignores or keeps for itself is no source: .git/config may hold a token.
func TestSandboxSeesSourcesOnly(t *testing.T) {
	s := sandbox(t)
	dir := sources(t, map[string]string{".gitignore": "*.key\nout\n", "sub/k.c": "", "gone.c": ""})
	for name, do := range map[string]func(string) error{
		"my.key": func(n string) error { return os.WriteFile(n, []byte("secret"), 0o644) },
		"new.c":  func(n string) error { return os.WriteFile(n, nil, 0o755) },
		"gone.c": os.Remove,
		"link.c": func(n string) error { return os.Symlink("/etc/shadow", n) },
	} {
		if err := do(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	got := buildIn(t, s, dir, `find . -mindepth 1 -printf '%y %m %p\n' | sort > /tmp/list; cat link.c 2>/dev/null; cp /tmp/list out`)
	want := "d 755 ./sub\nf 644 ./.gitignore\nf 644 ./sub/k.c\nf 755 ./new.c\nl 777 ./link.c\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("a build sees (-want +got):\n%s", diff)
	}
}

func TestSandboxLeavesSourcesAlone(t *testing.T) {
	s := sandbox(t)
	dir := sources(t, map[string]string{".gitignore": "out\n", "k.c": "int k;\n", "Makefile": "all:\n", "sub/deep.h": "\n"})
	before := tree(t, dir)
	buildIn(t, s, dir, "echo evil >> k.c; rm Makefile; echo evil > planted.c; mv sub away; chmod 000 k.c; echo made > out")
	delete(before, "out")
	after := tree(t, dir)
	delete(after, "out")
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("the build changed (-before +after):\n%s", diff)
	}
}

// tree is every file below dir, with its mode and contents.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		if info.Mode()&fs.ModeSymlink != 0 {
			all[rel], err = os.Readlink(path)
			return err
		}
		text, err := os.ReadFile(path)
		all[rel] = fmt.Sprintf("%v %s", info.Mode(), text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestSandboxEnvironment(t *testing.T) {
	s := sandbox(t)
	for _, name := range []string{"GITHUB_TOKEN", "GITHUB_ENV", "ACTIONS_RUNTIME_TOKEN", "SSH_AUTH_SOCK", "AWS_SECRET_ACCESS_KEY", "HTTP_PROXY", "PAWL_DATA", "MY_OWN"} {
		t.Setenv(name, "secret")
	}
	t.Setenv("CFLAGS", "-O1")
	t.Setenv("LC_ALL", "C")
	t.Setenv("PATH", "/root/bin:/usr/bin:/bin:/somewhere/else")
	t.Setenv("LD_LIBRARY_PATH", "")
	got := buildIn(t, s, sources(t, map[string]string{"k.c": ""}), "env | grep -v '^_=' | sort > out", "MINE=yes", "CFLAGS=-O3")
	for _, want := range []string{"MINE=yes\n", "CFLAGS=-O3\n", "LC_ALL=C\n", "PATH=/usr/bin:/bin\n", "HOME=/home/build\n", "TMPDIR=/tmp\n", "CCACHE_DISABLE=1\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("a build has no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "secret") {
		t.Errorf("a build is told secrets:\n%s", got)
	}
}

// Variables of the suite are for the build, not for bubblewrap, which runs outside.
func TestSandboxPreload(t *testing.T) {
	s := sandbox(t)
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("no C compiler")
	}
	outside := reachable(t)
	source := fmt.Sprintf("#include <fcntl.h>\n__attribute__((constructor)) static void f(void) { open(%q, O_CREAT | O_WRONLY, 0666); }\n", filepath.Join(outside, "planted"))
	if err := os.WriteFile(filepath.Join(outside, "p.c"), []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	library := filepath.Join(outside, "p.so")
	if out, err := exec.Command("cc", "-shared", "-fPIC", "-o", library, filepath.Join(outside, "p.c")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	buildIn(t, s, sources(t, map[string]string{"k.c": ""}), "echo made > out", "LD_PRELOAD="+library)
	if _, err := os.Stat(filepath.Join(outside, "planted")); err == nil {
		t.Error("a library that the suite names ran outside the sandbox")
	}
}

func TestSandboxAttempts(t *testing.T) {
	s := sandbox(t)
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("no C compiler")
	}
	code, err := os.ReadFile("testdata/escape.c")
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("pawl-test-%d", os.Getpid())
	l, err := net.Listen("unix", "@"+name)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	got := buildIn(t, s, sources(t, map[string]string{"escape.c": string(code)}), "cc -o escape escape.c && ./escape "+name+" > out")
	for line := range strings.Lines(got) {
		attempt, result, _ := strings.Cut(strings.TrimSpace(line), ": ")
		own := strings.HasPrefix(attempt, "own ")
		if done := result == "done"; done != own {
			t.Errorf("%s: %s", attempt, result)
		}
	}
	if n := strings.Count(got, "\n"); n != strings.Count(string(code), "tell(\"") {
		t.Errorf("%d attempts were told of:\n%s", n, got)
	}
}

// What a build starts and leaves behind is gone when it has ended, and cannot reach
// who started it.
func TestSandboxProcesses(t *testing.T) {
	s := sandbox(t)
	marker := fmt.Sprintf("86%d", os.Getpid())
	got := buildIn(t, s, sources(t, map[string]string{"k.c": ""}),
		"setsid sleep "+marker+" >/dev/null 2>&1 </dev/null & kill -9 $PPID 2>/dev/null; kill -9 1; echo $$ > out; ps -e 2>/dev/null | wc -l >/dev/null")
	if strings.TrimSpace(got) == "" {
		t.Error("it did not come to its end")
	}
	noneAlive(t, marker)
}

func noneAlive(t *testing.T, marker string) {
	t.Helper()
	await.True(t, "sleep "+marker+" to be gone", func() bool {
		all, err := filepath.Glob("/proc/[0-9]*/cmdline")
		if err != nil {
			t.Fatal(err)
		}
		return !slices.ContainsFunc(all, func(path string) bool {
			line, _ := os.ReadFile(path)
			return strings.Contains(string(line), "sleep\x00"+marker)
		})
	})
}

func TestSandboxTimeLimit(t *testing.T) {
	s := sandbox(t)
	marker := fmt.Sprintf("87%d", os.Getpid())
	_, err := Run(t.Context(), Recipe{
		Command: "setsid sleep " + marker + " & sleep " + marker, Dir: sources(t, map[string]string{"k.c": ""}),
		Outputs: []string{"out"}, Timeout: 2 * time.Second, Sandbox: s,
	}, nil)
	if e, ok := errors.AsType[*Error](err); !ok || !strings.Contains(e.Reason, "build.timeout") {
		t.Errorf("got %v, want that it took too long", err)
	}
	noneAlive(t, marker)
}

func TestSandboxStops(t *testing.T) {
	s := sandbox(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("the user has had enough"))
	_, err := Run(ctx, Recipe{Command: "sleep 60", Dir: sources(t, map[string]string{"k.c": ""}), Outputs: []string{"out"}, Sandbox: s}, nil)
	if err == nil {
		t.Error("a build ran that nobody wanted any more")
	}
}

func TestSandboxLimits(t *testing.T) {
	small := *sandbox(t)
	small.Limits = Limits{Memory: 256 << 20, Processes: 64, File: 4 << 20, Disk: 32 << 20, Outputs: 1 << 20}
	dir := sources(t, map[string]string{"k.c": ""})

	got := buildIn(t, &small, dir, `(i=0; while [ $i -lt 500 ]; do sleep 100 & i=$((i+1)); done) 2>/dev/null; set -- /proc/[0-9]*; echo $# > out`)
	var n int
	if _, err := fmt.Sscan(got, &n); err != nil || n < 10 || n > 66 {
		t.Errorf("a fork bomb came to %q processes, want up to 64", got)
	}
	for name, test := range map[string]struct{ command, want string }{
		"one file":    {"dd if=/dev/zero of=big bs=1M count=8 2>/dev/null; stat -c %s big > out", ""},
		"memory":      {"dd if=/dev/zero of=/dev/null bs=400M count=1", "exit status"},
		"disk":        {"for i in 1 2 3 4 5 6 7 8 9 10 11 12; do dd if=/dev/urandom of=f$i bs=1M count=4 2>/dev/null; done; sleep 100", "more than"},
		"all outputs": {"dd if=/dev/zero of=out bs=1M count=2 2>/dev/null", "too large"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Run(t.Context(), Recipe{Command: test.command, Dir: dir, Outputs: []string{"out"}, Timeout: time.Minute, Sandbox: &small}, nil)
			if test.want == "" {
				size, _ := os.ReadFile(filepath.Join(dir, "out"))
				if err != nil || strings.TrimSpace(string(size)) != fmt.Sprint(4<<20) {
					t.Errorf("a file came to %q bytes (%v), want 4 MiB", size, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
			if _, cannot := errors.AsType[*SandboxError](err); cannot {
				t.Errorf("%v blames the sandbox for what the build did", err)
			}
		})
	}
}

// Nothing of a room is left, whatever was done to it.
func TestSandboxLeavesNothing(t *testing.T) {
	s := sandbox(t)
	place := reachable(t)
	dir := sources(t, map[string]string{"k.c": ""})
	t.Setenv("TMPDIR", place)
	buildIn(t, s, dir, "mkdir -p a/b/c && touch a/b/c/d && chmod 000 a/b a; echo made > out")
	left, err := os.ReadDir(place)
	if err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}

func TestSandboxNeedsOutputs(t *testing.T) {
	s := sandbox(t)
	_, err := Run(t.Context(), Recipe{Command: "true", Dir: sources(t, map[string]string{"k.c": ""}), Sandbox: s}, nil)
	if err == nil || !strings.Contains(err.Error(), "build.outputs") {
		t.Errorf("got %v", err)
	}
}

func TestNoSandbox(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := FindSandbox(t.Context())
	if e, ok := errors.AsType[*SandboxError](err); !ok || !strings.Contains(e.Fix, "apt-get install bubblewrap") {
		t.Errorf("got %v, want how to get it", err)
	}
}

// A bubblewrap that may not make namespaces is as good as none.
func TestPowerlessSandbox(t *testing.T) {
	bin := reachable(t)
	if err := os.WriteFile(filepath.Join(bin, "bwrap"), []byte("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	_, err := FindSandbox(t.Context())
	if e, ok := errors.AsType[*SandboxError](err); !ok || !strings.Contains(e.Reason, "No permissions") {
		t.Errorf("got %v", err)
	}
}

// What the sandbox costs: a build that does nothing, on a thousand files.
func BenchmarkSandbox(b *testing.B) {
	s, err := FindSandbox(b.Context())
	if err != nil {
		b.Skip(err)
	}
	for _, files := range []int{1, 1000} {
		dir := b.TempDir()
		for i := range files {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("k%d.c", i)), make([]byte, 10_000), 0o644); err != nil {
				b.Fatal(err)
			}
		}
		for name, sandbox := range map[string]*Sandbox{"with": s, "without": nil} {
			b.Run(fmt.Sprintf("%s/%d files", name, files), func(b *testing.B) {
				for b.Loop() {
					if _, err := Run(b.Context(), Recipe{Command: "echo > out", Dir: dir, Outputs: []string{"out"}, Sandbox: sandbox}, nil); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
