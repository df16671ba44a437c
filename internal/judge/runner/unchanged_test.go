package runner

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/measure"
)

func TestUnchanged(t *testing.T) {
	dir := t.TempDir()
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "harness"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("first")
	first, err := build.Digests(dir, []string{"harness"})
	if err != nil {
		t.Fatal(err)
	}
	write("second")
	second, err := build.Digests(dir, []string{"harness"})
	if err != nil {
		t.Fatal(err)
	}
	built := func(name string, digest []measure.FileDigest) side {
		s := side{name: name, dir: dir}
		s.impl.Build.Outputs = digest
		return s
	}
	for _, c := range []struct {
		name  string
		sides []side
		want  string
	}{
		{"as it was built", []side{built("base", second)}, ""},
		{"built again in the same folder", []side{built("candidate", first), built("base", second)}, ""},
		{"written by another process", []side{built("base", first)}, "harness of the base changed since it was built"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := (&Setup{sides: c.sides}).unchanged(c.sides[0])
			if got := errorText(err); c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	for text, want := range map[string]string{"second": "", "third": "harness of pawl changed"} {
		write(text)
		r := &Setup{launchers: map[string]launcher{"host": {dir: dir, files: second}}}
		if got := errorText(r.unchanged(side{dir: t.TempDir()})); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("a launcher that is %q: got %q, want %q", text, got, want)
		}
	}
	if err := os.Remove(filepath.Join(dir, "harness")); err != nil {
		t.Fatal(err)
	}
	if err := (&Setup{sides: []side{built("base", second)}}).unchanged(built("base", second)); err == nil {
		t.Error("a file that is gone counts as unchanged")
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
