package harness_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/await"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
)

func TestOutputOfAPlainCommand(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, line string
		kind       harness.Kind // empty when it works
		want       string
	}{
		{"prints", "echo result; echo progress >&2", "", "result\n"},
		{"leaves something running", "sleep 30 & echo result", "", "result\n"},
		{"fails", "echo why >&2; exit 3", harness.Crashed, "why"},
		{"hangs", "sleep 600", harness.Hung, "no message for 300ms"},
		{"is not there", "exec ./no-such-program", harness.Crashed, "no-such-program"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			silence := await.Limit
			if tt.kind == harness.Hung {
				silence = 300 * time.Millisecond
			}
			out, err := harness.Output(t.Context(), harness.Command{Line: tt.line, Dir: t.TempDir(), Silence: silence})
			if tt.kind == "" {
				if err != nil || string(out) != tt.want {
					t.Errorf("have %q, %v", out, err)
				}
				return
			}
			e, ok := errors.AsType[*harness.Error](err)
			if !ok || e.Kind != tt.kind || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("have %v, want %q with %q", err, tt.kind, tt.want)
			}
		})
	}
}

func TestAnOldFileIsNeverTakenForAResult(t *testing.T) {
	dir := t.TempDir()
	old := filepath.Join(dir, "out.json")
	if err := os.WriteFile(old, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := harness.RemoveStaleResult(dir, "out.json"); err != nil {
			t.Fatal(err)
		}
	}
	if exists(old) {
		t.Error("it is still there")
	}
}
