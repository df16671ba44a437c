package sides

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/goatnote-inc/pawl/internal/base/testrun"
)

// binary is the pawl under test.
var binary string

func TestMain(m *testing.M) {
	os.Exit(testrun.WithPawl(m, func(pawl, _ string) { binary = pawl }))
}

// repository is a git repository with locks, a cache and temporary files of its own.
type repository struct {
	dir string
	own string // folder of what pawl keeps outside the repository
	env []string
}

// newRepository makes a repository with one commit, of the files of an archive.
func newRepository(t *testing.T, archive string) *repository {
	t.Helper()
	r := &repository{dir: filepath.Join(t.TempDir(), "repository"), own: t.TempDir()}
	for _, name := range []string{"locks", "cache", "tmp"} {
		must(t, os.MkdirAll(filepath.Join(r.own, name), 0o755))
	}
	must(t, os.MkdirAll(r.dir, 0o755))
	r.env = append(os.Environ(), "NO_COLOR=1", "PATH=/usr/bin:"+os.Getenv("PATH"), "PYTHONDONTWRITEBYTECODE=1", "PAWL_OPENCL_CPU=unprotected",
		"PAWL_LOCK_DIR="+filepath.Join(r.own, "locks"), "PAWL_CACHE="+filepath.Join(r.own, "cache"), "TMPDIR="+filepath.Join(r.own, "tmp"))
	r.git(t, "init", "-q")
	r.write(t, archive)
	r.commit(t)
	return r
}

// write puts the files of an archive into the working tree.
func (r *repository) write(t *testing.T, archive string) {
	t.Helper()
	for _, f := range txtar.Parse([]byte(archive)).Files {
		path := filepath.Join(r.dir, f.Name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, f.Data, 0o644))
	}
}

// withSDK copies a file of an SDK into the working tree.
func (r *repository) withSDK(t *testing.T, name string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../sdk", name))
	must(t, err)
	must(t, os.WriteFile(filepath.Join(r.dir, filepath.Base(name)), text, 0o644))
}

// commit commits all of the working tree and returns the commit.
func (r *repository) commit(t *testing.T) string {
	t.Helper()
	r.git(t, "add", "-A")
	r.git(t, "commit", "-q", "--allow-empty", "-m", "a commit")
	return r.git(t, "rev-parse", "HEAD")
}

func (r *repository) git(t *testing.T, args ...string) string {
	t.Helper()
	return testrun.Git(t, r.dir, args...)
}

// result is what a command left.
type result struct {
	code int
	said string
	took time.Duration
}

// command is pawl in a folder of the repository.
func (r *repository) command(t *testing.T, folder string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, args...)
	cmd.Dir, cmd.Env = filepath.Join(r.dir, folder), r.env
	return cmd
}

// pawl runs pawl in a folder of the repository. It fails the test unless the exit code is one of codes.
func (r *repository) pawl(t *testing.T, folder string, codes []int, args ...string) result {
	t.Helper()
	cmd := r.command(t, folder, args...)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	started := time.Now()
	err := cmd.Run()
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		t.Fatalf("pawl %v: %v", args, err)
	}
	res := result{code: cmd.ProcessState.ExitCode(), said: said.String(), took: time.Since(started)}
	if !slices.Contains(codes, res.code) {
		t.Fatalf("pawl %v: exit code %d, want one of %v\n%s", args, res.code, codes, res.said)
	}
	return res
}

// shell runs a command line by hand, as the user of the repository would.
func shell(t *testing.T, dir, line string, env ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
	return string(out)
}

func needs(t *testing.T, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("no %s in PATH: .ci/install has its package", p)
		}
	}
}

// beside lets a test run beside others in CI, where no result depends on time. At night some do.
func beside(t *testing.T) {
	t.Helper()
	if !testrun.Nightly() {
		t.Parallel()
	}
}

var must = testrun.Must

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	must(t, err)
	return string(text)
}
