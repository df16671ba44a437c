package device

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goatnote-inc/pawl/gpu"
)

func noteExists(tb testing.TB, dir string) bool {
	tb.Helper()
	_, err := os.Stat(filepath.Join(dir, "GPU-fake.restore"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		tb.Fatal(err)
	}
	return err == nil
}

func TestSetClocksAndRelease(t *testing.T) {
	dev, dir := newFakeGPU(), t.TempDir()
	l := acquire(t, dev, dir)
	notices, err := l.SetClocks(t.Context(), base, true)
	if err != nil || len(notices) != 0 {
		t.Fatalf("SetClocks: %v, %v", notices, err)
	}
	if dev.locked != "base" || dev.state.Persistence != "on" || l.Clocks() != base || !noteExists(t, dir) {
		t.Errorf("locked %q, persistence %q, clocks %v, note %v", dev.locked, dev.state.Persistence, l.Clocks(), noteExists(t, dir))
	}
	for range 2 { // Release may be called again
		if err := l.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if dev.locked != "" || dev.state.Persistence != "off" || l.Clocks() != free || noteExists(t, dir) {
		t.Errorf("after release: locked %q, persistence %q, clocks %v, note %v", dev.locked, dev.state.Persistence, l.Clocks(), noteExists(t, dir))
	}
	if _, err := l.SetClocks(t.Context(), base, false); !errors.Is(err, errReleased) {
		t.Errorf("SetClocks after Release: %v", err)
	}
}

// Persistence that was on stays on; a policy of free touches nothing.
func TestSetClocksChangesNothingNeedlessly(t *testing.T) {
	dev, dir := newFakeGPU(), t.TempDir()
	dev.state.Persistence = "on"
	dev.denied = true // any setter would be noticed
	l := acquire(t, dev, dir)
	notices, err := l.SetClocks(t.Context(), free, true)
	if err != nil || len(notices) != 0 || noteExists(t, dir) {
		t.Errorf("notices %v, error %v, note %v", notices, err, noteExists(t, dir))
	}
	if err := l.Release(t.Context()); err != nil {
		t.Error(err)
	}
}

// The first of two changes knows what the device was before.
func TestSetClocksTwice(t *testing.T) {
	dev, dir := newFakeGPU(), t.TempDir()
	l := acquire(t, dev, dir)
	for _, p := range []gpu.ClockPolicy{base, fixed, free, base} {
		if _, err := l.SetClocks(t.Context(), p, true); err != nil {
			t.Fatal(err)
		}
		if want := strings.TrimPrefix(p.String(), "free"); dev.locked != want || l.Clocks() != p {
			t.Errorf("%v: locked to %q, clocks %v", p, dev.locked, l.Clocks())
		}
	}
	if err := l.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if dev.locked != "" || dev.state.Persistence != "off" {
		t.Errorf("after release: locked %q, persistence %q", dev.locked, dev.state.Persistence)
	}
}

func TestSetClocksDenied(t *testing.T) {
	dev, dir := newFakeGPU(), t.TempDir()
	dev.denied = true
	l := acquire(t, dev, dir)
	notices, err := l.SetClocks(t.Context(), fixed, true)
	if err != nil {
		t.Fatal(err)
	}
	want := []Notice{
		{
			Code: "persistence_denied", Message: "no permission to set persistence on Fake GPU; persistence mode stays off",
			Fix: "run pawl as root, or set it as root before the run: sudo nvidia-smi -i GPU-fake -pm 1",
		},
		{
			Code: "clocks_denied", Message: "no permission to set clocks on Fake GPU; measuring with free clocks",
			Fix: "run pawl as root, or set it as root before the run: sudo nvidia-smi -i GPU-fake -lgc 1500,1500",
		},
	}
	if diff := cmp.Diff(want, notices); diff != "" {
		t.Errorf("notices (-want +got):\n%s", diff)
	}
	if l.Clocks() != free || noteExists(t, dir) {
		t.Errorf("clocks %v, note %v: want free clocks and nothing to undo", l.Clocks(), noteExists(t, dir))
	}
	if err := l.Release(t.Context()); err != nil {
		t.Errorf("releasing what was never changed: %v", err)
	}
}

// One reading that fails, say of the power draw, does not keep clocks from being set.
func TestSetClocksWithAPartialState(t *testing.T) {
	dev := newFakeGPU()
	dev.stateErr = errors.New("no power reading")
	l := acquire(t, dev, t.TempDir())
	if notices, err := l.SetClocks(t.Context(), base, true); err != nil || len(notices) != 0 || dev.locked != "base" {
		t.Errorf("notices %v, error %v, locked %q", notices, err, dev.locked)
	}
	dev.state = gpu.State{}
	if _, err := l.SetClocks(t.Context(), base, true); !errors.Is(err, dev.stateErr) {
		t.Errorf("without any state: %v", err)
	}
}

func TestSetClocksOnTheHost(t *testing.T) {
	l := acquire(t, fakeHost{}, t.TempDir())
	notices, err := l.SetClocks(t.Context(), base, true)
	if err != nil || !cmp.Equal(codes(notices), []string{"clocks_unsupported"}) || l.Clocks() != free {
		t.Errorf("notices %v, error %v, clocks %v", notices, err, l.Clocks())
	}
	if notices, err := l.SetClocks(t.Context(), free, true); err != nil || notices != nil {
		t.Errorf("free clocks: notices %v, error %v", notices, err)
	}
	if err := l.Release(t.Context()); err != nil {
		t.Error(err)
	}
}

// Nobody can read which clocks were locked before, so the user is told.
func TestSetClocksOverAnotherLock(t *testing.T) {
	dev := newFakeGPU()
	dev.state.Reasons = gpu.ClocksSetting
	l := acquire(t, dev, t.TempDir())
	notices, err := l.SetClocks(t.Context(), base, false)
	if err != nil || !cmp.Equal(codes(notices), []string{"clocks_were_set"}) {
		t.Errorf("notices %v, error %v", notices, err)
	}
	if err := l.Release(t.Context()); err != nil {
		t.Error(err)
	}
}

// An interrupted run undoes all the same.
func TestReleaseAfterCancel(t *testing.T) {
	dev := newFakeGPU()
	ctx, cancel := context.WithCancel(t.Context())
	l := acquire(t, dev, t.TempDir())
	if _, err := l.SetClocks(ctx, base, true); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := l.Release(ctx); err != nil || dev.locked != "" {
		t.Errorf("error %v, locked %q", err, dev.locked)
	}
}

// crash ends a lease as a killed process would: the lock goes, the rest stays.
func crash(l *Lease) {
	l.lock.close()
	l.lock = nil
}

func TestAcquireUndoesWhatACrashLeft(t *testing.T) {
	dev, dir := newFakeGPU(), t.TempDir()
	l := acquire(t, dev, dir)
	if _, err := l.SetClocks(t.Context(), base, true); err != nil {
		t.Fatal(err)
	}
	crash(l)
	l = acquire(t, dev, dir)
	if dev.locked != "" || dev.state.Persistence != "off" || noteExists(t, dir) {
		t.Errorf("locked %q, persistence %q, note %v", dev.locked, dev.state.Persistence, noteExists(t, dir))
	}
	if got := l.Notices(); len(got) != 1 || got[0].Code != "restored" ||
		!strings.Contains(got[0].Message, "(test)") || !strings.Contains(got[0].Message, "free clocks, persistence mode off") {
		t.Errorf("notices %v", got)
	}
	if err := l.Release(t.Context()); err != nil {
		t.Error(err)
	}
	if n := acquire(t, dev, dir).Notices(); len(n) != 0 {
		t.Errorf("a second Acquire tells again: %v", n)
	}
}

// Someone who may not undo is told, changes nothing, and leaves the note for one who may.
func TestLeftoverThatCannotBeUndone(t *testing.T) {
	dev, dir := newFakeGPU(), t.TempDir()
	l := acquire(t, dev, dir)
	if _, err := l.SetClocks(t.Context(), base, true); err != nil {
		t.Fatal(err)
	}
	crash(l)
	dev.denied = true
	l = acquire(t, dev, dir)
	if !cmp.Equal(codes(l.Notices()), []string{"restore_failed"}) {
		t.Errorf("notices %v", l.Notices())
	}
	notices, err := l.SetClocks(t.Context(), fixed, true)
	if err != nil || !cmp.Equal(codes(notices), []string{"clocks_denied"}) {
		t.Errorf("SetClocks: %v, %v", notices, err)
	}
	if err := l.Release(t.Context()); err != nil || !noteExists(t, dir) {
		t.Errorf("Release: %v, note %v", err, noteExists(t, dir))
	}
	dev.denied = false
	l = acquire(t, dev, dir)
	if dev.locked != "" || dev.state.Persistence != "off" || noteExists(t, dir) {
		t.Errorf("one who may: locked %q, persistence %q, note %v", dev.locked, dev.state.Persistence, noteExists(t, dir))
	}
	if err := l.Release(t.Context()); err != nil {
		t.Error(err)
	}
}

// After a reboot the driver has forgotten everything, and so must we.
func TestNoteOfAnEarlierBoot(t *testing.T) {
	if bootID() == "" {
		t.Skip("this machine does not tell its boot apart")
	}
	dev, dir := newFakeGPU(), t.TempDir()
	dev.denied = true
	note := `{"schema":"pawl.restore/v1","device":"GPU-fake","boot":"another","by":{"pid":1},"reset_clocks":true}`
	if err := os.WriteFile(filepath.Join(dir, "GPU-fake.restore"), []byte(note), 0o644); err != nil {
		t.Fatal(err)
	}
	if l := acquire(t, dev, dir); len(l.Notices()) != 0 || noteExists(t, dir) {
		t.Errorf("notices %v, note %v", l.Notices(), noteExists(t, dir))
	}
}

func TestNoteThatCannotBeTrusted(t *testing.T) {
	valid := `{"schema":"pawl.restore/v1","device":"GPU-fake","by":{"pid":1},"reset_clocks":true}`
	tests := []struct {
		name string
		make func(t *testing.T, path string) error
	}{
		{"not JSON", func(_ *testing.T, path string) error { return os.WriteFile(path, []byte("{"), 0o644) }},
		{"another schema", func(_ *testing.T, path string) error {
			return os.WriteFile(path, []byte(`{"schema":"pawl.restore/v9"}`), 0o644)
		}},
		{"too large", func(_ *testing.T, path string) error {
			return os.WriteFile(path, []byte(valid+strings.Repeat(" ", maxRestore)), 0o644)
		}},
		{"a symbolic link", func(t *testing.T, path string) error {
			t.Helper()
			note := filepath.Join(t.TempDir(), "note")
			return errors.Join(os.WriteFile(note, []byte(valid), 0o644), os.Symlink(note, path))
		}},
		{"a folder", func(_ *testing.T, path string) error { return os.Mkdir(path, 0o755) }},
		{"of another user", func(t *testing.T, path string) error {
			t.Helper()
			if os.Getuid() != 0 {
				t.Skip("only root can make a file of another user")
			}
			return errors.Join(os.WriteFile(path, []byte(valid), 0o644), os.Chown(path, 12345, 12345))
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dev, dir := newFakeGPU(), t.TempDir()
			dev.locked = "someone's"
			if err := tt.make(t, filepath.Join(dir, "GPU-fake.restore")); err != nil {
				t.Fatal(err)
			}
			l := acquire(t, dev, dir)
			if dev.locked != "someone's" {
				t.Error("the note was followed")
			}
			if !cmp.Equal(codes(l.Notices()), []string{"restore_unreadable"}) {
				t.Errorf("notices %v", l.Notices())
			}
			if err := l.Release(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// quickDir is a folder in memory where there is such: hundreds of notes are
// flushed to it, and a busy disk would make the test wait for minutes.
func quickDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "pawl-test") //nolint:usetesting // t.TempDir is on disk
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// Whatever happens between, a device that differs from what it was has a note on
// disk, and once a lease ends well on a willing device all is as before.
func TestAlwaysUndone(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir, dev := quickDir(t), newFakeGPU()
		persistence := rapid.SampledFrom([]string{"on", "off", ""}).Draw(rt, "persistence before")
		dev.state.Persistence = persistence
		changed := func() bool { return dev.locked != "" || dev.state.Persistence != persistence }
		var l *Lease
		take := func() {
			var err error
			if l, err = Acquire(t.Context(), dev, LockOptions{Dir: dir}); err != nil {
				rt.Fatal(err)
			}
		}
		take()
		for range rapid.IntRange(1, 8).Draw(rt, "steps") {
			dev.denied = rapid.Bool().Draw(rt, "denied")
			dev.failing = rapid.IntRange(0, 4).Draw(rt, "failing") == 0
			switch rapid.IntRange(0, 3).Draw(rt, "step") {
			case 0, 1:
				policy := rapid.SampledFrom([]gpu.ClockPolicy{base, free, fixed}).Draw(rt, "policy")
				_, _ = l.SetClocks(t.Context(), policy, rapid.Bool().Draw(rt, "persist"))
				if locked := dev.locked != ""; locked && !noteExists(t, dir) {
					rt.Fatal("clocks are locked and nothing says so")
				}
			case 2:
				err := l.Release(t.Context())
				if err == nil && !noteExists(t, dir) && changed() {
					rt.Fatal("released without a word and not undone")
				}
				take()
			case 3:
				crash(l)
				take()
			}
			if changed() && !noteExists(t, dir) {
				rt.Fatal("the device is changed and nothing says so")
			}
		}
		dev.denied, dev.failing = false, false
		crash(l)
		take()
		if err := l.Release(t.Context()); err != nil {
			rt.Fatal(err)
		}
		if changed() || noteExists(t, dir) {
			rt.Fatalf("at the end: locked %q, persistence %q, note %v", dev.locked, dev.state.Persistence, noteExists(t, dir))
		}
	})
}

func FuzzDecodeUndo(f *testing.F) {
	f.Add([]byte(`{"schema":"pawl.restore/v1","device":"GPU-1","boot":"b","by":{"pid":7,"user":"\u001b[31m"},"reset_clocks":true,"persistence":"off"}`))
	f.Add([]byte(`{"schema":"pawl.restore/v1","persistence":"maybe"}`))
	f.Add([]byte("null"))
	f.Fuzz(func(t *testing.T, b []byte) {
		u, err := decodeUndo(b)
		if (u == nil) == (err == nil) {
			t.Fatalf("undo %v, error %v", u, err)
		}
		if u != nil && u.Persistence != "" && u.Persistence != "on" && u.Persistence != "off" {
			t.Errorf("persistence %q", u.Persistence)
		}
	})
}
