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

	"github.com/goatnote-inc/pawl/internal/base/shell"
)

// guard is a process that kills the stopped processes if pawl is killed. A stopped process does not
// notice that its pipes are closed, and the kernel kills only direct children of pawl.
var guard struct {
	sync.Mutex
	in    *os.File
	trees map[*Tree]string // processes to kill, by tree
}

// guardScript acts on the last line it reads. Each word is PID:START of a process, or -PID of a group.
// If the start time differs, the PID now belongs to another process.
const guardScript = `set -f
last=
while IFS= read -r line; do last=$line; done
for p in $last; do
  case $p in -*) kill -9 -- "$p"; continue ;; esac
  stat=$(cat "/proc/${p%:*}/stat") || continue
  set -- ${stat##*) }
  [ "${20}" = "${p#*:}" ] && kill -9 "${p%:*}"
done`

// updateGuard sends the guard the processes of the tree, before they are stopped.
func (t *Tree) updateGuard() {
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
	if guard.trees[t] == line {
		return
	}
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
		if _, err := guard.in.WriteString(all + "\n"); err == nil {
			return
		}
		_ = guard.in.Close()
		guard.in = nil
	}
}

// startGuard starts the guard in its own session, so that it survives when pawl's group is killed.
func startGuard() error {
	out, in, err := os.Pipe()
	if err != nil {
		return err
	}
	cmd := exec.Command("/bin/sh", "-c", guardScript) //nolint:noctx // it has to outlive pawl
	cmd.Dir, cmd.Env, cmd.Stdin = "/", []string{"PATH=/usr/bin:/bin"}, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = shell.Start(cmd)
	_ = out.Close()
	if err != nil {
		_ = in.Close()
		return err
	}
	guard.in = in
	go func() { _ = shell.Wait(cmd) }()
	return nil
}
