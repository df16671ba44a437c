package compare

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/goatnote-inc/pawl/internal/base/testrun"
)

// Folders of the builds. Their names have one length, so that no path moves the stack.
const (
	baseSide = "base"
	sameSide = "same"
	slowSide = "slow"
)

// lab is a folder with the builds of the kernel for all tools.
type lab struct {
	dir, pawl, benchstat string
}

// TestLabCompare lets every tool decide, again and again, about the same code and about 5.9 % more work, and adds each
// decision to the file beside the lab's pages. What is there is kept, so that it can be stopped and goes on. Only with
// PAWL_LAB, a folder for the table. PAWL_LAB_MACHINE is idle or busy, for one of them; PAWL_LAB_TRIES is how many tries.
func TestLabCompare(t *testing.T) {
	out := os.Getenv("PAWL_LAB")
	if out == "" {
		t.Skip("measures time: make lab PAGE=compare")
	}
	tries := 10
	if text := os.Getenv("PAWL_LAB_TRIES"); text != "" {
		var err error
		if tries, err = strconv.Atoi(text); err != nil {
			t.Fatalf("PAWL_LAB_TRIES: %v", err)
		}
	}
	machines := []string{"idle", "busy"}
	if one := os.Getenv("PAWL_LAB_MACHINE"); one != "" {
		machines = []string{one}
	}
	l, here := newLab(t)
	file, err := os.OpenFile(decisionsFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, machine := range machines {
		for try := range tries {
			for i := range here {
				tool := here[(i+try)%len(here)] // none is always first
				l.decide(t, file, tool, machine, try)
			}
		}
	}
	if err := os.WriteFile(filepath.Join(out, "compare.md"), []byte(table(testrun.Rows[decision](t, decisionsFile))), 0o644); err != nil {
		t.Fatal(err)
	}
}

// decide lets a tool decide about the same code and about more work, where the file does not have these decisions yet.
func (l *lab) decide(t *testing.T, file *os.File, tool tool, machine string, try int) {
	t.Helper()
	have := map[bool]bool{}
	for _, d := range testrun.Rows[decision](t, file.Name()) {
		if d.Machine == machine && d.Tool == tool.name && d.Try == try {
			have[d.Slowed] = true
		}
	}
	if machine == "busy" {
		defer keepBusy()()
	}
	for _, slowed := range []bool{try%2 == 0, try%2 != 0} {
		if have[slowed] {
			continue
		}
		candidate := sameSide
		if slowed {
			candidate = slowSide
		}
		began := time.Now()
		answers := tool.compare(t, l, candidate)
		d := decision{machine, try, slowed, tool.name, float64(time.Since(began).Round(100*time.Millisecond)) / 1e9, answers}
		if err := json.NewEncoder(file).Encode(d); err != nil {
			t.Fatal(err)
		}
		t.Logf("%+v", d)
	}
}

// newLab builds the kernel for every tool that is here, and returns these tools.
func newLab(t *testing.T) (*lab, []tool) {
	t.Helper()
	l := &lab{dir: t.TempDir()}
	var err error
	if l.pawl, err = testrun.Pawl(l.dir); err != nil {
		t.Fatal(err)
	}
	l.benchstat = filepath.Join(l.dir, "benchstat")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", l.benchstat, "golang.org/x/perf/cmd/benchstat").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var here []tool
	for _, tool := range tools {
		if tool.missing != nil {
			if why := tool.missing(t, l); why != "" {
				t.Logf("without %s: %s", tool.name, why)
				continue
			}
		}
		here = append(here, tool)
	}
	for side, twice := range map[string]string{baseSide: "0", sameSide: "0", slowSide: "1"} {
		l.write(t, side, twice)
		for _, tool := range here {
			if tool.target != "" {
				l.run(t, "make", "-s", "-C", side, tool.target)
			}
		}
	}
	l.writeRepository(t)
	return l, here
}

// write puts the sources into the folder of a side, with so many bands computed twice.
func (l *lab) write(t *testing.T, side, twice string) {
	t.Helper()
	files, err := txtar.ParseFile("testdata/kernel.txtar")
	if err != nil {
		t.Fatal(err)
	}
	files.Files = append(files.Files, txtar.File{Name: "bands.h", Data: []byte("#define TWICE " + twice + "\n")})
	for _, f := range files.Files {
		path := filepath.Join(l.dir, side, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// writeRepository makes a repository for pawl, whose last commit computes more.
func (l *lab) writeRepository(t *testing.T) {
	t.Helper()
	header, err := os.ReadFile("../../sdk/cpp/pawl.h")
	if err != nil {
		t.Fatal(err)
	}
	git := func(args ...string) {
		l.run(t, "git", append([]string{"-C", "repository", "-c", "user.name=test", "-c", "user.email=test@example.com", "-c", "init.defaultBranch=main"}, args...)...)
	}
	l.write(t, "repository", "0")
	if err := os.WriteFile(filepath.Join(l.dir, "repository", "pawl.h"), header, 0o644); err != nil {
		t.Fatal(err)
	}
	git("init", "-q")
	git("add", ".")
	git("commit", "-q", "-m", "kernel")
	l.write(t, "repository", "1")
	git("commit", "-q", "-a", "-m", "more work")
}

// run returns what a command prints; a command that fails ends the test.
func (l *lab) run(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := l.output(t, name, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// output returns what a command prints. pawl's exit codes 1 and 2 are answers.
func (l *lab) output(t *testing.T, name string, args ...string) (string, error) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(l.dir, name)); err == nil {
		name = filepath.Join(l.dir, name) // built here
	}
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = l.dir
	cmd.Env = append(os.Environ(), "PAWL_LOCK_DIR="+filepath.Join(l.dir, "locks"), "PAWL_CACHE="+filepath.Join(l.dir, "cache"), "NO_COLOR=1", "PYTHONDONTWRITEBYTECODE=1")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && name == l.pawl && (exit.ExitCode() == 1 || exit.ExitCode() == 2) {
		return string(out), nil
	}
	if err != nil {
		return "", fmt.Errorf("%s %q: %w\n%s%s", name, args, err, out, stderr.String())
	}
	return string(out), nil
}

// keepBusy keeps all cores busy until the function that it returns is called.
func keepBusy() (stop func()) {
	var done atomic.Bool
	for range runtime.NumCPU() {
		go func() {
			for x := 1.0; ; x *= 1.0000001 {
				if done.Load() {
					return
				}
			}
		}()
	}
	return func() { done.Store(true) }
}
