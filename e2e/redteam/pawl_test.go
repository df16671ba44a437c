package redteam

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/goatnote-inc/pawl/internal/base/testrun"
)

// binary is the pawl under test.
var binary string

// cache is where builds and launchers of all tests are kept: the base is built once.
var cache string

// path finds the system's Python first, which has NumPy where any has.
var path = "/usr/bin:" + os.Getenv("PATH")

func TestMain(m *testing.M) {
	os.Exit(testrun.WithPawl(m, func(pawl, dir string) { binary, cache = pawl, filepath.Join(dir, "cache") }))
}

// repository is a folder with the files of a suite, edited, with pawl.h and one commit.
func repository(t testing.TB, base string, edits ...edit) string {
	t.Helper()
	return repositoryWith(t, "../../sdk", base, edits...)
}

// repositoryWith takes pawl.h and the Python modules from another folder.
func repositoryWith(t testing.TB, sdks, base string, edits ...edit) string {
	t.Helper()
	dir := t.TempDir()
	files, err := txtar.ParseFile(filepath.Join("testdata", base+".txtar"))
	must(t, err)
	for _, f := range files.Files {
		write(t, filepath.Join(dir, f.Name), f.Data)
	}
	for _, sdk := range []string{"cpp/pawl.h", "python/pawl_oracle.py", "python/pawl_harness.py"} {
		text, err := os.ReadFile(filepath.Join(sdks, sdk))
		must(t, err)
		write(t, filepath.Join(dir, filepath.Base(sdk)), text)
	}
	for _, e := range edits {
		e.apply(t, dir)
	}
	git(t, dir, "init", "-q")
	commit(t, dir, "base")
	return dir
}

func commit(t testing.TB, dir, message string) {
	t.Helper()
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "-m", message)
}

// answer is what pawl run left.
type answer struct {
	Code    int
	Took    time.Duration
	Verdict string
	Said    string // everything that it said, and the verdict in full
	Reason  string // the sentence of the worst case
	Cases   []judged
}

type judged struct{ Name, Verdict, Sentence string }

func (a answer) green() bool { return a.Code == 0 }

// judge runs the gate on the working tree against its last commit.
func judge(t *testing.T, dir string, args ...string) answer {
	t.Helper()
	return judgeWith(t, binary, dir, args...)
}

// judgeWith does the same with another pawl.
func judgeWith(t *testing.T, binary, dir string, args ...string) answer {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
	defer cancel()
	args = append([]string{"run", "--base", "HEAD", "--no-color", "--profile", "0"}, args...)
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Dir = dir
	// Kernels for OpenCL stand for those of a GPU, which cannot reach the launcher.
	cmd.Env = append(os.Environ(), "PAWL_LOCK_DIR="+t.TempDir(), "PAWL_CACHE="+cache, "PATH="+path, "PAWL_OPENCL_CPU=unprotected")
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	began := time.Now()
	err := cmd.Run()
	a := answer{Took: time.Since(began), Said: said.String()}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		a.Code = exit.ExitCode()
	} else if err != nil {
		t.Fatalf("pawl %v: %v", args, err)
	}
	a.read(t, filepath.Join(dir, "results", "verdict.json"))
	return a
}

// read adds what the verdict's file says; there is none where pawl could not begin.
func (a *answer) read(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return
	}
	must(t, err)
	var v struct {
		Verdict, Sentence string
		Cases             []judged
		Stopped           *struct{ Why string }
	}
	must(t, json.Unmarshal(text, &v))
	a.Verdict, a.Reason, a.Cases = v.Verdict, v.Sentence, v.Cases
	for _, c := range v.Cases {
		a.Said += "\n" + c.Verdict + ": " + c.Sentence
		if c.Verdict == v.Verdict {
			a.Reason = c.Sentence
		}
	}
	if v.Stopped != nil {
		a.Said += "\n" + v.Stopped.Why
		a.Reason = v.Stopped.Why
	}
}

func write(t testing.TB, path string, content []byte) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, content, 0o600))
}

var git = testrun.Git

var must = testrun.Must

func needsOpenCL(t *testing.T) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "clinfo", "-l").Output(); err != nil || len(strings.TrimSpace(string(out))) == 0 {
		t.Skip("there is no OpenCL device here, or no clinfo to ask")
	}
}
