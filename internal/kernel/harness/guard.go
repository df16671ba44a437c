package harness

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/goatnote-inc/pawl/internal/base/shell"
)

// guard is a process that kills the stopped processes if pawl is killed. A stopped process does not
// notice that its pipes are closed, and the kernel kills only direct children of pawl.
//
// A shell reads a pipe byte by byte, and would do so while kernels are measured. So the list of processes is in one of
// two slots in memory, and the pipe only says which of them is complete.
var guard struct {
	sync.Mutex
	in    *os.File
	slots [2]*os.File
	next  int              // slot of the next list
	trees map[*Tree]string // processes to kill, by tree
}

// firstSlot is the first slot's descriptor in the guard.
const firstSlot = 3

// guardScript acts on the list in the slot that it was told last. Each word is PID:START of a process, or -PID of a
// group. If the start time differs, the PID now belongs to another process.
const guardScript = `set -f
slot=
while IFS= read -r line; do slot=$line; done
[ "$slot" ] || exit 0
IFS= read -r list <&"$slot"
for p in $list; do
  case $p in -*) kill -9 -- "$p"; continue ;; esac
  stat=$(cat "/proc/${p%:*}/stat") || continue
  set -- ${stat##*) }
  [ "${20}" = "${p#*:}" ] && kill -9 "${p%:*}"
done`

// updateGuard sends the guard the processes of the tree, before they are stopped.
func (t *Tree) updateGuard() {
	if !t.changed {
		return
	}
	t.changed = false
	var words []string
	for pid := range t.roots {
		words = append(words, fmt.Sprintf("-%d", pid))
	}
	for id := range t.members {
		words = append(words, fmt.Sprintf("%d:%d", id.pid, id.start))
	}
	slices.Sort(words)
	line := strings.Join(words, " ")
	guard.Lock()
	defer guard.Unlock()
	if line == "" {
		delete(guard.trees, t)
	} else {
		if guard.trees == nil {
			guard.trees = map[*Tree]string{}
		}
		guard.trees[t] = line
	}
	all := strings.Join(slices.Collect(maps.Values(guard.trees)), " ")
	for range 2 { // retry once with a new guard if the first was killed
		if guard.in == nil && startGuard() != nil {
			return
		}
		if tellGuard(all) == nil {
			return
		}
		stopGuard()
	}
}

// tellGuard gives the guard a list: first in the slot that it does not use, then by the number of that slot. A list that
// is not complete when pawl is killed is never read.
func tellGuard(list string) error {
	if _, err := guard.slots[guard.next].WriteAt([]byte(list+"\n"), 0); err != nil {
		return err
	}
	_, err := fmt.Fprintln(guard.in, firstSlot+guard.next)
	guard.next = 1 - guard.next
	return err
}

func stopGuard() {
	for _, f := range append(guard.slots[:], guard.in) {
		_ = f.Close()
	}
	guard.in = nil
}

// startGuard starts the guard in its own session, so that it survives when pawl's group is killed.
func startGuard() error {
	out, in, err := os.Pipe()
	if err != nil {
		return err
	}
	defer out.Close()
	guard.in = in
	for i := range guard.slots {
		fd, err := unix.MemfdCreate("pawl-guard", unix.MFD_CLOEXEC)
		if err != nil {
			stopGuard()
			return err
		}
		guard.slots[i] = os.NewFile(uintptr(fd), "pawl-guard")
	}
	cmd := exec.Command("/bin/sh", "-c", guardScript) //nolint:noctx // it has to outlive pawl
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.ExtraFiles = "/", []string{"PATH=/usr/bin:/bin"}, out, guard.slots[:]
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := shell.Start(cmd); err != nil {
		stopGuard()
		return err
	}
	go func() { _ = shell.Wait(cmd) }()
	return nil
}
