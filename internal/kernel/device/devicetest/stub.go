//go:build unix

package devicetest

import (
	"crypto/sha256"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

//go:embed testdata/stubnvml/nvml_stub.c
var source []byte

// Environment variables that a process needs to see the stub's GPUs.
const (
	libraryVar = "PAWL_NVML_LIBRARY" // where pawl finds the library
	stateVar   = "PAWL_NVML_STUB"    // where the stub finds its state
)

// Stub is a machine with simulated NVIDIA GPUs.
type Stub struct {
	tb      testing.TB
	library string
	path    string
}

// BuildStub compiles the stub, once for all test processes of this user, and
// gives it its own state with one idle GPU. It skips the test if there is no C
// compiler.
func BuildStub(tb testing.TB) *Stub {
	tb.Helper()
	return build(tb, "current")
}

// BuildOldStub is like BuildStub, with only the functions of an old driver.
func BuildOldStub(tb testing.TB) *Stub {
	tb.Helper()
	return build(tb, "old", "-DSTUB_OLD")
}

func build(tb testing.TB, variant string, flags ...string) *Stub {
	tb.Helper()
	s := &Stub{tb: tb, library: compile(tb, variant, flags), path: filepath.Join(tb.TempDir(), "nvml")}
	s.SetState(State{GPUs: []GPU{L4()}})
	return s
}

// Env returns the variables, as NAME=value, that let a process see the GPUs.
func (s *Stub) Env() []string {
	return []string{libraryVar + "=" + s.library, stateVar + "=" + s.path}
}

// Use makes the GPUs visible to this process until the test ends.
func (s *Stub) Use() {
	s.tb.Helper()
	s.tb.Setenv(libraryVar, s.library)
	s.tb.Setenv(stateVar, s.path)
}

// SetState replaces the state of the machine.
func (s *Stub) SetState(state State) {
	s.tb.Helper()
	s.locked(func() {
		tmp := s.path + ".test"
		if err := os.WriteFile(tmp, state.encode(), 0o666); err != nil {
			s.tb.Fatalf("cannot write the state of the NVML stub: %v", err)
		}
		if err := os.Rename(tmp, s.path); err != nil {
			s.tb.Fatalf("cannot write the state of the NVML stub: %v", err)
		}
	})
}

// State returns the current state: the one from SetState, with the changes by setters.
func (s *Stub) State() State {
	s.tb.Helper()
	b, err := os.ReadFile(s.path)
	if err != nil {
		s.tb.Fatalf("cannot read the state of the NVML stub: %v", err)
	}
	return decode(b)
}

// Update changes the current state.
func (s *Stub) Update(change func(*State)) {
	s.tb.Helper()
	state := s.State()
	change(&state)
	s.SetState(state)
}

// locked runs f while no setter of the stub, in any process, can access the file.
func (s *Stub) locked(f func()) {
	s.tb.Helper()
	lock, err := os.OpenFile(s.path+".lock", os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		s.tb.Fatalf("cannot lock the state of the NVML stub: %v", err)
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		s.tb.Fatalf("cannot lock the state of the NVML stub: %v", err)
	}
	f()
}

// compile returns the path of the library. Its folder is named after the source, so
// that all test processes of a user share it and a changed source gets a new one.
func compile(tb testing.TB, variant string, flags []string) string {
	tb.Helper()
	cc := os.Getenv("CC")
	if cc == "" {
		cc = "cc"
	}
	if _, err := exec.LookPath(cc); err != nil {
		tb.Skipf("no C compiler (%v): the NVML stub cannot be built, so the NVML path is not tested", err)
	}
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("pawl-stubnvml-%d-%.6x-%s", os.Getuid(), sha256.Sum256(source), variant))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		tb.Fatalf("cannot build the NVML stub: %v", err)
	}
	library := filepath.Join(dir, "libnvidia-ml.so.1")
	if _, err := os.Stat(library); err == nil {
		return library
	}
	work := tb.TempDir()
	input, output := filepath.Join(work, "nvml_stub.c"), filepath.Join(work, "stub.so")
	if err := os.WriteFile(input, source, 0o600); err != nil {
		tb.Fatalf("cannot build the NVML stub: %v", err)
	}
	args := append([]string{"-std=gnu11", "-Wall", "-Wextra", "-O1", "-shared", "-fPIC", "-o", output, input}, flags...)
	if out, err := exec.CommandContext(tb.Context(), cc, args...).CombinedOutput(); err != nil {
		tb.Fatalf("cannot build the NVML stub with %s: %v\n%s", cc, err, out)
	}
	if err := os.Rename(output, library); err != nil {
		tb.Fatalf("cannot build the NVML stub: %v", err)
	}
	return library
}
