package mcp

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// binary is the pawl under test: the real one, built without the race detector. PAWL names
// another.
var binary string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	if binary = os.Getenv("PAWL"); binary != "" {
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "pawl-mcp-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "pawl")
	if out, err := exec.Command("go", "build", "-o", binary, "../../cmd/pawl").CombinedOutput(); err != nil {
		os.Stderr.Write(out)
		return 1
	}
	return m.Run()
}

// slowBlock is how a beginner adds a block: without a word to the compiler that the blocks do
// not overlap, and without telling it their size. It is not ten times slower than the
// example's: such a gain waits for a second clock and a person.
const slowBlock = `/* Adds an m x k block of A times a k x w block of B to a block of C. */
static __attribute__((noinline)) void add_block(int n, int m, int k, int w, const float *a, const float *b, float *c) {
  for (int i = 0; i < m; i++)
    for (int p = 0; p < k; p++)
      for (int j = 0; j < w; j++) c[i * n + j] += a[i * n + p] * b[p * n + j];
}

`

// checkout is a fresh repository with a copy of examples/matmul-c whose kernel is slow, and
// the kernel as the example has it.
func checkout(t *testing.T) (dir, fast string) {
	t.Helper()
	top := t.TempDir()
	dir = filepath.Join(top, "examples", "matmul-c")
	for _, from := range []string{"examples/matmul-c/pawl.yaml", "examples/matmul-c/Makefile", "examples/matmul-c/matmul.c", "examples/matmul-c/matmul.h", "examples/matmul-c/harness.c"} {
		copyFile(t, filepath.Join("..", "..", from), filepath.Join(top, from))
	}
	sdk, err := filepath.Glob("../../sdk/cpp/*")
	must(t, err)
	for _, from := range sdk {
		if info, err := os.Stat(from); err == nil && info.Mode().IsRegular() {
			copyFile(t, from, filepath.Join(top, "sdk", "cpp", filepath.Base(from)))
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "matmul.c"))
	must(t, err)
	fast = string(text)
	begin, end := strings.Index(fast, "/* Adds an m x k block"), strings.Index(fast, "static int least")
	if begin < 0 || end < begin {
		t.Fatal("examples/matmul-c/matmul.c looks different: mend this test")
	}
	write(t, filepath.Join(dir, "matmul.c"), fast[:begin]+slowBlock+fast[end:])
	smaller(t, filepath.Join(dir, "pawl.yaml"))
	write(t, filepath.Join(top, ".gitignore"), "results/\n*.o\nharness\nplain\ntuning/\n")
	git(t, top, "init", "-q")
	commit(t, top, "a kernel that is right")
	return dir, fast
}

// smaller makes a suite of one small case: a profiler counts every instruction of it.
func smaller(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	suite := string(text)
	for _, s := range [][2]string{
		{"N: [256, 512]", "N: [192]"},
		{"samples: 40, warmup: 5", "samples: 10, warmup: 2"},
		{"N: [65, 150]", "N: [33, 70]"},
	} {
		if !strings.Contains(suite, s[0]) {
			t.Fatalf("examples/matmul-c/pawl.yaml has no %q: mend this test", s[0])
		}
		suite = strings.Replace(suite, s[0], s[1], 1)
	}
	write(t, path, suite)
}

func commit(t *testing.T, dir, message string) {
	t.Helper()
	git(t, dir, "add", "-A")
	git(t, dir, "-c", "user.name=t", "-c", "user.email=t@example.invalid", "commit", "-q", "-m", message)
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return string(out)
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	must(t, err)
	write(t, to, string(text))
}

func write(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, []byte(text), 0o644))
}
