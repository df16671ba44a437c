package build

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/goatnote-inc/pawl/internal/base/await"
)

func findApart(t *testing.T) *Isolation {
	t.Helper()
	a, err := FindIsolation(t.Context())
	if err != nil {
		t.Skip(err)
	}
	return a
}

// A process that is kept apart works as before in its own tree, and reaches neither the processes nor
// the files of others.
func TestApart(t *testing.T) {
	a := findApart(t)
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	own, other := filepath.Join(top, ".git", "pawl", "base"), filepath.Join(top, "locked")
	for _, dir := range []string{own, other} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	linked := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(other, linked); err != nil {
		t.Fatal(err)
	}
	foreign := exec.CommandContext(t.Context(), "sleep", "1000")
	if err := foreign.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = foreign.Process.Kill()
		_ = foreign.Wait()
	})
	for name, tt := range map[string]struct {
		line, want string
		fails      bool
	}{
		"works in its own folder":     {line: "pwd && echo x > file && cat file", want: own + "\nx"},
		"writes beside the trees":     {line: "f=$(mktemp) && echo x > $f && rm $f"},
		"has its variables":           {line: "echo $SECRET", want: "a b"},
		"shows none of them":          {line: "tr '\\0' ' ' < /proc/1/cmdline | grep -c \"$SECRET\" || true", want: "0"},
		"has its descriptors":         {line: "cat <&3", want: "hello"},
		"writes to another tree":      {line: "echo x > ../../../locked/file", fails: true},
		"writes to the tree above":    {line: "echo x > ../../../file", fails: true},
		"removes another tree":        {line: "rmdir ../../../locked", fails: true},
		"moves another tree":          {line: "mv ../../../locked ../../../else", fails: true},
		"mounts it anew":              {line: "mount -o remount,rw ../../..", fails: true},
		"sees another process":        {line: "ls /proc | grep -x " + fmt.Sprint(foreign.Process.Pid), fails: true},
		"stops another process":       {line: "kill -STOP " + fmt.Sprint(foreign.Process.Pid), fails: true},
		"enters the namespace of all": {line: "nsenter -t 1 -p -m true && ls /proc | grep -x " + fmt.Sprint(foreign.Process.Pid), fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			in, write, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			_, _ = write.WriteString("hello")
			write.Close()
			cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", tt.line)
			cmd.Dir, cmd.Env, cmd.ExtraFiles = own, append(os.Environ(), "SECRET=a b"), []*os.File{in}
			started, err := a.Confine(cmd, []string{own, filepath.Join(top, "not there")}, []string{top, linked})
			if err != nil {
				t.Fatal(err)
			}
			out, err := cmd.CombinedOutput()
			started()
			text := strings.TrimSpace(string(out))
			switch {
			case tt.fails && err == nil:
				t.Errorf("%s: it works:\n%s", tt.line, text)
			case !tt.fails && err != nil, tt.want != "" && text != tt.want:
				t.Errorf("%s: %v: %s, want %s", tt.line, err, text, tt.want)
			}
		})
	}
	if err := foreign.Process.Signal(syscall.Signal(0)); err != nil {
		t.Error("a process outside was ended")
	}
}

// When bubblewrap is killed, nothing of what it started is left.
func TestApartEnds(t *testing.T) {
	marker := fmt.Sprintf("apart-%d", os.Getpid())
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", "(setsid sh -c 'echo ready; sleep 1000; : "+marker+"' &) ; sleep 1000")
	cmd.Dir, cmd.Env = t.TempDir(), os.Environ()
	started, err := findApart(t).Confine(cmd, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	said, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	started()
	if _, err := said.Read(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	await.True(t, "nothing of it is left", func() bool {
		out, _ := exec.CommandContext(t.Context(), "pgrep", "-f", marker).Output()
		return len(out) == 0
	})
}

func TestNotApart(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := FindIsolation(t.Context())
	if e, ok := errors.AsType[*SandboxError](err); !ok || !strings.Contains(e.Error(), "isolate the sides") {
		t.Errorf("got %v, want how to get it", err)
	}
}

// What it costs to start a process apart.
func BenchmarkApart(b *testing.B) {
	a, err := FindIsolation(b.Context())
	if err != nil {
		b.Skip(err)
	}
	for name, apart := range map[string]bool{"apart": true, "not": false} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				cmd := exec.CommandContext(b.Context(), "/bin/true")
				cmd.Dir, cmd.Env = b.TempDir(), os.Environ()
				started := func() {}
				if apart {
					if started, err = a.Confine(cmd, nil, nil); err != nil {
						b.Fatal(err)
					}
				}
				if err := cmd.Run(); err != nil {
					b.Fatal(err)
				}
				started()
			}
		})
	}
}
