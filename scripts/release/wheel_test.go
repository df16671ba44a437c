package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPythonVersion(t *testing.T) {
	for version, want := range map[string]string{
		"0.1.0": "0.1.0", "1.2.3-rc.1": "1.2.3rc1", "1.2.3-beta2": "1.2.3b2", "1.2.3-alpha.3": "1.2.3a3",
		"": "", "1.2": "", "v1.2.3": "", "1.2.3-dev": "", "1.2.3-rc.1\n": "", "../1.2.3": "",
	} {
		if got, err := pythonVersion(version); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v, want %q", version, got, err, want)
		}
	}
}

// samplePackage returns the files of a wheel with a small program in place of pawl.
func samplePackage(t *testing.T, root string) []file {
	t.Helper()
	files, err := packageFiles(root)
	if err != nil {
		t.Fatal(err)
	}
	return append(files, file{name: "pawl_perf/bin/pawl", data: []byte("#!/bin/sh\necho pawl \"$@\"\n"), program: true})
}

func TestPack_SameBytesFromTwoFolders(t *testing.T) {
	root := filepath.Join("..", "..")
	other := t.TempDir()
	for _, source := range modules {
		data, err := os.ReadFile(filepath.Join(root, source))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Join(other, filepath.Dir(source)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(other, source), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	firstName, first, err := pack("9.8.7", platforms["amd64"], samplePackage(t, root))
	if err != nil {
		t.Fatal(err)
	}
	for range 5 { // the order of a map differs each time
		name, again, err := pack("9.8.7", platforms["amd64"], samplePackage(t, other))
		if err != nil {
			t.Fatal(err)
		}
		if name != firstName || !bytes.Equal(first, again) {
			t.Fatalf("two wheels differ: %s with %d bytes, %s with %d", firstName, len(first), name, len(again))
		}
	}
	if want := "pawl_perf-9.8.7-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.whl"; firstName != want {
		t.Errorf("the wheel is called %s, want %s", firstName, want)
	}
}

func TestPack_RecordsEveryFile(t *testing.T) {
	_, data, err := pack("1.0.0-rc.1", []string{"linux_x86_64"}, samplePackage(t, filepath.Join("..", "..")))
	if err != nil {
		t.Fatal(err)
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	const info = "pawl_perf-1.0.0rc1.dist-info/"
	var names, lines []string
	contents := map[string]string{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		names, contents[f.Name] = append(names, f.Name), string(text)
		if f.Name != info+"RECORD" {
			lines = append(lines, fmt.Sprintf("%s,sha256=%s,%d", f.Name, digest(text), len(text)))
		}
		if program := f.Mode()&0o111 != 0; program != (f.Name == "pawl_perf/bin/pawl") {
			t.Errorf("%s has the mode %v", f.Name, f.Mode())
		}
	}
	want := []string{
		"pawl_perf/__init__.py", "pawl_perf/__main__.py", "pawl_perf/bin/pawl", "pawl_perf/harness.py", "pawl_perf/oracle.py", "pawl_perf/py.typed",
		"pawl_perf/pytest_judge.py", "pawl_perf/pytest_plugin.py", "pawl_perf/record.py", "pawl_perf/submit.py",
		info + "LICENSE", info + "METADATA", info + "WHEEL", info + "entry_points.txt", info + "RECORD",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	lines = append(lines, info+"RECORD,,")
	if diff := cmp.Diff(strings.Join(lines, "\n")+"\n", contents[info+"RECORD"]); diff != "" {
		t.Errorf("RECORD (-want +got):\n%s", diff)
	}
	if text := contents[info+"METADATA"]; !strings.Contains(text, "\nName: pawl-perf\nVersion: 1.0.0rc1\n") {
		t.Errorf("METADATA:\n%s", text)
	}
	if text := contents[info+"WHEEL"]; !strings.Contains(text, "\nTag: py3-none-linux_x86_64\n") {
		t.Errorf("WHEEL:\n%s", text)
	}
}

// What is beside the listed modules in the folder of the package would be missing in a wheel.
func TestModules_AreAllThereAre(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("..", "..", "sdk", "python", "pawl_perf", "*"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no package: %v", err)
	}
	for _, path := range paths {
		if name := filepath.Base(path); name != "__pycache__" && modules["pawl_perf/"+name] == "" {
			t.Errorf("%s is not in a wheel: add it to modules", path)
		}
	}
}

func TestCheckLibraries(t *testing.T) {
	if err := checkLibraries("pack.go"); err == nil {
		t.Error("a source file passes for a binary")
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := checkLibraries(program); err != nil && !strings.Contains(err.Error(), "glibc") && !strings.Contains(err.Error(), "manylinux") {
		t.Errorf("this test: %v", err)
	}
}
