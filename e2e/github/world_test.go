package github

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/base/testrun"
	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/forge/githubtest"
)

// bin is the folder of the pawl under test, and cache its builds, made once.
var bin, cache string

func TestMain(m *testing.M) {
	os.Exit(testrun.WithPawl(m, func(pawl, dir string) { bin, cache = filepath.Dir(pawl), filepath.Join(dir, "cache") }))
}

// world is a repository on a GitHub: a clone, its remote, and the server that answers.
type world struct {
	*testing.T
	github *githubtest.Server
	remote string // bare
	dir    string // a clone, as a developer has it
	temp   string
	store  string // of artifacts
	kernel string // the file that decides how fast it is
	name   string // of its case
}

// action is what the workflows install pawl with; the commit is any.
const action = "goatnote-inc/pawl@0123456789abcdef0123456789abcdef01234567"

// newWorld is a repository with a kernel and the workflows. Tests of workflows are not
// about measuring: the kernel is a script that prints the times of testdata/printed/kernel.txt, so
// that verdicts are the same on a busy machine. At night it is the C example.
func newWorld(t *testing.T) *world {
	t.Helper()
	return installed(plainWorld(t))
}

// newCWorld is the same with the C example, which takes the machine's time.
func newCWorld(t *testing.T) *world {
	t.Helper()
	return installed(plainCWorld(t))
}

func installed(w *world) *world {
	w.Helper()
	w.commit("kernels", "-A")
	w.pawl("init", "--github", "--install", "installed", "--action", action)
	w.commit("install pawl", "-A")
	w.push("main")
	return w
}

// plainWorld is a folder with a kernel and a suite; nothing is committed yet.
func plainWorld(t *testing.T) *world {
	t.Helper()
	if testrun.Nightly() {
		return plainCWorld(t)
	}
	w := emptyWorld(t)
	w.kernel, w.name = "kernel.txt", "Matmul/N160"
	for _, name := range []string{"testdata/printed/bench.sh", "testdata/printed/kernel.txt", "testdata/printed/pawl.yaml"} {
		w.write(filepath.Base(name), read(t, name))
	}
	return w
}

// plainCWorld is a folder with the C example, made small.
func plainCWorld(t *testing.T) *world {
	t.Helper()
	w := emptyWorld(t)
	w.kernel, w.name = "matmul.c", "matmul/N160"
	for _, name := range []string{"../../examples/matmul-c/harness.c", "../../examples/matmul-c/matmul.c", "../../examples/matmul-c/matmul.h", "../../examples/matmul-c/Makefile", "../../sdk/cpp/pawl.h", "testdata/pawl.yaml"} {
		w.write(filepath.Base(name), read(t, name))
	}
	return w
}

func emptyWorld(t *testing.T) *world {
	t.Helper()
	for _, tool := range []string{"act", "git", "cc", "make"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("there is no %s here", tool)
		}
	}
	temp := t.TempDir()
	w := &world{T: t, github: githubtest.New(t), temp: temp, remote: filepath.Join(temp, "remote.git"), dir: filepath.Join(temp, "clone"), store: filepath.Join(temp, "store")}
	w.github.SetPublic(false)
	for _, dir := range []string{"home", "locks", "store", "clone"} {
		if err := os.MkdirAll(filepath.Join(temp, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	w.git("init", "--quiet", "--bare", "-b", "main", w.remote)
	w.git("init", "--quiet", "-b", "main", ".")
	w.git("remote", "add", "origin", w.remote)
	w.write(".gitignore", "harness\n*.o\nresults/\ntuning/\n")
	w.write("README.md", "# kernels\n")
	return w
}

// environ is that of a machine that knows nothing but the test.
func (w *world) environ() []string {
	env := []string{
		"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + filepath.Join(w.temp, "home"), "XDG_CACHE_HOME=" + filepath.Join(w.temp, "cache"),
		"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_SYSTEM=" + os.DevNull, "NO_COLOR=1",
		"GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.org", "GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@example.org",
	}
	for name, value := range w.settings() {
		env = append(env, name+"="+value)
	}
	return env
}

// settings are variables that jobs get as well.
func (w *world) settings() map[string]string {
	return map[string]string{
		"PAWL_LOCK_DIR": filepath.Join(w.temp, "locks"), "PAWL_CACHE": cache, "E2E_REMOTE": w.remote, "E2E_STORE": w.store,
	}
}

func (w *world) exec(name string, args ...string) string {
	w.Helper()
	cmd := exec.CommandContext(w.Context(), name, args...)
	cmd.Dir, cmd.Env = w.dir, w.environ()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		w.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out.String())
	}
	return strings.TrimSpace(out.String())
}

func (w *world) git(args ...string) string { w.Helper(); return w.exec("git", args...) }
func (w *world) pawl(args ...string) string {
	w.Helper()
	return w.exec(filepath.Join(bin, "pawl"), args...)
}

func (w *world) write(name, text string) {
	w.Helper()
	path := filepath.Join(w.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		w.Fatal(err)
	}
}

func read(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// edit replaces text of a file, which has to be there.
func (w *world) edit(name, old, text string) {
	w.Helper()
	before := read(w, filepath.Join(w.dir, name))
	if !strings.Contains(before, old) {
		w.Fatalf("%s does not hold %q", name, old)
	}
	w.write(name, strings.Replace(before, old, text, 1))
}

// commit commits what changed and gives its hash.
func (w *world) commit(message string, args ...string) string {
	w.Helper()
	if len(args) == 0 {
		args = []string{"-u"}
	}
	w.git(append([]string{"add"}, args...)...)
	w.git("commit", "--quiet", "-m", message)
	return w.git("rev-parse", "HEAD")
}

func (w *world) push(branch string) {
	w.Helper()
	w.git("push", "--quiet", "origin", "HEAD:refs/heads/"+branch)
	w.git("fetch", "--quiet", "origin")
}

// comment changes a comment of the kernel.
func (w *world) comment() {
	w.Helper()
	w.edit(w.kernel, "Tune these.", "Tune them.")
}

// slow makes the kernel do percent more work by computing rows again. The result stays
// correct. Tests that expect a verdict use 200, which a busy machine cannot hide.
func (w *world) slow(percent int) {
	w.Helper()
	if w.kernel == "kernel.txt" {
		w.edit(w.kernel, "1000 us", fmt.Sprintf("%d us", 1000+10*percent))
		return
	}
	const end = "  memset(c, 0, sizeof(float) * (size_t)n * (size_t)n);\n"
	w.edit("matmul.c", "void matmul(int n,", "static void once(int n, int rows,")
	w.edit("matmul.c", end, "  memset(c, 0, sizeof(float) * (size_t)n * (size_t)rows);\n")
	w.edit("matmul.c", "for (int i = 0; i < n; i += BLOCK_M)", "for (int i = 0; i < rows; i += BLOCK_M)")
	w.edit("matmul.c", "least(BLOCK_M, n - i)", "least(BLOCK_M, rows - i)")
	text := read(w, filepath.Join(w.dir, "matmul.c"))
	w.write("matmul.c", text+fmt.Sprintf(`
void matmul(int n, const float *a, const float *b, float *c) {
  for (int i = 0; i < %d; i++) {
    once(n, n, a, b, c);
    __asm__ volatile("" ::: "memory");
  }
  once(n, n * %d / 100, a, b, c);
  __asm__ volatile("" ::: "memory");
  once(n, n, a, b, c);
}
`, percent/100, percent%100))
}

// open opens a pull request for the branch that is checked out.
func (w *world) open(branch string) forge.Pull {
	w.Helper()
	w.push(branch)
	head, base := w.git("rev-parse", "HEAD"), w.git("merge-base", "HEAD", "origin/main")
	p := forge.Pull{Open: true, HeadBranch: branch, HeadSHA: head, BaseBranch: "main", BaseSHA: base}
	p.Number = w.github.AddPull(p)
	w.github.AddFile(head, "pawl.yaml", w.git("show", head+":pawl.yaml")+"\n") // what it says of itself
	w.git("push", "--quiet", "origin", fmt.Sprintf("HEAD:refs/pull/%d/head", p.Number))
	return p
}

// check is the check "pawl" on a commit, of which there has to be one.
func (w *world) check(sha string) forge.Check {
	w.Helper()
	checks := w.github.Checks(sha)
	if len(checks) != 1 {
		w.Fatalf("%d checks on %.12s, want one: %+v", len(checks), sha, checks)
	}
	return checks[0]
}

// report is the one comment on a pull request.
func (w *world) report(pull int) forge.Comment {
	w.Helper()
	comments := w.github.Comments(pull)
	if len(comments) != 1 {
		w.Fatalf("%d comments on pull request %d, want one: %+v", len(comments), pull, comments)
	}
	return comments[0]
}
