package wake

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/shell"
)

// Runner runs the commands of wake.yaml. Untrusted input never reaches a command: it gets only the name
// of its host.
//
// A start or stop holds a lock that its processes inherit. If pawl wake is killed, they may continue;
// the lock shows the next pawl wake that they do.
type Runner struct{ Config *Config }

const maxOutput = 4096

// Move starts or stops a host. It returns the reason for a failure; empty means success.
func (r Runner) Move(ctx context.Context, hc *HostConfig, kind Kind) string {
	line := hc.Start
	if kind == Stop {
		line = hc.Stop
	}
	lock, err := os.OpenFile(r.lockFile(hc), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err.Error()
	}
	defer lock.Close()
	// A background process of an old command may hold the lock forever; then continue without it. A status
	// check holds it only for a moment.
	err = tryLock(lock)
	for try := 0; errors.Is(err, syscall.EWOULDBLOCK) && try < 50 && ctx.Err() == nil; try++ {
		time.Sleep(20 * time.Millisecond)
		err = tryLock(lock)
	}
	if err != nil && !errors.Is(err, syscall.EWOULDBLOCK) {
		return err.Error()
	}
	// The command's own background processes must not look like a running command.
	defer syscall.Flock(int(lock.Fd()), syscall.LOCK_UN) //nolint:errcheck // closing it comes next
	out, err := r.run(ctx, hc, line, lock)
	if err == nil {
		return ""
	}
	return strings.TrimSpace(err.Error() + "\n" + out.both.String())
}

// Ask runs the status command. busy reports whether a command of an earlier pawl wake still runs.
func (r Runner) Ask(ctx context.Context, hc *HostConfig) (power Power, why string, busy bool) {
	busy, err := r.busy(hc)
	if err != nil {
		return Unknown, err.Error(), false
	}
	out, err := r.run(ctx, hc, hc.Status, nil)
	if err != nil {
		return Unknown, strings.TrimSpace(err.Error() + "\n" + out.both.String()), busy
	}
	power = Power(strings.ToLower(strings.TrimSpace(out.out.String())))
	if !slices.Contains([]Power{On, Off, Starting, Stopping}, power) {
		return Unknown, fmt.Sprintf("the status command must print on, off, starting or stopping, got %q", power), busy
	}
	return power, "", busy
}

func (r Runner) busy(hc *HostConfig) (bool, error) {
	lock, err := os.OpenFile(r.lockFile(hc), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return false, err
	}
	defer lock.Close()
	err = tryLock(lock)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return true, nil
	}
	return false, err
}

func (r Runner) lockFile(hc *HostConfig) string {
	return r.Config.StateFile() + "." + hc.Name + ".lock"
}

// output is the kept part of what a command printed.
type output struct{ out, both kept }

func (r Runner) run(ctx context.Context, hc *HostConfig, line string, lock *os.File) (*output, error) {
	ctx, cancel := context.WithTimeout(ctx, hc.Timeout)
	defer cancel()
	cmd := shell.Command(ctx, line, r.Config.dir, []string{"PAWL_HOST=" + hc.Name})
	cmd.Env = r.withoutSecrets(cmd.Env)
	if lock != nil {
		cmd.ExtraFiles = []*os.File{lock}
	}
	var o output
	cmd.Stdout, cmd.Stderr = tee{&o.out, &o.both}, &o.both
	err := shell.Run(cmd)
	switch {
	case ctx.Err() != nil:
		return &o, fmt.Errorf("%q was stopped after %v", line, hc.Timeout)
	case errors.Is(err, exec.ErrWaitDelay):
		return &o, nil // it has ended; its background processes hold the output open
	case err != nil:
		return &o, fmt.Errorf("%q: %w", line, err)
	}
	return &o, nil
}

// withoutSecrets removes secrets from the environment of a command.
func (r Runner) withoutSecrets(env []string) []string {
	c := r.Config
	return slices.DeleteFunc(env, func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return name != "" && slices.Contains([]string{c.Secret.Env, c.Forge.Token.Env, c.Forge.App.Key.Env}, name) || c.private != nil && c.private(name)
	})
}

// kept holds the start of what is written to it. Both streams of a command write to it, and its
// background processes may still write while it is read.
type kept struct {
	mu   sync.Mutex
	text []byte
}

func (k *kept) Write(p []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.text = append(k.text, p[:min(len(p), maxOutput-len(k.text))]...)
	return len(p), nil
}

func (k *kept) String() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return string(k.text)
}

type tee struct{ a, b *kept }

func (t tee) Write(p []byte) (int, error) {
	_, _ = t.a.Write(p) // cannot fail
	return t.b.Write(p)
}
