//go:build unix

package adapter

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// nvbenchAt writes an NVBench result with one state of two samples that names
// its samples so.
func nvbenchAt(t *testing.T, path, sidecar string) {
	t.Helper()
	doc := `{"benchmarks":[{"name":"k","states":[{"axis_values":null,"summaries":[
		{"tag":"nv/cold/sample_size","data":[{"name":"value","type":"int64","value":"2"}]},
		{"tag":"nv/cold/time/gpu/mean","data":[{"name":"value","type":"float64","value":"1e-6"}]},
		{"tag":"nv/json/bin:nv/cold/sample_times","data":[
			{"name":"filename","type":"string","value":"` + sidecar + `"},{"name":"size","type":"int64","value":"2"}]}]}]}]}`
	write(t, path, []byte(doc))
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestSidecarPlaces is where a file of samples is found, and where it is not.
func TestSidecarPlaces(t *testing.T) {
	tests := []struct {
		name, json, sidecar, at, root string
		found                         bool
	}{
		{name: "beside the JSON", json: "out/r.json", sidecar: "r.json-bin/0.bin", at: "out/r.json-bin/0.bin", found: true},
		{name: "from the folder above", json: "out/r.json", sidecar: "out/r.json-bin/0.bin", at: "out/r.json-bin/0.bin", found: true},
		{name: "from any folder above", json: "a/b/r.json", sidecar: "x/a/b/r.json-bin/0.bin", at: "a/b/r.json-bin/0.bin", found: true},
		{name: "from a sister folder", json: "out/r.json", sidecar: "../out/r.json-bin/0.bin", at: "out/r.json-bin/0.bin", found: true},
		{name: "absolute and moved", json: "out/r.json", sidecar: "/home/u/r.json-bin/0.bin", at: "out/r.json-bin/0.bin", found: true},
		{name: "written on Windows", json: "out/r.json", sidecar: `r.json-bin\\0.bin`, at: "out/r.json-bin/0.bin", found: true},
		{name: "below a given root", json: "out/r.json", sidecar: "tmp/r.json-bin/0.bin", at: "tmp/r.json-bin/0.bin", root: ".", found: true},
		{name: "outside the JSON's folder", json: "out/r.json", sidecar: "tmp/r.json-bin/0.bin", at: "tmp/r.json-bin/0.bin"},
		{name: "above the JSON's folder", json: "out/r.json", sidecar: "../secret/0.bin", at: "secret/0.bin"},
		{name: "above a given root", json: "out/r.json", sidecar: "../secret/0.bin", at: "secret/0.bin", root: "out"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			nvbenchAt(t, filepath.Join(dir, tt.json), tt.sidecar)
			write(t, filepath.Join(dir, tt.at), twoFloats)
			root := ""
			if tt.root != "" {
				root = filepath.Join(dir, tt.root)
			}
			run, err := ReadFile(t.Context(), filepath.Join(dir, tt.json), root, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if c := run.Cases[0]; c.NoSamples == tt.found || (tt.found && len(c.Rounds[0].Samples) != 2) {
				t.Errorf("found = %v, want %v (warnings %+v)", !c.NoSamples, tt.found, run.Warnings)
			}
		})
	}
}

// TestSidecarTricks gives something else than a file of samples.
func TestSidecarTricks(t *testing.T) {
	tests := map[string]func(t *testing.T, path, outside string) error{
		"a link out of the folder": func(_ *testing.T, path, outside string) error { return os.Symlink(outside, path) },
		"a link to itself":         func(_ *testing.T, path, _ string) error { return os.Symlink("0.bin", path) },
		"a pipe that nobody fills": func(_ *testing.T, path, _ string) error { return syscall.Mkfifo(path, 0o644) },
		"a folder":                 func(_ *testing.T, path, _ string) error { return os.Mkdir(path, 0o755) },
	}
	for name, make := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			outside := filepath.Join(dir, "secret")
			write(t, outside, twoFloats)
			nvbenchAt(t, filepath.Join(dir, "out/r.json"), "r.json-bin/0.bin")
			if err := os.Mkdir(filepath.Join(dir, "out/r.json-bin"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := make(t, filepath.Join(dir, "out/r.json-bin/0.bin"), outside); err != nil {
				t.Fatal(err)
			}
			run, err := ReadFile(t.Context(), filepath.Join(dir, "out/r.json"), "", Options{})
			if err != nil {
				t.Fatal(err)
			}
			if !run.Cases[0].NoSamples || run.Warnings[0].Code != warnSidecar {
				t.Errorf("it was read as samples: %+v, warnings %+v", run.Cases[0], run.Warnings)
			}
		})
	}
}

// TestUserMayNameALinkOrAPipe says that only what files name is confined.
func TestUserMayNameALinkOrAPipe(t *testing.T) {
	dir := t.TempDir()
	nvbenchAt(t, filepath.Join(dir, "runs/5/r.json"), "r.json-bin/0.bin")
	write(t, filepath.Join(dir, "runs/5/r.json-bin/0.bin"), twoFloats)
	link := filepath.Join(dir, "latest.json")
	if err := os.Symlink("runs/5/r.json", link); err != nil {
		t.Fatal(err)
	}
	run, err := ReadFile(t.Context(), link, "", Options{})
	if err != nil || run.Cases[0].NoSamples {
		t.Errorf("link: %v, %+v", err, run)
	}

	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o644); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- os.WriteFile(pipe, []byte("BenchmarkX 1 5 ns/op\n"), 0) }()
	run, err = ReadFile(t.Context(), pipe, "", Options{})
	if err != nil || run.Format != "go" {
		t.Errorf("pipe: %v, %+v", err, run)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestRootMustHoldTheFile(t *testing.T) {
	_, err := ReadFile(t.Context(), "testdata/go/units.txt", "testdata/nvbench", Options{})
	if err == nil || !strings.Contains(err.Error(), "not below the root") {
		t.Errorf("error = %v", err)
	}
	if _, err := ReadFile(t.Context(), "testdata/no_such_file", "", Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error = %v, want not exist", err)
	}
}

// TestSidecarBudget names one file often: what is read in all is bounded.
func TestSidecarBudget(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "0.bin"), twoFloats)
	in := &input{path: "r.json", files: os.DirFS(dir), limits: standard, ctx: t.Context()}
	r := sidecarReader{in: in, left: 3 * 8}
	s := &nvSummary{Data: []nvNamed{{Name: "filename", Value: "0.bin"}, {Name: "size", Value: "2"}}}
	for i := range 4 {
		got, err := r.read(s)
		if (err == nil) != (i < 3) {
			t.Errorf("read %d: %v, %v", i, got, err)
		}
	}
	if _, err := r.read(s); err == nil || !strings.Contains(err.Error(), "import fewer states") {
		t.Errorf("error = %v", err)
	}
}
