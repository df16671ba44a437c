package trial_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
)

// wake continues the process whose PID is in the file, and waits until it has computed for a while.
func wake(file string) {
	if file == "" {
		return
	}
	text, _ := os.ReadFile(file)
	pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	for began := ticks(pid); began >= 0 && ticks(pid) < began+5; time.Sleep(time.Millisecond) {
		if pid <= 0 || syscall.Kill(pid, syscall.SIGCONT) != nil {
			return
		}
	}
}

// ticks is the user time of a process, in hundredths of a second; below 0 if it has ended.
func ticks(pid int) int {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 12 || fields[0] == "Z" {
		return -1
	}
	n, _ := strconv.Atoi(fields[11])
	return n
}

// withHelper lets a side start a process that computes all the time.
func withHelper(p *trial.Plan, side int, file string) {
	sessions, _ := p.Sides[side].Runner.(trial.Sessions)
	plain := sessions.Command
	sessions.Command = func(c trial.Case) harness.Command {
		cmd := plain(c)
		cmd.Line = fmt.Sprintf("rm -f %s; setsid sh -c 'echo $$ > %[1]s; while :; do :; done' 3<&- 4>&- >/dev/null 2>&1 &\nuntil test -s %[1]s; do :; done\n%s", file, cmd.Line)
		return cmd
	}
	p.Sides[side].Runner = sessions
}

func TestTurns_FreezeTheOtherSide(t *testing.T) {
	p, b, _ := protocolPlan(t, []string{"k"}, nil, "base", "candidate")
	withHelper(&p, 1, filepath.Join(t.TempDir(), "pid"))
	if _, err := trial.Run(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	for _, r := range b.results {
		if r.Round.Error != "" || len(r.Round.Samples) != 10 {
			t.Errorf("%s: %d samples, error %q", r.Case, len(r.Round.Samples), r.Round.Error)
		}
	}
}

func TestTurns_RefuseASideThatRunsWhileItIsStopped(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	p, b, _ := protocolPlan(t, []string{"k"}, map[string][]string{"base": {"PAWL_TEST_WAKES=" + file}}, "base", "candidate")
	withHelper(&p, 1, file)
	if _, err := trial.Run(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if len(b.results) == 0 {
		t.Error("no results")
	}
	for _, r := range b.results {
		if !strings.Contains(r.Round.Error, "clocks disagree: candidate used ") || !strings.Contains(r.Round.Error, "while base was measured") || len(r.Round.Samples) > 0 {
			t.Errorf("%s: %d samples, error %q", r.Case, len(r.Round.Samples), r.Round.Error)
		}
	}
}
