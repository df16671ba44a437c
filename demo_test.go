package pawl_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/golden"
)

var demoCast = filepath.Join("docs", "images", "demo.cast")

// demoStep matches the lines that do not depend on the machine: the steps, the commands, the answers. Of an answer, the first
// two words count.
var demoStep = regexp.MustCompile(`^(\$ .*|[123]\. .*|   [-+].*|(?:FAIL|PASS): .*|(?:verdict|regression|improvement) +\S+|Why: |A regression was found)`)

// The recording of the demo has the steps and answers of the demo. go test . -run Demo -update records it again, and
// go test ./scripts/site -update draws its picture.
func TestDemo_PrintsWhatWasRecorded(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures")
	}
	for _, tool := range []string{"git", "make", "cc", "valgrind"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("there is no %s here", tool)
		}
	}
	t.Parallel()
	temp := t.TempDir()
	cast, text := record(t, temp, "pawl", "demo")
	if golden.Updating() {
		if err := os.WriteFile(demoCast, cast, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	stored, err := os.ReadFile(demoCast)
	if err != nil {
		t.Fatal(err)
	}
	masked := withoutNumbers(text)
	for _, event := range bytes.Split(bytes.TrimSpace(stored), []byte("\n"))[2:] { // the header, and the command
		var line string
		if err := json.Unmarshal(event, &[]any{new(float64), new(string), &line}); err != nil {
			t.Fatal(err)
		}
		if step := demoStep.FindString(strings.TrimRight(line, "\r\n")); !strings.Contains(masked, withoutNumbers(step)) {
			t.Errorf("pawl demo does not print %q any more:\n%s", step, text)
		}
	}
	if left, err := filepath.Glob(filepath.Join(temp, "pawl-demo-*")); err != nil || len(left) > 0 {
		t.Errorf("the demo left %v: %v", left, err)
	}
}

// record runs a command with a folder for temporary files and returns what it printed, also as a recording in the format
// asciicast v2, line by line.
func record(t *testing.T, temp, name string, args ...string) (cast []byte, text string) {
	t.Helper()
	shell := newTyped(t)
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env = shell.dir, slices.Concat(shell.env, []string{"TMPDIR=" + temp})
	r, w := io.Pipe()
	cmd.Stdout, cmd.Stderr = w, w
	var b bytes.Buffer
	b.WriteString(`{"version": 2, "width": 110, "height": 60, "title": "pawl demo"}` + "\n")
	write := func(at float64, line string) {
		event, err := json.Marshal([]any{math.Round(at*100) / 100, "o", line + "\r\n"})
		if err != nil {
			t.Error(err)
		}
		b.Write(append(event, '\n'))
	}
	write(0, "$ "+strings.Join(append([]string{name}, args...), " "))
	started := time.Now()
	done := make(chan struct{})
	var all strings.Builder
	go func() {
		defer close(done)
		for lines := bufio.NewScanner(r); lines.Scan(); {
			write(time.Since(started).Seconds(), lines.Text())
			all.WriteString(lines.Text() + "\n")
		}
	}()
	err := cmd.Run()
	_ = w.Close()
	<-done
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, all.String())
	}
	return b.Bytes(), all.String()
}
