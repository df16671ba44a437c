//go:build failpoint

package failpoint

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Now returns the time, moved by the duration in the file that PAWLD_FAILPOINT_CLOCK_FILE names.
func Now() time.Time {
	text, err := os.ReadFile(os.Getenv("PAWLD_FAILPOINT_CLOCK_FILE"))
	if err != nil {
		return time.Now()
	}
	ahead, err := time.ParseDuration(strings.TrimSpace(string(text)))
	if err != nil {
		fmt.Fprintln(os.Stderr, "PAWLD_FAILPOINT_CLOCK_FILE:", err)
		os.Exit(3)
	}
	return time.Now().Add(ahead)
}

// order is a parsed request to kill a process at a failpoint.
type order struct {
	name string
	nth  int64
	pid  int
}

// orders holds the current order and how often its failpoint was reached since.
var orders struct {
	sync.Mutex
	text   string
	passed int64
}

// At marks a failpoint. It kills the requested process the nth time the requested failpoint is reached.
func At(name string) {
	orders.Lock()
	defer orders.Unlock()
	text, postgres := current()
	if text != orders.text {
		orders.text, orders.passed = text, 0
	}
	o, err := parse(text, postgres, os.Getpid())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
	if o.name != name {
		return
	}
	if orders.passed++; orders.passed != o.nth {
		return
	}
	if file := os.Getenv("PAWLD_FAILPOINT_FILE"); file != "" {
		_ = os.Rename(file, file+".fired") // signals to the test that the failpoint was reached
	}
	if err := syscall.Kill(o.pid, syscall.SIGKILL); err != nil {
		fmt.Fprintf(os.Stderr, "failpoint %s: cannot kill %d: %v\n", name, o.pid, err)
	}
	if o.pid == os.Getpid() {
		select {} // the kill takes effect in a moment
	}
}

// current returns the order in effect: from a file, which can be written while the process
// runs, or from the environment.
func current() (text, postgres string) {
	file := os.Getenv("PAWLD_FAILPOINT_FILE")
	if file == "" {
		return os.Getenv("PAWLD_FAILPOINT"), os.Getenv("PAWLD_FAILPOINT_PID")
	}
	b, _ := os.ReadFile(file) // no file means no order
	text, postgres, _ = strings.Cut(strings.TrimSpace(string(b)), " ")
	return text, postgres
}

// parse reads NAME:N:self or NAME:N:postgres.
func parse(text, postgres string, self int) (order, error) {
	if text == "" {
		return order{}, nil
	}
	parts := strings.Split(text, ":")
	if len(parts) != 3 || !slices.Contains(names, parts[0]) {
		return order{}, fmt.Errorf("PAWLD_FAILPOINT=%q: must be NAME:N:self or NAME:N:postgres, with a name of failpoint.Names", text)
	}
	nth, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil || nth < 1 {
		return order{}, fmt.Errorf("PAWLD_FAILPOINT=%q: N must be a number from 1", text)
	}
	switch parts[2] {
	case "self":
		return order{parts[0], nth, self}, nil
	case "postgres":
		pid, err := strconv.Atoi(postgres)
		if err != nil || pid < 2 {
			return order{}, fmt.Errorf("PAWLD_FAILPOINT_PID=%q: must be the process ID of the database", postgres)
		}
		return order{parts[0], nth, pid}, nil
	}
	return order{}, fmt.Errorf("PAWLD_FAILPOINT=%q: the target must be self or postgres", text)
}
