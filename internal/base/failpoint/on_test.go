//go:build failpoint

package failpoint

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

func TestParse(t *testing.T) {
	for _, test := range []struct {
		text, pid string
		want      order
		ok        bool
	}{
		{"", "", order{}, true},
		{"ingest.checked:3:self", "", order{"ingest.checked", 3, 77}, true},
		{"ingest.checked:1:postgres", "99", order{"ingest.checked", 1, 99}, true},
		{"ingest.checked:1:postgres", "", order{}, false},
		{"ingest.checked:1:postgres", "1", order{}, false},
		{"ingest.checked:0:self", "", order{}, false},
		{"ingest.checked:x:self", "", order{}, false},
		{"ingest.checked:1", "", order{}, false},
		{"ingest.checked:1:world", "", order{}, false},
		{"nowhere:1:self", "", order{}, false},
	} {
		if got, err := parse(test.text, test.pid, 77); got != test.want || (err == nil) != test.ok {
			t.Errorf("%q: %+v, %v", test.text, got, err)
		}
	}
}

// A process ends at the passing that was asked for, without a word.
func TestAtKills(t *testing.T) {
	if os.Getenv("PAWLD_FAILPOINT") != "" {
		At("ingest.checked")
		At("ingest.written")
		os.Stdout.WriteString("once\n")
		At("ingest.checked")
		os.Stdout.WriteString("twice\n")
		return
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestAtKills$")
	cmd.Env = append(os.Environ(), "PAWLD_FAILPOINT=ingest.checked:2:self")
	out, err := cmd.Output()
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL || string(out) != "once\n" {
		t.Errorf("it ended with %v after %q", err, out)
	}
}

// An order in a file can come while the process runs; it counts from then on, and is gone
// when it was obeyed.
func TestAtReadsAFile(t *testing.T) {
	order := os.Getenv("PAWLD_FAILPOINT_FILE")
	if order != "" {
		At("ingest.checked")
		if err := os.WriteFile(order, []byte("ingest.checked:2:self\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		At("ingest.checked")
		os.Stdout.WriteString("once\n")
		At("ingest.checked")
		os.Stdout.WriteString("twice\n")
		return
	}
	order = filepath.Join(t.TempDir(), "order")
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestAtReadsAFile$")
	cmd.Env = append(os.Environ(), "PAWLD_FAILPOINT_FILE="+order)
	out, err := cmd.Output()
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL || string(out) != "once\n" {
		t.Errorf("it ended with %v after %q", err, out)
	}
	if _, err := os.Stat(order); err == nil {
		t.Error("the order is still there")
	}
	if _, err := os.Stat(order + ".fired"); err != nil {
		t.Errorf("nobody sees that it was obeyed: %v", err)
	}
}
