// Package headertest_test tests pawl.h as its users meet it: compiled by real compilers,
// started as a real process, spoken to over real pipes.
package headertest_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/goatnote-inc/pawl/sdk/conformance"
)

// tool returns the path of a program, or skips the test.
func tool(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("there is no %s here", name)
	}
	return path
}

// programs are those that were compiled, in a folder that all tests share.
var programs struct {
	sync.Mutex
	dir  string
	made map[string]func() (string, error)
}

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "pawl-headertest-")
	if err != nil {
		panic(err)
	}
	programs.dir, programs.made = dir, map[string]func() (string, error){}
	status := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(status)
}

// build compiles a source file with the given compiler and flags and returns the program,
// which is compiled once for all tests. Warnings fail the test.
func build(t testing.TB, compiler, source string, flags ...string) string {
	t.Helper()
	path := tool(t, compiler)
	key := fmt.Sprintf("%q %q %q", path, source, flags)
	programs.Lock()
	once := programs.made[key]
	if once == nil {
		program := filepath.Join(programs.dir, fmt.Sprintf("program%d", len(programs.made)))
		once = sync.OnceValues(func() (string, error) { return program, compile(path, source, program, flags) })
		programs.made[key] = once
	}
	programs.Unlock()
	program, err := once()
	if err != nil {
		t.Fatal(err)
	}
	return program
}

func compile(compiler, source, program string, flags []string) error {
	arguments := []string{"-I..", "-o", program}
	var libraries []string // stand after what needs them, the language stands before
	for _, flag := range flags {
		if strings.HasPrefix(flag, "-l") {
			libraries = append(libraries, flag)
		} else {
			arguments = append(arguments, flag)
		}
	}
	arguments = append(append(arguments, source), libraries...)
	out, err := exec.CommandContext(context.Background(), compiler, arguments...).CombinedOutput()
	if err != nil || len(out) > 0 {
		return fmt.Errorf("%s %s: %w\n%s", compiler, strings.Join(arguments, " "), err, out)
	}
	return nil
}

// play plays a transcript that stands in the test itself.
func play(t *testing.T, h conformance.Harness, lines ...string) {
	t.Helper()
	transcript, err := conformance.Parse("in_the_test.txt", strings.NewReader(strings.Join(lines, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	if err := conformance.Play(t.Context(), h, transcript); err != nil {
		t.Error(err)
	}
}

func harness(program string, env ...string) conformance.Harness {
	return conformance.Harness{Command: []string{program}, Env: env}
}

// run starts a program by hand and returns what it prints.
func run(t *testing.T, status int, program string, arguments ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, arguments...)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != status {
		t.Fatalf("%s %s: %v, want status %d\n%s", program, strings.Join(arguments, " "), err, status, out)
	}
	return string(out)
}
