package redteam

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/await"
	"github.com/goatnote-inc/pawl/internal/base/testrun"
)

// kills is how many runs are killed at night; CI kills a few.
const kills = 200

// A run that is killed at any moment leaves no process, stopped or not, no lock and no mount.
func TestKilled(t *testing.T) {
	inCI(t, true)
	count := testrun.Times(6, kills)
	seed := uint64(1)
	if testrun.Nightly() {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	runs := []struct{ base, level string }{{"host", "trusted"}, {"host", "checked"}, {"own", "self-timed"}}
	for i := range count {
		run, after := runs[i%len(runs)], time.Duration(random.Int64N(int64(8*time.Second)))
		t.Run(fmt.Sprintf("%d %s", i, run.level), func(t *testing.T) { // a name that runs it again
			t.Parallel()
			t.Logf("after %.2f s", after.Seconds())
			killed(t, repository(t, run.base), run.level, after)
		})
	}
}

// killed starts a run in dir, kills it, and looks for what is left.
func killed(t *testing.T, dir, level string, after time.Duration) {
	t.Helper()
	locks := t.TempDir()
	write(t, filepath.Join(dir, "honest.h"), append(read(t, filepath.Join(dir, "honest.h")), "// changed\n"...))
	cmd := exec.CommandContext(t.Context(), binary, "run", "--base", "HEAD", "--trust", level, "--fuzz", "0")
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, io.Discard, io.Discard
	cmd.Env = append(os.Environ(), "PAWL_LOCK_DIR="+locks, "PAWL_CACHE="+cache, "PATH="+path, "PAWL_KILLED="+dir)
	must(t, cmd.Start())
	time.Sleep(after)
	must(t, cmd.Process.Kill())
	_ = cmd.Wait()
	await.True(t, "no process of the run is left", func() bool { return len(processes(dir)) == 0 })
	files, err := filepath.Glob(filepath.Join(locks, "*"))
	must(t, err)
	for _, name := range files {
		f, err := os.Open(name)
		must(t, err)
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
			t.Errorf("%s is locked: %v", name, err)
		}
		f.Close()
	}
	for line := range strings.Lines(string(read(t, "/proc/self/mountinfo"))) {
		if strings.Contains(line, dir) {
			t.Errorf("it is still mounted: %s", line)
		}
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	return text
}

// processes lists those that run in a folder, name it or have its mark. In a sandbox they are in the
// folder too, by its name.
func processes(dir string) []string {
	var list []string
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err != nil {
			continue
		}
		at := filepath.Join("/proc", e.Name())
		cwd, _ := os.Readlink(filepath.Join(at, "cwd"))
		line, _ := os.ReadFile(filepath.Join(at, "cmdline"))
		mark, err := os.ReadFile(filepath.Join(at, "environ"))
		if errors.Is(err, os.ErrNotExist) {
			continue // it has ended
		}
		if strings.HasPrefix(cwd, dir) || bytes.Contains(line, []byte(dir)) || bytes.Contains(mark, []byte("PAWL_KILLED="+dir)) {
			list = append(list, fmt.Sprintf("%s %s %s", e.Name(), cwd, bytes.ReplaceAll(line, []byte{0}, []byte(" "))))
		}
	}
	return list
}
