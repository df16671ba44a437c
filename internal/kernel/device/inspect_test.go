package device

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func inspect(t *testing.T, dev Device, dir string) LockStatus {
	t.Helper()
	s, err := Inspect(dev, LockOptions{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestInspectAFreeDevice(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "locks")
	want := LockStatus{Dir: dir}
	if diff := cmp.Diff(want, inspect(t, newFakeGPU(), dir)); diff != "" {
		t.Error(diff)
	}
}

func TestInspectTellsTheHolderAndLeavesItAlone(t *testing.T) {
	dev, dir := newFakeGPU(), t.TempDir()
	l := acquire(t, dev, dir)
	if _, err := l.SetClocks(t.Context(), base, false); err != nil {
		t.Fatal(err)
	}
	s := inspect(t, dev, dir)
	if s.Holder == nil || s.Holder.PID != os.Getpid() || s.Holder.Command != "test" {
		t.Errorf("holder %+v", s.Holder)
	}
	if s.Leftover != "" || dev.locked == "" {
		t.Errorf("leftover %q, locked %q: the note is that of a run under way", s.Leftover, dev.locked)
	}
	if err := l.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := inspect(t, dev, dir); s.Holder != nil {
		t.Errorf("a holder who has gone: %v", s.Holder)
	}
}

// Looking changes nothing: what a crash left is for Acquire to undo.
func TestInspectTellsWhatACrashLeft(t *testing.T) {
	dev, dir := newFakeGPU(), t.TempDir()
	l := acquire(t, dev, dir)
	if _, err := l.SetClocks(t.Context(), base, true); err != nil {
		t.Fatal(err)
	}
	crash(l)
	s := inspect(t, dev, dir)
	for _, want := range []string{"(test)", "Fake GPU", "free clocks, persistence mode off"} {
		if !strings.Contains(s.Leftover, want) {
			t.Errorf("leftover %q does not tell %q", s.Leftover, want)
		}
	}
	if s.Holder != nil || dev.locked == "" || !noteExists(t, dir) {
		t.Errorf("holder %v, locked %q, note %v", s.Holder, dev.locked, noteExists(t, dir))
	}
}

func TestInspectNotes(t *testing.T) {
	tests := []struct {
		name, note string
		leftover   bool
		codes      []string
	}{
		{"damaged", "{", false, []string{"restore_unreadable"}},
		{"nothing to undo", `{"schema":"pawl.restore/v1","device":"GPU-fake"}`, false, nil},
		{"something to undo", `{"schema":"pawl.restore/v1","device":"GPU-fake","reset_clocks":true}`, true, nil},
	}
	if bootID() != "" {
		tests = append(tests, struct {
			name, note string
			leftover   bool
			codes      []string
		}{"of an earlier boot", `{"schema":"pawl.restore/v1","device":"GPU-fake","boot":"another","reset_clocks":true}`, false, nil})
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "GPU-fake.restore"), []byte(tt.note), 0o644); err != nil {
				t.Fatal(err)
			}
			s := inspect(t, newFakeGPU(), dir)
			if (s.Leftover != "") != tt.leftover || !cmp.Equal(codes(s.Notices), tt.codes) {
				t.Errorf("leftover %q, notices %v", s.Leftover, s.Notices)
			}
		})
	}
}

func TestInspectWithoutAFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := Inspect(newFakeGPU(), LockOptions{Dir: file})
	if err == nil || !strings.Contains(err.Error(), LockDirVar) {
		t.Errorf("error %v, want one that names %s", err, LockDirVar)
	}
}
