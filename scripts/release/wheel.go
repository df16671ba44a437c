package main

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// platforms are the tags of the wheel of an architecture: they say on which machines pip installs it. Its binary loads
// NVIDIA's library with the C library of the machine, see checkLibraries.
var platforms = map[string][]string{
	"amd64": {"manylinux_2_17_x86_64", "manylinux2014_x86_64"},
	"arm64": {"manylinux_2_17_aarch64", "manylinux2014_aarch64"},
}

// wheels writes a Python wheel for each architecture, with the binary of pawl and the package pawl_perf.
func (r *release) wheels(ctx context.Context) error {
	files, err := packageFiles(".")
	if err != nil {
		return err
	}
	for _, arch := range architectures {
		b, err := r.compile(ctx, target{"pawl", arch})
		if err != nil {
			return err
		}
		name, data, err := pack(r.version, platforms[arch], append(slices.Clone(files), file{name: "pawl_perf/bin/pawl", data: b.data, program: true}))
		if err != nil {
			return err
		}
		if err := r.add(name, data); err != nil {
			return err
		}
	}
	return nil
}

// modules are the files of the package and where they come from. The files that users copy are
// the modules of the package too.
var modules = map[string]string{
	"pawl_perf/__init__.py":      "sdk/python/pawl_perf/__init__.py",
	"pawl_perf/__main__.py":      "sdk/python/pawl_perf/__main__.py",
	"pawl_perf/py.typed":         "sdk/python/pawl_perf/py.typed",
	"pawl_perf/pytest_judge.py":  "sdk/python/pawl_perf/pytest_judge.py",
	"pawl_perf/pytest_plugin.py": "sdk/python/pawl_perf/pytest_plugin.py",
	"pawl_perf/record.py":        "sdk/python/pawl_perf/record.py",
	"pawl_perf/harness.py":       "sdk/python/pawl_harness.py",
	"pawl_perf/oracle.py":        "sdk/python/pawl_oracle.py",
	"pawl_perf/submit.py":        "sdk/python/pawl_submit.py",
	"LICENSE":                    "LICENSE", // goes to the folder of the metadata
}

// packageFiles reads the package from the repository at root.
func packageFiles(root string) ([]file, error) {
	var list []file
	for name, source := range modules {
		data, err := os.ReadFile(filepath.Join(root, source))
		if err != nil {
			return nil, err
		}
		list = append(list, file{name: name, data: data})
	}
	return list, nil
}

const metadata = `Metadata-Version: 2.1
Name: pawl-perf
Version: %s
Summary: The performance feedback loop for GPU kernels: build, check, measure against the base, judge, explain
License: Apache-2.0
License-File: LICENSE
Project-URL: Source, https://github.com/goatnote-inc/pawl
Requires-Python: >=3.8
Classifier: License :: OSI Approved :: Apache Software License
Classifier: Framework :: Pytest
Classifier: Topic :: Software Development :: Testing
Classifier: Typing :: Typed
Description-Content-Type: text/markdown

# pawl
The command pawl measures a change to a GPU kernel against its base in interleaved rounds and says whether it got
slower, and why. This wheel holds the command and the package pawl_perf: harness, oracle, evaluate, and a pytest plugin
that judges tests. The documentation is in the repository, under docs/how-to/install-pip.md.
`

const entryPoints = `[console_scripts]
pawl = pawl_perf.__main__:main

[pytest11]
pawl = pawl_perf.pytest_plugin
`

// pythonVersion spells a version as Python does: 0.2.0-rc.1 becomes 0.2.0rc1.
func pythonVersion(version string) (string, error) {
	m := regexp.MustCompile(`^([0-9]+\.[0-9]+\.[0-9]+)(?:-(alpha|beta|rc)\.?([0-9]+))?$`).FindStringSubmatch(version)
	if m == nil {
		return "", fmt.Errorf("%q is not a version such as 0.1.0 or 0.1.0-rc.1", version)
	}
	return m[1] + map[string]string{"": "", "alpha": "a", "beta": "b", "rc": "rc"}[m[2]] + m[3], nil
}

// pack returns the name and the bytes of a wheel.
func pack(version string, tags []string, files []file) (name string, wheel []byte, err error) {
	version, err = pythonVersion(version)
	if err != nil {
		return "", nil, err
	}
	info := "pawl_perf-" + version + ".dist-info/"
	about := "Wheel-Version: 1.0\nGenerator: pawl\nRoot-Is-Purelib: false\nTag: py3-none-" + strings.Join(tags, "\nTag: py3-none-") + "\n"
	all := []file{
		{name: info + "METADATA", data: fmt.Appendf(nil, metadata, version)},
		{name: info + "WHEEL", data: []byte(about)},
		{name: info + "entry_points.txt", data: []byte(entryPoints)},
	}
	for _, f := range files {
		if !strings.Contains(f.name, "/") {
			f.name = info + f.name
		}
		all = append(all, f)
	}
	// The order of names, which also puts the metadata last, as the format asks for.
	slices.SortFunc(all, func(a, b file) int { return strings.Compare(order(a.name, info), order(b.name, info)) })
	var record strings.Builder
	for _, f := range all {
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", f.name, digest(f.data), len(f.data))
	}
	fmt.Fprintf(&record, "%sRECORD,,\n", info)
	all = append(all, file{name: info + "RECORD", data: []byte(record.String())})
	wheel, err = zipped(all)
	return "pawl_perf-" + version + "-py3-none-" + strings.Join(tags, ".") + ".whl", wheel, err
}

func order(name, info string) string {
	if strings.HasPrefix(name, info) {
		return "1" + name
	}
	return "0" + name
}

// digest is SHA-256 as RECORD has it.
func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

func zipped(files []file) ([]byte, error) {
	var buf bytes.Buffer
	z := zip.NewWriter(&buf)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestCompression) })
	for _, f := range files {
		header := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: modified}
		header.SetMode(0o644)
		if f.program {
			header.SetMode(0o755)
		}
		w, err := z.CreateHeader(header)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}
