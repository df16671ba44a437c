package runner

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLoaded(t *testing.T) {
	root := t.TempDir()
	base := filepath.Join(root, ".git", "pawl", "base")
	for _, dir := range []string{base, filepath.Join(root, ".venv", "bin"), filepath.Join(root, "env", "conda-meta")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, ".venv", "pyvenv.cfg"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r := &Setup{sides: []side{
		{name: "candidate", root: root},
		{name: "base", root: base},
		{name: "torch", root: root},
		{name: "loose"},
	}}
	for _, tt := range []struct {
		side    int
		file    string
		refused string // part of the error; empty if the file is taken
	}{
		{0, filepath.Join(root, "src/k.py"), ""},
		{0, filepath.Join(base, "src/k.py"), "belongs to the checkout of the base"},
		{1, filepath.Join(base, "src/k.py"), ""},
		{1, filepath.Join(root, "src/k.py"), "belongs to the working tree, not to the checkout of the base"},
		{1, filepath.Join(root, "build/libk.so"), "belongs to the working tree"},
		{1, "/usr/lib/libc.so.6", ""},
		{1, filepath.Join(root, ".venv/bin/python3"), ""},
		{1, filepath.Join(root, "env/lib/libcudart.so"), ""},
		{1, filepath.Join(root, "vendor/site-packages/torch/__init__.py"), ""},
		{2, filepath.Join(root, "ref.py"), ""},
		{2, filepath.Join(base, "ref.py"), "belongs to the checkout of the base, "},
	} {
		err := r.loaded(r.sides[tt.side])(tt.file)
		if (err != nil) != (tt.refused != "") || err != nil && !strings.Contains(err.Error(), tt.refused) {
			t.Errorf("%s loads %s: %v, want %q", r.sides[tt.side].name, tt.file, err, tt.refused)
		}
	}
	if r.loaded(r.sides[3]) != nil {
		t.Error("a side without a tree is watched")
	}
	want := map[string][]string{"candidate": {"src/k.py"}, "base": {"src/k.py"}, "torch": {"ref.py"}}
	if diff := cmp.Diff(want, r.loads.files); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
}
