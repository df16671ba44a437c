// Package headertest_test tests pawl.h as its users meet it: compiled by real compilers,
// started as a real process, spoken to over real pipes.
package headertest_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/sdk/conformance"
)

// tool returns the path of a program, or skips the test.
func tool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("there is no %s here", name)
	}
	return path
}

// build compiles a source file with the given compiler and flags and
// returns the program. Warnings fail the test.
func build(t *testing.T, compiler, source string, flags ...string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "program")
	arguments := []string{"-I..", "-o", program}
	libraries := []string{} // stand after what needs them, the language stands before
	for _, flag := range flags {
		if strings.HasPrefix(flag, "-l") {
			libraries = append(libraries, flag)
		} else {
			arguments = append(arguments, flag)
		}
	}
	arguments = append(append(arguments, source), libraries...)
	out, err := exec.CommandContext(t.Context(), tool(t, compiler), arguments...).CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Fatalf("%s %s: %v\n%s", compiler, strings.Join(arguments, " "), err, out)
	}
	return program
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
