package workflow

import (
	"os"
	"path/filepath"
	"testing"

	"go.yaml.in/yaml/v3"
)

func TestRendered(t *testing.T) {
	dir := os.Getenv("RENDER_TO")
	s := Default()
	s.Action, s.Install = "goatnote-inc/pawl@0123456789abcdef0123456789abcdef01234567", "installed"
	s.Folders = append(s.Folders, "examples/two")
	files, err := Render(s, "0.1.0")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		var v any
		if err := yaml.Unmarshal(f.Text, &v); err != nil {
			t.Errorf("%s: %v", f.Path, err)
		}
		if dir != "" {
			p := filepath.Join(dir, f.Path)
			os.MkdirAll(filepath.Dir(p), 0o755)
			os.WriteFile(p, f.Text, 0o644)
		}
	}
}
