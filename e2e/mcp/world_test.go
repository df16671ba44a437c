package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/goatnote-inc/pawl/internal/base/testrun"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
)

// binary is the pawl under test: the real one, built without the race detector. PAWL names
// another. builds is the cache of builds: nothing in it is from an earlier run.
var binary, builds string

func TestMain(m *testing.M) {
	os.Exit(testrun.WithPawl(m, func(pawl, dir string) { binary, builds = pawl, filepath.Join(dir, "builds") }))
}

const axpySuite = `version: 1
device: {kind: cpu}
build: {command: "gcc -O1 -fPIC -shared -o kernel.so kernel.c -lm", outputs: [kernel.so]}
harness: {command: ./none}
measure: {timer: cpu, samples: 5, warmup: 1, rounds: [2]}
benchmarks:
  axpy:
    matrix: {N: [500]}
    arguments:
      a: {in: f32, shape: [N]}
      b: {in: f32, shape: [N]}
      c: {out: f32, shape: [N]}
      n: {value: N, type: i32}
    launch: {file: kernel.so, kernel: axpy}
    check: {expression: {c: a * b + sqrt(a * a + 1)}, tolerance: {atol: 1e-5, rtol: 1e-5}}
`

// kernelOf returns a kernel with this statement for each element.
func kernelOf(statement string) string {
	return "#include <math.h>\nvoid axpy(const float *a, const float *b, float *c, int n) {\n  for (int i = 0; i < n; i++) " + statement + "\n}\n"
}

var (
	slowKernel = kernelOf("c[i] = a[i] * b[i] + (float)exp(0.5 * log((double)a[i] * a[i] + 1));")
	fastKernel = kernelOf("c[i] = a[i] * b[i] + sqrtf(a[i] * a[i] + 1);")
	hungKernel = kernelOf("for (volatile int j = 0;; j++);")
)

// axpy returns a fresh repository with a suite whose candidates are not trusted, in the folder k.
func axpy(t *testing.T) (top string) {
	t.Helper()
	if _, err := build.FindSandbox(t.Context()); err != nil {
		t.Skip(err)
	}
	top = t.TempDir()
	must(t, os.Chmod(top, 0o755))
	for name, text := range map[string]string{"k/pawl.yaml": axpySuite, "k/kernel.c": slowKernel, ".gitignore": "*.so\nresults/\n"} {
		write(t, filepath.Join(top, name), text)
	}
	git(t, top, "init", "-q", "-b", "main")
	commit(t, top, "a kernel that is right")
	return top
}

// serverCommand returns pawl mcp in a folder, with a lock of its own.
func serverCommand(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	locks := cmp.Or(os.Getenv("PAWL_TEST_LOCKS"), t.TempDir())
	must(t, os.Chmod(locks, 0o700))
	cmd := exec.Command(binary, append([]string{"-C", dir, "mcp"}, args...)...)
	cmd.Env = append(os.Environ(), "PAWL_LOCK_DIR="+locks, "XDG_STATE_HOME="+cmp.Or(os.Getenv("PAWL_TEST_STATE"), t.TempDir()), "PAWL_CACHE="+builds)
	cmd.Stderr = &bytes.Buffer{}
	return cmd
}

// apart returns the environment for a program that starts pawl: with a lock of its own, and no build of an earlier run.
func apart(t *testing.T, more ...string) []string {
	t.Helper()
	locks := t.TempDir()
	must(t, os.Chmod(locks, 0o700))
	return append(append(os.Environ(), "PAWL_LOCK_DIR="+locks, "PAWL_CACHE="+builds), more...)
}

// agent is a client of the SDK.
type agent struct {
	t       *testing.T
	session *sdk.ClientSession
	log     *messageLog
	mu      sync.Mutex
	told    []string // messages of progress
}

// messageLog keeps all messages.
type messageLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *messageLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *messageLog) size() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Len()
}

// start starts pawl mcp in a folder and connects to it.
func start(t *testing.T, dir string) *agent {
	t.Helper()
	return connect(t, &sdk.CommandTransport{Command: serverCommand(t, dir)})
}

func connect(t *testing.T, transport sdk.Transport) *agent {
	t.Helper()
	a := &agent{t: t, log: &messageLog{}}
	client := sdk.NewClient(&sdk.Implementation{Name: "scripted", Version: "1"}, &sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.told = append(a.told, r.Params.Message)
		},
	})
	var err error
	a.session, err = client.Connect(t.Context(), &sdk.LoggingTransport{Transport: transport, Writer: a.log}, nil)
	must(t, err)
	t.Cleanup(func() { a.session.Close() })
	return a
}

// reply is the answer of a tool.
type reply struct {
	failed bool
	text   string // the document
	doc    map[string]any
	about  struct {
		Budget    string
		Queued    float64 `json:"queued_s"`
		Untrusted []string
	}
}

func (r reply) str(field string) string { s, _ := r.doc[field].(string); return s }

func (a *agent) call(tool string, args map[string]any) reply {
	a.t.Helper()
	params := &sdk.CallToolParams{Name: tool, Arguments: args}
	params.SetProgressToken(tool)
	res, err := a.session.CallTool(a.t.Context(), params)
	if err != nil {
		a.t.Fatalf("%s: %v", tool, err)
	}
	return a.read(res)
}

func (a *agent) read(res *sdk.CallToolResult) reply {
	a.t.Helper()
	r := reply{failed: res.IsError}
	for i, c := range res.Content {
		text, ok := c.(*sdk.TextContent)
		if !ok || i > 1 {
			a.t.Fatalf("content %d is a %T", i, c)
		}
		var into any = &r.doc
		if i == 1 {
			into = &r.about
		} else {
			r.text = text.Text
		}
		if err := json.Unmarshal([]byte(text.Text), into); err != nil && !res.IsError {
			a.t.Fatalf("%v: %s", err, text.Text)
		}
	}
	return r
}

// slowBlock is how a beginner adds a block: the compiler is told neither that blocks do not overlap nor how large
// they are. A gain of ten times would wait for a second clock and a person.
const slowBlock = `/* Adds an m x k block of A times a k x w block of B to a block of C. */
static __attribute__((noinline)) void add_block(int n, int m, int k, int w, const float *a, const float *b, float *c) {
  for (int i = 0; i < m; i++)
    for (int p = 0; p < k; p++)
      for (int j = 0; j < w; j++) c[i * n + j] += a[i * n + p] * b[p * n + j];
}

`

// checkout returns a fresh repository with a copy of examples/matmul-c whose kernel is slow and whose candidates are
// trusted, and the kernel as the example has it.
func checkout(t *testing.T) (dir, fast string) {
	t.Helper()
	top := t.TempDir()
	dir = filepath.Join(top, "examples", "matmul-c")
	for _, from := range []string{"examples/matmul-c/pawl.yaml", "examples/matmul-c/Makefile", "examples/matmul-c/matmul.c", "examples/matmul-c/matmul.h", "examples/matmul-c/harness.c"} {
		copyFile(t, filepath.Join("..", "..", from), filepath.Join(top, from))
	}
	sdkFiles, err := filepath.Glob("../../sdk/cpp/*")
	must(t, err)
	for _, from := range sdkFiles {
		if info, err := os.Stat(from); err == nil && info.Mode().IsRegular() {
			copyFile(t, from, filepath.Join(top, "sdk", "cpp", filepath.Base(from)))
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "matmul.c"))
	must(t, err)
	fast = string(text)
	begin, end := strings.Index(fast, "/* Adds an m x k block"), strings.Index(fast, "static int least")
	if begin < 0 || end < begin {
		t.Fatal("examples/matmul-c/matmul.c looks different: change this test")
	}
	write(t, filepath.Join(dir, "matmul.c"), fast[:begin]+slowBlock+fast[end:])
	smaller(t, filepath.Join(dir, "pawl.yaml"))
	write(t, filepath.Join(top, ".gitignore"), "results/\n*.o\nharness\nplain\ntuning/\n")
	git(t, top, "init", "-q")
	commit(t, top, "a kernel that is right")
	cmd := exec.CommandContext(t.Context(), binary, "-C", dir, "submit", "grant", "--trust", "trusted")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("grant: %v: %s", err, out)
	}
	return dir, fast
}

// smaller makes a suite of one small case.
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
			t.Fatalf("examples/matmul-c/pawl.yaml has no %q: change this test", s[0])
		}
		suite = strings.Replace(suite, s[0], s[1], 1)
	}
	write(t, path, suite)
}

func commit(t *testing.T, dir, message string) {
	t.Helper()
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "-m", message)
}

var git = testrun.Git

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

var must = testrun.Must
