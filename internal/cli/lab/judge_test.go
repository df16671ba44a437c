package lab

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/cli/command"
	judgelab "github.com/goatnote-inc/pawl/internal/judge/lab"
)

func TestLabJudge(t *testing.T) {
	data := os.Getenv("PAWL_DATA")
	if data == "" {
		t.Skip("PAWL_DATA names no folder of recorded data")
	}
	out := t.TempDir()
	var stdout, stderr bytes.Buffer
	code := Main(t.Context(), []string{"judge", "--corpus", "a", "--json", "--out", out}, &command.IO{Out: &stdout, Err: &stderr, Getenv: os.Getenv})
	if code != command.ExitOK {
		t.Fatalf("exit code %d\n%s", code, stderr.String())
	}
	var report judgelab.Report
	if err := json.Unmarshal(stdout.Bytes(), &report); err != nil {
		t.Fatal(err)
	}
	if len(report.Claims) != 2 || len(report.Rows) != 22 {
		t.Errorf("%d promises and %d rows, want 2 and 22", len(report.Claims), len(report.Rows))
	}
	for _, name := range []string{"judge.md", "judge.json", "judge-error.svg", "judge-rounds.svg"} {
		if info, err := os.Stat(filepath.Join(out, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if !strings.Contains(stderr.String(), "22 trials") {
		t.Errorf("no progress on stderr: %s", stderr.String())
	}
}
