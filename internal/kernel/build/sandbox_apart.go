package build

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Isolation isolates the processes of one harness from those of another: they see, stop and trace only
// each other. They see the machine as pawl does, with its devices and its network, but some folders
// are read-only for them. It uses bubblewrap.
type Isolation struct{ program string }

// isolatedCapabilities lists the capabilities that root keeps. Without the others, root can neither trace
// processes nor mount a folder so that it is writable.
var isolatedCapabilities = map[string]int{
	"CHOWN": unix.CAP_CHOWN, "DAC_OVERRIDE": unix.CAP_DAC_OVERRIDE, "FOWNER": unix.CAP_FOWNER, "FSETID": unix.CAP_FSETID,
	"SETGID": unix.CAP_SETGID, "SETUID": unix.CAP_SETUID, "KILL": unix.CAP_KILL, "IPC_LOCK": unix.CAP_IPC_LOCK,
	"NET_BIND_SERVICE": unix.CAP_NET_BIND_SERVICE, "SYS_NICE": unix.CAP_SYS_NICE, "SYS_RESOURCE": unix.CAP_SYS_RESOURCE,
}

// FindIsolation finds bubblewrap and checks that it can isolate processes on this machine.
func FindIsolation(ctx context.Context) (*Isolation, error) {
	program, err := findBubblewrap("isolate the sides")
	if err != nil {
		return nil, err
	}
	a := &Isolation{program}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, slices.Concat(a.view("/", nil, nil), []string{"--", "/bin/cat", "/proc/self/status"})...)
	cmd.Env = []string{}
	out, err := cmd.CombinedOutput()
	if err == nil && powerful(string(out)) {
		err = errors.New("its processes keep root privileges")
	}
	if err != nil {
		return nil, &SandboxError{
			What: "isolate the sides", Reason: "bubblewrap cannot do this here: " + firstLine(string(out), err),
			Fix: "allow it to create user and process namespaces: pawl doctor --fix shows how on this machine",
		}
	}
	makeDevices(ctx)
	return a, nil
}

// powerful reports whether a process with this /proc/PID/status could leave its namespaces or trace
// others. A status that cannot be parsed counts as powerful.
func powerful(status string) bool {
	_, after, _ := strings.Cut(status, "CapEff:")
	line, _, _ := strings.Cut(after, "\n")
	mask, err := strconv.ParseUint(strings.TrimSpace(line), 16, 64)
	return err != nil || mask&(1<<unix.CAP_SYS_ADMIN|1<<unix.CAP_SYS_PTRACE|1<<unix.CAP_DAC_READ_SEARCH|1<<unix.CAP_SYS_MODULE) != 0
}

// makeDevices creates the device files of CUDA. The CUDA runtime creates them on first use after a boot,
// with a program that needs root's rights, which isolated processes do not get.
func makeDevices(ctx context.Context) {
	if _, err := os.Stat("/proc/driver/nvidia"); err != nil {
		return
	}
	if _, err := os.Stat("/dev/nvidia-uvm"); err != nil {
		_ = exec.CommandContext(ctx, "nvidia-modprobe", "-u", "-c", "0").Run() // CUDA reports the error if this fails
	}
}

// Confine makes cmd run isolated. The folders in locked are read-only for it, except those in own. The
// caller must call started after cmd has started.
func (a *Isolation) Confine(cmd *exec.Cmd, own, locked []string) (started func(), err error) {
	dir, err := filepath.Abs(cmd.Dir)
	if err != nil {
		return nil, err
	}
	// The suite's variables must not reach bubblewrap itself, which could load a library through them.
	// They must not be on the command line either, which other users of the machine can see.
	args := a.view(dir, own, locked)
	for _, kv := range cmd.Env {
		name, value, _ := strings.Cut(kv, "=")
		args = append(args, "--setenv", name, value)
	}
	said, err := inMemory(strings.Join(args, "\x00") + "\x00")
	if err != nil {
		return nil, &SandboxError{What: "isolate the sides", Reason: "cannot set up the sandbox", Err: err}
	}
	cmd.Args = slices.Concat([]string{a.program, "--args", fmt.Sprint(3 + len(cmd.ExtraFiles)), "--"}, cmd.Args)
	cmd.ExtraFiles = append(cmd.ExtraFiles, said)
	cmd.Path, cmd.Dir, cmd.Env = a.program, "/", []string{}
	return func() { said.Close() }, nil
}

// view returns the bubblewrap options that set up the file system and the capabilities.
func (a *Isolation) view(dir string, own, locked []string) []string {
	args := []string{"--dev-bind", "/", "/", "--unshare-pid", "--proc", "/proc", "--die-with-parent"}
	if os.Geteuid() == 0 {
		args = append(args, "--cap-drop", "ALL")
		has := capabilities()
		for name, bit := range isolatedCapabilities {
			if has&(1<<bit) != 0 { // adding one that pawl lacks would leave it all of them
				args = append(args, "--cap-add", "CAP_"+name)
			}
		}
	}
	own, locked = resolved(own), resolved(locked)
	folders := slices.Concat(own, locked)
	slices.SortStableFunc(folders, func(a, b string) int { return len(a) - len(b) }) // a folder comes before the folders in it
	for _, f := range slices.Compact(folders) {
		how := "--ro-bind"
		if slices.Contains(own, f) {
			how = "--bind"
		}
		args = append(args, how, f, f)
	}
	return append(args, "--chdir", dir)
}

// resolved returns the real paths of folders that exist: bubblewrap cannot mount on a link.
func resolved(folders []string) []string {
	var list []string
	for _, f := range folders {
		if target, err := filepath.EvalSymlinks(f); err == nil && target != "/" {
			list = append(list, target)
		}
	}
	return list
}

// capabilities returns the effective capabilities of pawl.
func capabilities() uint64 {
	var data [2]unix.CapUserData
	_ = unix.Capget(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &data[0]) // none if it fails
	return uint64(data[1].Effective)<<32 | uint64(data[0].Effective)
}

// inMemory returns an in-memory file that contains text.
func inMemory(text string) (*os.File, error) {
	fd, err := unix.MemfdCreate("arguments", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "arguments")
	if _, err = bytes.NewBufferString(text).WriteTo(f); err == nil {
		_, err = f.Seek(0, 0)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
