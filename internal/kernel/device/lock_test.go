package device

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/goatnote-inc/pawl/gpu"
)

func TestOneAtATime(t *testing.T) {
	dev, dir := newFakeGPU(), t.TempDir()
	first := acquire(t, dev, dir)
	_, err := Acquire(t.Context(), dev, LockOptions{Dir: dir})
	held, ok := errors.AsType[*HeldError](err)
	if !ok || held.Holder.PID != os.Getpid() || held.Holder.Command != "test" || held.Device != "Fake GPU" {
		t.Fatalf("error %v, want a HeldError that names this process", err)
	}
	if err := first.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := acquire(t, dev, dir).Release(t.Context()); err != nil {
		t.Error(err)
	}
}

// Slices share clocks and power: two of one card exclude each other, two cards do not.
func TestSlicesLockTheirCard(t *testing.T) {
	dir := t.TempDir()
	slice := func(uuid, parent string) Device {
		d := newFakeGPU()
		d.id.UUID, d.id.Parent = uuid, parent
		return d
	}
	acquire(t, slice("MIG-1", "GPU-a"), dir)
	acquire(t, slice("MIG-1", "GPU-b"), dir)
	if _, err := Acquire(t.Context(), slice("MIG-2", "GPU-a"), LockOptions{Dir: dir}); err == nil {
		t.Error("two slices of one card were leased at once")
	}
}

func TestWaitGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dev, dir := newFakeGPU(), t.TempDir()
		acquire(t, dev, dir)
		var told []Holder
		began := time.Now()
		_, err := Acquire(t.Context(), dev, LockOptions{Dir: dir, Wait: 5 * time.Minute, OnWait: func(h Holder) { told = append(told, h) }})
		held, ok := errors.AsType[*HeldError](err)
		if !ok || held.Waited != 5*time.Minute || !strings.Contains(err.Error(), "after waiting 5m0s") {
			t.Errorf("error %v", err)
		}
		if waited := time.Since(began); waited != 5*time.Minute {
			t.Errorf("waited %v, want five minutes", waited)
		}
		if len(told) != 1 || told[0].PID != os.Getpid() {
			t.Errorf("told of %v, want once of this process", told)
		}
	})
}

func TestWaitSucceeds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dev, dir := newFakeGPU(), t.TempDir()
		first := acquire(t, dev, dir)
		time.AfterFunc(10*time.Minute, func() { _ = first.Release(context.Background()) })
		began := time.Now()
		l, err := Acquire(t.Context(), dev, LockOptions{Dir: dir, Wait: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		if waited := time.Since(began); waited < 10*time.Minute || waited > 10*time.Minute+time.Second {
			t.Errorf("waited %v, want ten minutes", waited)
		}
		if err := l.Release(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestWaitIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dev, dir := newFakeGPU(), t.TempDir()
		acquire(t, dev, dir)
		stop := errors.New("the user had enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Minute, func() { cancel(stop) })
		_, err := Acquire(ctx, dev, LockOptions{Dir: dir, Wait: time.Hour})
		if !errors.Is(err, stop) || !strings.Contains(err.Error(), "in use by process") {
			t.Errorf("error %v", err)
		}
	})
}

// A file that is removed and made anew while we wait is another lock: having the
// old one means nothing.
func TestWaitSeesAReplacedFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dev, dir := newFakeGPU(), t.TempDir()
		first := acquire(t, dev, dir)
		time.AfterFunc(time.Minute, func() {
			if err := os.Remove(filepath.Join(dir, "GPU-fake.lock")); err != nil {
				t.Error(err)
			}
			second := acquire(t, dev, dir)
			_ = first.Release(context.Background())
			time.AfterFunc(time.Minute, func() { _ = second.Release(context.Background()) })
		})
		began := time.Now()
		l, err := Acquire(t.Context(), dev, LockOptions{Dir: dir, Wait: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		if waited := time.Since(began); waited < 2*time.Minute {
			t.Errorf("got the lock after %v, while the second holder had it", waited)
		}
		if err := l.Release(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// What another user put in the lock's place is refused, and not written to.
func TestLockFileThatCannotBeTrusted(t *testing.T) {
	tests := []struct {
		name string
		make func(path, precious string) error
	}{
		{"a symbolic link", func(path, precious string) error { return os.Symlink(precious, path) }},
		{"a symbolic link inside the folder", func(path, _ string) error {
			other := filepath.Join(filepath.Dir(path), "GPU-other.lock")
			return errors.Join(os.WriteFile(other, nil, 0o666), os.Symlink("GPU-other.lock", path))
		}},
		{"a dangling link", func(path, precious string) error { return os.Symlink(precious+".none", path) }},
		{"a dangling link inside the folder", func(path, _ string) error { return os.Symlink("nothing", path) }},
		{"a second name of another file", func(path, precious string) error { return os.Link(precious, path) }},
		{"a pipe", func(path, _ string) error { return syscall.Mkfifo(path, 0o666) }},
		{"a folder", func(path, _ string) error { return os.Mkdir(path, 0o777) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			top := t.TempDir()
			dir, precious := filepath.Join(top, "locks"), filepath.Join(top, "precious")
			if err := errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(precious, []byte("keep"), 0o644)); err != nil {
				t.Fatal(err)
			}
			if err := tt.make(filepath.Join(dir, "GPU-fake.lock"), precious); err != nil {
				t.Fatal(err)
			}
			if _, err := Acquire(t.Context(), newFakeGPU(), LockOptions{Dir: dir}); err == nil {
				t.Error("the lock was taken")
			}
			if b, err := os.ReadFile(precious); err != nil || string(b) != "keep" {
				t.Errorf("the other file now holds %q, %v", b, err)
			}
			if _, err := os.Lstat(precious + ".none"); err == nil {
				t.Error("a file was made through the link")
			}
		})
	}
}

func TestLockFolder(t *testing.T) {
	t.Run("is made for all users", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "a", "b")
		defer syscall.Umask(syscall.Umask(0o077))
		acquire(t, newFakeGPU(), dir)
		for path, want := range map[string]os.FileMode{
			dir: os.ModeDir | os.ModeSticky | 0o777, filepath.Join(dir, "GPU-fake.lock"): 0o666,
		} {
			if info, err := os.Stat(path); err != nil || info.Mode() != want {
				t.Errorf("%s has mode %v (%v), want %v", path, info.Mode(), err, want)
			}
		}
	})
	t.Run("is not changed if it was there", func(t *testing.T) {
		dir := t.TempDir()
		before, err := os.Stat(dir)
		if err != nil {
			t.Fatal(err)
		}
		acquire(t, newFakeGPU(), dir)
		if after, err := os.Stat(dir); err != nil || after.Mode() != before.Mode() {
			t.Errorf("mode %v became %v (%v)", before.Mode(), after.Mode(), err)
		}
	})
	t.Run("must not be a symbolic link", func(t *testing.T) {
		link := filepath.Join(t.TempDir(), "link")
		if err := os.Symlink(t.TempDir(), link); err != nil {
			t.Fatal(err)
		}
		_, err := Acquire(t.Context(), newFakeGPU(), LockOptions{Dir: link})
		if err == nil || !strings.Contains(err.Error(), "symbolic link") || !strings.Contains(err.Error(), LockDirVar) {
			t.Errorf("error %v, want one that says why and what to do", err)
		}
	})
	t.Run("comes from the environment", func(t *testing.T) {
		dir := t.TempDir()
		t.Setenv(LockDirVar, dir)
		acquire(t, newFakeGPU(), "")
		if _, err := os.Stat(filepath.Join(dir, "GPU-fake.lock")); err != nil {
			t.Error(err)
		}
	})
	t.Run("falls back, and says so", func(t *testing.T) {
		t.Setenv(LockDirVar, "")
		file := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(file, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		defer func(dirs []string) { defaultLockDirs = dirs }(defaultLockDirs)
		defaultLockDirs = []string{filepath.Join(file, "locks"), filepath.Join(t.TempDir(), "locks")}
		l := acquire(t, newFakeGPU(), "")
		if n := l.Notices(); len(n) != 1 || n[0].Code != "lock_folder" || !strings.Contains(n[0].Message, defaultLockDirs[1]) {
			t.Errorf("notices %v", n)
		}
		defaultLockDirs = defaultLockDirs[:1]
		if _, err := Acquire(t.Context(), newFakeGPU(), LockOptions{}); err == nil || !strings.Contains(err.Error(), LockDirVar) {
			t.Errorf("without any folder: %v", err)
		}
	})
}

func TestFileName(t *testing.T) {
	for in, want := range map[string]string{
		"GPU-1234": "GPU-1234", "cpu": "cpu", "../../etc/passwd": "______etc_passwd", "a\x00b/c": "a_b_c", strings.Repeat("x", 300): strings.Repeat("x", 100),
	} {
		if got := fileName(in); got != want {
			t.Errorf("fileName(%q) = %q, want %q", in, got, want)
		}
	}
	if got := fileName(gpu.Identity{Kind: gpu.CPU}.LockName()); got != "cpu" {
		t.Errorf("the host locks %q", got)
	}
}

func TestHolderString(t *testing.T) {
	since := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		holder Holder
		want   string
	}{
		{Holder{}, "another process"},
		{Holder{PID: 7}, "process 7"},
		{Holder{PID: 7, User: "ada", Command: "pawl bench", Host: "gpu1", Since: since}, "process 7 (pawl bench) of ada on gpu1 since 2026-11-01T12:00:00Z"},
	} {
		if got := tt.holder.String(); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

// Any user may write the lock file; what it says must be safe to print.
func FuzzDecodeHolder(f *testing.F) {
	f.Add([]byte(`{"pid":7,"user":"ada","command":"pawl bench","host":"h","since":"2026-11-01T12:00:00Z"}`))
	f.Add([]byte(`{"pid":7,"command":"\u001b]0;pwned\u0007\n\u202e"}`))
	f.Add([]byte(`{"pid":-1}`))
	f.Add([]byte("\x00\xff{"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, r := range decodeHolder(b).String() {
			if r < ' ' || r == 0x7f || r == 0x1b || r == 0x202e {
				t.Fatalf("%q prints %q", b, decodeHolder(b))
			}
		}
	})
}
