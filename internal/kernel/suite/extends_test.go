package suite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// loadTree reads "pawl.yaml", or the file it names, of a made-up repository.
func loadTree(t *testing.T, name string, tree map[string]string) (*Suite, error) {
	t.Helper()
	fsys := fstest.MapFS{}
	for path, text := range tree {
		fsys[path] = &fstest.MapFile{Data: []byte(text)}
	}
	data, err := readFile(fsys, name)
	if err != nil {
		t.Fatal(err)
	}
	return load(fsys, name, name, data)
}

func TestExtends(t *testing.T) {
	s, err := loadTree(t, "kernels/pawl.yaml", map[string]string{
		"kernels/pawl.yaml": `
version: 1
extends: [../common/device.yaml, ../common/measure.yaml]
name: kernels
harness: {env: {B: mine}}
measure: {rounds: [2, 4]}
benchmarks:
  copy: {matrix: {N: [7]}}
`,
		"common/device.yaml": `
version: 1
extends: base/pawl.yaml
name: device
device: {clocks: base, price_per_hour: 1}
measure: {samples: 5}
`,
		"common/base/pawl.yaml": `
version: 1
device: {clocks: max, max_temperature: 70}
harness: {command: ./harness, env: {A: base, B: base}}
benchmarks:
  copy: {matrix: {N: [1, 2], M: [3]}, bytes: 8*N, gate: false}
`,
		"common/measure.yaml": "version: 1\nmeasure: {samples: 50, warmup: 3}\n",
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `suite "kernels"
device kind="" select="" clocks=base persistence=false price=1 max_temperature=70
measure samples=50 warmup=3 rounds=[2 4] budget=0s/$0
metric gflops = flops / time GFLOP/s better=higher gate=false
metric gbps = bytes / time GB/s better=higher gate=false
implementation candidate
variant of candidate
  build "" [] [] 10m0s auto
  harness "./harness" [] ["A=base" "B=mine"] 1m0s "pawl" ""
    copy/N7_M3/candidate samples=50 warmup=3 timer="" flops=0 bytes=56 gate=false gbps:false
`
	if diff := cmp.Diff(want, describe(s)); diff != "" {
		t.Error(diff)
	}
	files := []string{"kernels/pawl.yaml", "common/device.yaml", "common/base/pawl.yaml", "common/measure.yaml"}
	if diff := cmp.Diff(files, s.Files); diff != "" {
		t.Error(diff)
	}
}

func TestExtendsErrors(t *testing.T) {
	chain := map[string]string{"pawl.yaml": "version: 1\nextends: 1.yaml\n"}
	for i := 1; i < 12; i++ {
		chain[fmt.Sprintf("%d.yaml", i)] = fmt.Sprintf("version: 1\nextends: %d.yaml\n", i+1)
	}
	fan := map[string]string{"pawl.yaml": "version: 1\nextends: ["}
	for i := range 70 {
		name := fmt.Sprintf("f%02d.yaml", i)
		fan["pawl.yaml"] += name + ", "
		fan[name] = "version: 1\n"
	}
	fan["pawl.yaml"] += "]\n"

	for name, tt := range map[string]struct {
		tree map[string]string
		want string // the first line of the message
	}{
		"itself": {
			map[string]string{"pawl.yaml": "version: 1\nextends: ./pawl.yaml\n"},
			`pawl.yaml:2:10: extends: "./pawl.yaml" forms a cycle`,
		},
		"cycle": {
			map[string]string{"pawl.yaml": "version: 1\nextends: b.yaml\n", "b.yaml": "version: 1\nextends: pawl.yaml\n"},
			`b.yaml:2:10: extends: "pawl.yaml" forms a cycle`,
		},
		"missing": {
			map[string]string{"pawl.yaml": "version: 1\nextends: [a.yaml]\n"},
			`pawl.yaml:2:11: extends: cannot read "a.yaml": file does not exist`,
		},
		"folder": {
			map[string]string{"pawl.yaml": "version: 1\nextends: sub\n", "sub/x.yaml": ""},
			`pawl.yaml:2:10: extends: cannot read "sub": not a regular file`,
		},
		"outside": {
			map[string]string{"pawl.yaml": "version: 1\nextends: ../pawl.yaml\n"},
			`pawl.yaml:2:10: extends: "../pawl.yaml" is outside the repository (extend a file in the same repository, by a path relative to this file)`,
		},
		"absolute": {
			map[string]string{"pawl.yaml": "version: 1\nextends: /etc/passwd\n"},
			`pawl.yaml:2:10: extends: "/etc/passwd" is not a relative path (extend a file in the same repository, by a path relative to this file)`,
		},
		"mistake in the other file": {
			map[string]string{"pawl.yaml": "version: 1\nextends: sub/a.yaml\nharness: {command: x}\n", "sub/a.yaml": "version: 1\nnaem: x\n"},
			`sub/a.yaml:2:1: unknown key "naem" (did you mean "name"?)`,
		},
		"mistake that this file replaces": {
			map[string]string{"pawl.yaml": "version: 1\nextends: a.yaml\nname: x\nharness: {command: x}\n", "a.yaml": "version: 1\nname: 3\n"},
			`a.yaml:2:7: name: expected text, got the number 3 (write "3")`,
		},
		"version": {
			map[string]string{"pawl.yaml": "version: 1\nextends: a.yaml\n", "a.yaml": "name: x\n"},
			`a.yaml:1:1: missing key "version" (start with "version: 1")`,
		},
		"expression in the other file": {
			map[string]string{
				"pawl.yaml": "version: 1\nextends: a.yaml\nbenchmarks: {m: {matrix: {N: [1]}}}\n",
				"a.yaml":    "version: 1\nharness: {command: x}\nbenchmarks:\n  m: {flops: 2*N*K}\n",
			},
			`a.yaml:4:18: flops: unknown variable "K" (known: N)`,
		},
		"chain": {chain, `7.yaml:2:10: extends: the chain has more than 8 files`},
		"many":  {fan, `pawl.yaml:2:641: extends: the suite has more than 64 files`},
		"no YAML": {
			map[string]string{"pawl.yaml": "version: 1\nextends: a.yaml\n", "a.yaml": "version: 1\nname: [\n"},
			`a.yaml:3:1: invalid YAML: did not find expected node content`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := loadTree(t, "pawl.yaml", tt.tree)
			if _, ok := errors.AsType[Errors](err); !ok {
				t.Fatalf("got %v, want Errors", err)
			}
			if first, _, _ := strings.Cut(err.Error(), "\n"); first != tt.want {
				t.Errorf("\n got %s\nwant %s", first, tt.want)
			}
		})
	}
}

// write makes files below a folder.
func write(t *testing.T, dir string, tree map[string]string) {
	t.Helper()
	for name, text := range tree {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"outside.yaml":           "version: 1\nname: outside\n",
		"repo/.git/HEAD":         "",
		"repo/common/base.yaml":  "version: 1\nharness: {command: ./harness}\n",
		"repo/a/b/pawl.yaml":     "version: 1\nextends: ../../common/base.yaml\n",
		"repo/a/escape.yaml":     "version: 1\nextends: link.yaml\nharness: {command: x}\n",
		"repo/a/climb.yaml":      "version: 1\nextends: ../../outside.yaml\nharness: {command: x}\n",
		"plain/pawl.yaml":        "version: 1\nextends: sub/base.yaml\nharness: {command: x}\n",
		"plain/sub/base.yaml":    "version: 1\nname: beside\n",
		"plain/deeper/pawl.yaml": "version: 1\nextends: ../sub/base.yaml\nharness: {command: x}\n",
	})
	if err := os.Symlink(filepath.Join(dir, "outside.yaml"), filepath.Join(dir, "repo/a/link.yaml")); err != nil {
		t.Skip(err)
	}
	for path, want := range map[string]string{
		"repo/a/b/pawl.yaml":     "",
		"plain/pawl.yaml":        "",
		"plain/deeper/pawl.yaml": "is outside the repository",
		"repo/a/climb.yaml":      "is outside the repository",
		"repo/a/escape.yaml":     `extends: cannot read "link.yaml": path escapes from parent`,
		"repo/a":                 "not a regular file",
		"repo/nowhere.yaml":      "(run `pawl init` to create one)",
	} {
		s, err := Load(filepath.Join(dir, path))
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", path, err)
		case want == "" && s.Files[0] != filepath.Join(dir, path):
			t.Errorf("%s: files %v", path, s.Files)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
	if _, err := Load(filepath.Join(dir, "repo/nowhere.yaml")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file gives %v", err)
	}
}

func TestDigest(t *testing.T) {
	digestOf := func(text string) string {
		s, err := Parse("pawl.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return s.Digest
	}
	base := "version: 1\nharness: {command: ./h}\nname: x\n"
	if a, b := digestOf(base), digestOf("# hello\nversion: 1\nharness:\n  command: \"./h\" # there\n\nname: x\n"); a != b {
		t.Errorf("comments and spacing change the digest: %s, %s", a, b)
	}
	for _, other := range []string{
		"version: 1\nharness: {command: ./h}\nname: y\n",
		"version: 1\nharness: {command: ./h}\nname: \"x \"\n",
		"version: 1\nharness: {command: ./h}\nname: x\ndevice: {select: 0}\n",
		"version: 1\nharness: {command: ./h}\nname: x\ndevice: {select: \"0\"}\n",
		"version: 1\nharness: {command: ./h}\nname: x\nbenchmarks: {a: {matrix: {N: 1, M: 1}}}\n",
		"version: 1\nharness: {command: ./h}\nname: x\nbenchmarks: {a: {matrix: {M: 1, N: 1}}}\n",
	} {
		if digestOf(base) == digestOf(other) {
			t.Errorf("same digest for another suite:\n%s", other)
		}
		base = other
	}
	alone := digestOf("version: 1\nharness: {command: ./h}\nname: x\n")
	s, err := loadTree(t, "pawl.yaml", map[string]string{
		"pawl.yaml": "version: 1\nextends: base.yaml\nname: x\n", "base.yaml": "version: 1\nharness: {command: ./h}\n",
	})
	if err != nil || s.Digest != alone {
		t.Errorf("the same suite in two files: %v, %v, want %s", s.Digest, err, alone)
	}
}
