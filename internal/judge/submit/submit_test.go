package submit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/base/testrun"
	"github.com/goatnote-inc/pawl/internal/judge/runner"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/internal/kernel/device"
	"github.com/goatnote-inc/pawl/measure"
)

const testSuite = `version: 1
device: {kind: cpu}
build: {command: "gcc -O1 -fPIC -shared -o kernel.so kernel.c -lm", outputs: [kernel.so]}
harness: {command: ./none}
definition: [limits.h]
measure: {timer: cpu, samples: 5, warmup: 1, rounds: [2]}
benchmarks:
  axpy:
    matrix: {N: [500, 900]}
    arguments:
      a: {in: f32, shape: [N]}
      b: {in: f32, shape: [N]}
      c: {out: f32, shape: [N]}
      n: {value: N, type: i32}
    launch: {file: kernel.so, kernel: axpy}
    check: {expression: {c: a * b + sqrt(a * a + 1)}, tolerance: {atol: 1e-5, rtol: 1e-5}}
`

// kernelOf returns a kernel with this body.
func kernelOf(body string) string {
	return "#include <math.h>\n#include <stdlib.h>\n#include <unistd.h>\nvoid axpy(const float *a, const float *b, float *c, int n) {\n" + body + "\n}\n"
}

const each = "for (int i = 0; i < n; i++) "

var (
	baseKernel = kernelOf(each + "c[i] = a[i] * b[i] + (float)exp(0.5 * log((double)a[i] * a[i] + 1));")
	fastKernel = kernelOf(each + "c[i] = a[i] * b[i] + sqrtf(a[i] * a[i] + 1);")
)

// The search for wrong results of a full judgment takes ten seconds at night, and one in CI.
func init() {
	if !testrun.Nightly() {
		fuzzTime[Full] = time.Second
	}
}

// TestMain gives all tests one cache, because it has the launcher. Nothing in it is from an earlier run.
func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "pawl-submit-")
		if err == nil {
			defer os.RemoveAll(dir)
			err = os.Setenv("PAWL_CACHE", dir)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return m.Run()
	}())
}

// newGrant returns a grant for a new repository whose suite is in the folder k.
func newGrant(t *testing.T, terms Terms) *Grant {
	t.Helper()
	for _, tool := range []string{"git", "gcc"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("there is no %s here", tool)
		}
	}
	if _, err := build.FindSandbox(t.Context()); err != nil {
		t.Skip(err)
	}
	root := t.TempDir()
	write(t, root, map[string]string{"k/pawl.yaml": testSuite, "k/kernel.c": baseKernel, "k/limits.h": "", ".gitignore": "*.so\n"})
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "."}, {"commit", "-q", "-m", "base"}} {
		gitIn(t, root, args...)
	}
	g, err := Open(t.Context(), Grant{Dir: filepath.Join(root, "k"), Suite: "pawl.yaml", LockDir: t.TempDir(), Wait: time.Minute, Version: "test"}, terms)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(g.LockDir, 0o700); err != nil {
		t.Fatal(err)
	}
	return g
}

var gitIn = testrun.Git

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
}

// folder returns a folder with these files.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, files)
	return dir
}

func (g *Grant) try(t *testing.T, s Submission) Answer {
	t.Helper()
	if s.Budget == 0 {
		s.Budget = 600 // a busy machine is no reason to fail
	}
	a, err := g.Submit(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	text, err := a.Encode()
	if err != nil || len(text) > MaxAnswer {
		t.Errorf("%d bytes, %v: %s", len(text), err, text)
	}
	kept, err := os.ReadFile(filepath.Join(g.Folder, a.ID, answerFile))
	if err != nil || !bytes.Equal(kept, text) {
		t.Errorf("kept %s, %v; answered %s", kept, err, text)
	}
	return a
}

// Every submission gets the answer of its own run: the statuses come in this order, each after another.
func TestSubmit_Statuses(t *testing.T) {
	g := newGrant(t, Terms{})
	for _, test := range []struct {
		name   string
		kernel string
		stage  Stage
		status Status
		reason string
		budget float64
	}{
		{"a right one, built", fastKernel, Compile, Compiled, "", 0},
		{"a right one, checked", fastKernel, Smoke, Passed, "", 0},
		{"a right one, raced", fastKernel, Quick, Measured, "", 0},
		{"one that does not compile", kernelOf("c[0] = d[0];"), Full, CompileError, "", 0},
		{"one that leaves an element out", kernelOf("n--;\n" + each + "c[i] = a[i] * b[i] + sqrtf(a[i] * a[i] + 1);"), Full, Wrong, "never written", 0},
		{"one that is wrong", kernelOf(each + "c[i] = a[i] * b[i];"), Smoke, Wrong, "more than the tolerance", 0},
		{"a right one, judged", fastKernel, Full, Measured, "", 0},
		{"one that crashes", kernelOf("*(volatile int *)0 = 1;"), Quick, Crashed, "Segmentation fault", 0},
		{"one that hangs", kernelOf("for (volatile int i = 0;; i++);"), Quick, Timeout, "within 3 s", 3},
		{"one that forks", kernelOf("fork();"), Quick, Rejected, rejection, 0},
		{"one that exits", kernelOf("_exit(0);"), Quick, Rejected, rejection, 0},
		{"the base", baseKernel, Full, Identical, "", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := g.try(t, Submission{Over: folder(t, map[string]string{"kernel.c": test.kernel}), Stage: test.stage, Budget: test.budget, Note: test.name})
			if a.Status != test.status || !strings.Contains(a.Reason+a.Detail, test.reason) {
				t.Errorf("%+v", a)
			}
			if measured := a.Status == Measured; measured != (a.Speedup > 0) || measured != (a.Verdict != "" && len(a.Worst) == 2) {
				t.Errorf("status %s with verdict %q, speed-up %v, cases %v", a.Status, a.Verdict, a.Speedup, a.Worst)
			}
			if a.Status == CompileError && (len(a.Errors) != 1 || a.Errors[0].File != "kernel.c" || a.Errors[0].Line != 5 || a.Errors[0].Column != 8) {
				t.Errorf("errors %+v", a.Errors)
			}
			if (a.Status == Wrong) != strings.HasPrefix(a.Input, "axpy/N500 ") && a.Status != Crashed {
				t.Errorf("status %s with input %q", a.Status, a.Input)
			}
			if a.Status == Rejected && (a.Input != "" || a.Detail != "" || a.Reason != rejection) {
				t.Errorf("a hint: %+v", a)
			}
		})
	}
}

// What is not a change of regular source files is refused before anything is built.
func TestSubmit_RefusesHostileInput(t *testing.T) {
	g := newGrant(t, Terms{})
	root := filepath.Dir(g.Dir)
	fifo := folder(t, map[string]string{"kernel.c": fastKernel})
	linked := folder(t, map[string]string{"kernel.c": fastKernel})
	device := folder(t, map[string]string{"kernel.c": fastKernel})
	below := t.TempDir()
	if err := errors.Join(
		syscall.Mkfifo(filepath.Join(fifo, "fifo.h"), 0o644), os.Symlink("/etc/passwd", filepath.Join(linked, "link.h")),
		os.Symlink("/dev/zero", filepath.Join(device, "zero.h")), os.Symlink(linked, filepath.Join(below, "in")),
	); err != nil {
		t.Fatal(err)
	}
	gitIn(t, root, "checkout", "-q", "-b", "links")
	if err := os.Symlink("/etc", filepath.Join(root, "k", "etc")); err != nil {
		t.Fatal(err)
	}
	gitIn(t, root, "add", ".")
	gitIn(t, root, "commit", "-q", "-m", "a link")
	gitIn(t, root, "checkout", "-q", "main")
	gitIn(t, root, "update-index", "--add", "--cacheinfo", "160000,"+g.Base+",k/module")
	gitIn(t, root, "commit", "-q", "-m", "a submodule")
	for _, test := range []struct {
		name string
		s    Submission
		want string
	}{
		{"a FIFO", Submission{Over: fifo}, "not a regular file"},
		{"a link", Submission{Over: linked}, "not a regular file"},
		{"a link to a device", Submission{Over: device}, "not a regular file"},
		{"a folder behind a link", Submission{Over: below}, "not a regular file"},
		{"a commit with a link", Submission{Commit: "links"}, "is a link"},
		{"a commit with a submodule", Submission{Commit: "main"}, "is a submodule"},
		{"no commit", Submission{Commit: "--upload-pack=x"}, "not a ref"},
		{"a large file", Submission{Over: folder(t, map[string]string{"kernel.c": strings.Repeat("x", maxFileBytes+1)})}, "the limit is"},
		{"git's folder", Submission{Over: folder(t, map[string]string{".git/config": ""})}, "belongs to git"},
		{"a file that is there twice", Submission{Diff: []byte("--- a/k/kernel.c\n+++ b/k/kernel.c\n@@ -1 +1 @@\n-#include <math.h>\n+//\n--- a/k/kernel.c\n+++ b/k/kernel.c\n@@ -1 +1 @@\n-#include <math.h>\n+//\n")}, "twice"},
		{"a file from elsewhere", Submission{Files: []string{"/etc/hostname"}}, "not in the repository"},
		{"a definition file", Submission{Over: folder(t, map[string]string{"limits.h": "#define N 1\n"})}, "how it is measured: limits.h"},
		{"a deleted definition file", Submission{Diff: []byte("diff --git a/k/limits.h b/k/limits.h\ndeleted file mode 100644\n")}, "how it is measured: limits.h"},
		{"a looser tolerance", Submission{Over: folder(t, map[string]string{"pawl.yaml": strings.Replace(testSuite, "atol: 1e-5", "atol: 9", 1)})}, "benchmarks.axpy.check"},
		{"a case less", Submission{Over: folder(t, map[string]string{"pawl.yaml": strings.Replace(testSuite, "500, 900", "900", 1)})}, "axpy/N500 is missing"},
		{"a suite that is none", Submission{Over: folder(t, map[string]string{"pawl.yaml": "x"})}, "cannot be read"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if a := g.try(t, test.s); a.Status != Refused || !strings.Contains(a.Reason+": "+a.Detail, test.want) {
				t.Errorf("%+v", a)
			}
		})
	}
	a := g.try(t, Submission{Stage: Compile, Over: folder(t, map[string]string{"pawl.yaml": strings.Replace(testSuite, "-O1", "-O2", 1)})})
	if a.Status != Compiled {
		t.Errorf("another recipe: %+v", a)
	}
}

// The four ways to submit the same files make the same candidate.
func TestSubmit_Sources(t *testing.T) {
	g := newGrant(t, Terms{})
	root := filepath.Dir(g.Dir)
	write(t, root, map[string]string{"k/kernel.c": fastKernel})
	gitIn(t, root, "commit", "-q", "-a", "-m", "faster")
	diff, err := g.repo.Diff(t.Context(), g.Base, "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	inside := bytes.ReplaceAll(diff, []byte("/k/kernel.c"), []byte("/kernel.c"))
	for _, s := range []Submission{{}, {Commit: "HEAD"}, {Diff: diff}, {Diff: inside}, {Files: []string{filepath.Join(g.Dir, "kernel.c")}}, {Over: folder(t, map[string]string{"kernel.c": fastKernel})}} {
		s.Stage = Compile
		if a := g.try(t, s); a.Status != Compiled || a.ID != "1" && a.Same != "1" {
			t.Errorf("%+v", a)
		}
	}
}

func TestGrant_BeginningStays(t *testing.T) {
	g := newGrant(t, Terms{Budget: 0.001})
	root := filepath.Dir(g.Dir)
	write(t, root, map[string]string{"k/kernel.c": fastKernel})
	gitIn(t, root, "commit", "-q", "-a", "-m", "faster")
	again, err := Open(t.Context(), Grant{Dir: g.Dir, Suite: g.Suite}, Terms{})
	if err != nil || again.Terms != g.Terms {
		t.Errorf("%+v, %v; want %+v", again, err, g.Terms)
	}
	if _, err := Open(t.Context(), Grant{Dir: g.Dir, Suite: g.Suite}, Terms{Base: "HEAD"}); err == nil {
		t.Error("another base was accepted")
	}
	for i, refused := range []bool{false, true} { // the first takes all there is
		if a := g.try(t, Submission{Stage: Compile}); (a.Status == Refused) != refused || a.Left == nil || *a.Left != 0 {
			t.Errorf("submission %d: %+v", i, a)
		}
	}
}

// A suite that cannot launch untrusted candidates fixes nothing, so that its owner can still grant trust.
func TestGrant_NeedsALaunch(t *testing.T) {
	g := newGrant(t, Terms{})
	path := filepath.Join(g.Dir, "other.yaml")
	write(t, g.Dir, map[string]string{"other.yaml": strings.Replace(testSuite, "launch: {file: kernel.so, kernel: axpy}", "", 1)})
	other := Grant{Dir: g.Dir, Suite: filepath.Base(path)}
	if _, err := Open(t.Context(), other, Terms{}); !errors.Is(err, ErrNoLaunch) || !strings.Contains(err.Error(), "pawl submit grant --trust trusted") {
		t.Errorf("without launch: %v", err)
	}
	if open, err := Open(t.Context(), other, Terms{Trust: measure.Trusted}); err != nil || open.Trust != measure.Trusted {
		t.Errorf("with trust granted: %+v, %v", open, err)
	}
}

// A submission says how long it waited for the device; its own time does not include that.
func TestSubmit_TellsHowLongItWaited(t *testing.T) {
	g := newGrant(t, Terms{})
	inventory, err := device.List(t.Context(), device.Options{})
	if err != nil {
		t.Fatal(err)
	}
	cpu, err := inventory.Select(gpu.CPU, "")
	if err != nil {
		t.Fatal(err)
	}
	lease, err := device.Acquire(t.Context(), cpu, device.LockOptions{Dir: g.LockDir, Owner: "another", Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	const held = 500 * time.Millisecond
	g.Emit = func(e runner.Event) {
		if _, ok := e.(runner.Waiting); ok { // it has only begun to
			time.AfterFunc(2*held, func() { _ = lease.Release(context.Background()) })
		}
	}
	a := g.try(t, Submission{Over: folder(t, map[string]string{"kernel.c": fastKernel}), Stage: Compile})
	if a.Status != Compiled || float64(a.Waited) < held.Seconds() {
		t.Errorf("%+v", a)
	}
}

// An interrupted submission leaves no worktree, and keeps its number.
func TestSubmit_Interrupted(t *testing.T) {
	g := newGrant(t, Terms{})
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped by the test")
	time.AfterFunc(2*time.Second, func() { cancel(stopped) })
	a, err := g.Submit(ctx, Submission{Over: folder(t, map[string]string{"kernel.c": kernelOf("for (volatile int i = 0;; i++);")}), Stage: Smoke, Budget: 600})
	if !errors.Is(err, stopped) || a.Status != Failed || a.ID != "1" {
		t.Errorf("%+v, %v", a, err)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(g.Dir), ".git", "pawl", "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
