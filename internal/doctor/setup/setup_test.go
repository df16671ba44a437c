package setup_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/doctor/setup"
	"github.com/goatnote-inc/pawl/internal/kernel/device"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
)

const (
	bookworm = "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nID=debian\n"
	jammy    = "ID=ubuntu\nID_LIKE=debian\n"
	rocky    = "ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n"
	arch     = "ID=arch\n"
)

// machine is one with these files and no programs but those of tools.
type machine struct {
	suite   string
	scripts map[string]string // in the suite's folder
	tools   []string
	files   map[string]string // of the system
	admin   bool
	none    string // why there is no GPU
}

func (m machine) look(t *testing.T) setup.Plan {
	t.Helper()
	p, err := setup.Look(t.Context(), m.options(t))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (m machine) options(t *testing.T) setup.Options {
	t.Helper()
	dir, bin := t.TempDir(), t.TempDir()
	write := func(path, text string, mode os.FileMode) {
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range m.scripts {
		write(filepath.Join(dir, name), text, 0o755)
	}
	for _, name := range m.tools {
		write(filepath.Join(bin, name), "#!/bin/sh\necho "+name+" 1.2.3\n", 0o755)
	}
	t.Setenv("PATH", bin)
	t.Setenv("GITHUB_EVENT_NAME", "")
	write(filepath.Join(dir, "pawl.yaml"), "version: 1\n"+m.suite, 0o644)
	s, err := suite.Load(filepath.Join(dir, "pawl.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	root := fstest.MapFS{}
	for name, text := range m.files {
		root[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
	}
	return setup.Options{
		Suite: s, Dir: dir, Root: root, Path: bin, Admin: m.admin,
		Devices: func(context.Context) (device.Inventory, error) {
			return device.Inventory{None: map[gpu.Kind]string{gpu.NVIDIA: m.none}}, nil
		},
	}
}

// told is an item in a line: its state, whether it is required, its commands.
func told(i setup.Item) string {
	s := string(i.State)
	if !i.Required {
		s += ", optional"
	}
	for _, c := range i.Fix {
		s += " | " + c.Line
	}
	if i.ByHand {
		s += " (by hand)"
	}
	return s
}

func TestLook(t *testing.T) {
	const plain = "build: {command: make, outputs: [h]}\nharness: {command: ./h}\n"
	on := func(release string) map[string]string { return map[string]string{"etc/os-release": release} }
	for name, test := range map[string]struct {
		machine
		want     map[string]string // item to its text; empty if there is no such item
		commands []string
		ready    bool
	}{
		"all here": {
			machine{suite: plain, tools: []string{"git", "make", "ninja", "ccache"}, files: on(bookworm)},
			map[string]string{"git": "here", "make": "here", "ninja": "here, optional", "bubblewrap": "missing, optional | sudo apt-get install -y --no-install-recommends bubblewrap", "driver": "", "nvcc": ""},
			[]string{"sudo apt-get update", "sudo apt-get install -y --no-install-recommends bubblewrap"},
			true,
		},
		"nothing here": {
			machine{suite: plain, files: on(bookworm)},
			map[string]string{"git": "missing | sudo apt-get install -y --no-install-recommends git", "ccache": "missing, optional | sudo apt-get install -y --no-install-recommends ccache"},
			[]string{"sudo apt-get update", "sudo apt-get install -y --no-install-recommends bubblewrap ccache git make ninja-build"},
			false,
		},
		"root needs no sudo": {
			machine{suite: plain, files: on(jammy), tools: []string{"git", "ninja", "ccache"}, admin: true},
			map[string]string{"make": "missing | apt-get install -y --no-install-recommends make"},
			[]string{"apt-get update", "apt-get install -y --no-install-recommends bubblewrap make"},
			false,
		},
		"a system with dnf": {
			machine{suite: plain, files: on(rocky), tools: []string{"git", "make"}},
			map[string]string{"ninja": "missing, optional | sudo dnf install -y ninja-build"},
			[]string{"sudo dnf install -y bubblewrap ccache ninja-build"},
			true,
		},
		"a system that we do not know": {
			machine{suite: plain, files: on(arch), tools: []string{"git"}},
			map[string]string{"make": "missing"},
			nil,
			false,
		},
		"a compiler that a file names": {
			machine{suite: plain, files: on(bookworm), tools: []string{"git", "make", "ninja", "ccache"}, scripts: map[string]string{"Makefile": "h: h.cu\n\tnvcc -o h h.cu\n"}},
			map[string]string{"nvcc": "missing | sudo apt-get install -y --no-install-recommends nvidia-cuda-toolkit"},
			[]string{"sudo apt-get update", "sudo apt-get install -y --no-install-recommends bubblewrap nvidia-cuda-toolkit"},
			false,
		},
		"a toolkit beside the search path": {
			machine{
				suite: "build: {command: nvcc -o h h.cu, outputs: [h]}\nharness: {command: ./h}\n", tools: []string{"git", "ninja", "ccache", "bwrap"},
				files: map[string]string{"etc/os-release": bookworm, "usr/local/cuda-11.8/bin/nvcc": "", "usr/local/cuda-12.6/bin/nvcc": ""},
			},
			map[string]string{"nvcc": "unset | export PATH=/usr/local/cuda-12.6/bin:$PATH (by hand)"},
			nil,
			false,
		},
		"a recipe": {
			machine{suite: "build: {recipe: cmake, target: h, outputs: [build/h]}\nharness: {command: build/h}\n", files: on(bookworm), tools: []string{"git", "ninja", "ccache"}},
			map[string]string{"cmake": "missing | sudo apt-get install -y --no-install-recommends cmake"},
			[]string{"sudo apt-get update", "sudo apt-get install -y --no-install-recommends bubblewrap cmake"},
			false,
		},
		"a program that nobody packs": {
			machine{suite: "harness: {command: frobnicate, format: go}\n", files: on(bookworm), tools: []string{"git"}},
			map[string]string{"frobnicate": "missing", "ninja": "", "bubblewrap": ""},
			nil,
			false,
		},
		"a sandbox that is asked for": {
			machine{suite: "build: {command: make, outputs: [h], sandbox: always}\nharness: {command: ./h}\n", files: on(bookworm), tools: []string{"git", "make", "ninja", "ccache"}},
			map[string]string{"bubblewrap": "missing | sudo apt-get install -y --no-install-recommends bubblewrap"},
			[]string{"sudo apt-get update", "sudo apt-get install -y --no-install-recommends bubblewrap"},
			false,
		},
		"a sandbox for agents": {
			machine{suite: "trust: self-timed\n" + plain, files: on(bookworm), tools: []string{"git", "make", "ninja", "ccache"}},
			map[string]string{"bubblewrap": "missing | sudo apt-get install -y --no-install-recommends bubblewrap"},
			[]string{"sudo apt-get update", "sudo apt-get install -y --no-install-recommends bubblewrap"},
			false,
		},
		"no sandbox": {
			machine{suite: "build: {command: make, outputs: [h], sandbox: never}\nharness: {command: ./h}\n", files: on(bookworm), tools: []string{"git", "make", "ninja", "ccache"}},
			map[string]string{"bubblewrap": ""},
			nil,
			true,
		},
		"a sandbox that does not work": {
			machine{suite: plain, files: on(bookworm), tools: []string{"git", "make", "ninja", "ccache", "bwrap"}},
			map[string]string{"bubblewrap": "unset, optional (by hand)"},
			nil,
			true,
		},
		"modules of Python": {
			machine{
				suite: "harness: {command: python3 h.py, format: go}\n", files: on(bookworm), tools: []string{"git"},
				scripts: map[string]string{"h.py": "import os, torch.nn as nn # jax\nfrom numpy import array, triton\nimport frobnicate\n"},
			},
			map[string]string{
				"python3": "missing | sudo apt-get install -y --no-install-recommends python3", "python: torch": "missing | sudo apt-get install -y --no-install-recommends python3-torch",
				"python: numpy": "missing | sudo apt-get install -y --no-install-recommends python3-numpy", "python: os": "", "python: frobnicate": "", "python: jax": "", "python: triton": "",
			},
			[]string{"sudo apt-get update", "sudo apt-get install -y --no-install-recommends python3 python3-numpy python3-torch"},
			false,
		},
		"a GPU that is not there": {
			machine{suite: "device: {kind: nvidia}\nharness: {command: ./h}\n", files: on(bookworm), tools: []string{"git"}, none: "no library"},
			map[string]string{"driver": "missing"},
			nil,
			false,
		},
		"a GPU without its driver": {
			machine{
				suite: "device: {kind: nvidia}\nharness: {command: ./h}\n", tools: []string{"git"}, none: "no library",
				files: map[string]string{"etc/os-release": jammy, "sys/bus/pci/devices/0000:01:00.0/vendor": "0x10de\n"},
			},
			map[string]string{"driver": "missing | sudo ubuntu-drivers install"},
			[]string{"sudo ubuntu-drivers install"},
			false,
		},
		"a GPU that nobody asked for": {
			machine{suite: "device: {kind: cpu}\nharness: {command: ./h}\n", files: on(bookworm), tools: []string{"git"}},
			map[string]string{"driver": "", "ncu": ""},
			nil,
			true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := test.look(t)
			items := map[string]string{}
			for _, i := range p.Items {
				items[i.Name] = told(i)
				if i.Why == "" || i.State == setup.Missing && len(i.Fix) == 0 && i.Note == "" {
					t.Errorf("%s does not say why, or what to do: %+v", i.Name, i)
				}
			}
			for name, want := range test.want {
				if items[name] != want {
					t.Errorf("%s: %q, want %q", name, items[name], want)
				}
			}
			var lines []string
			for _, c := range p.Commands {
				lines = append(lines, c.Line)
			}
			if diff := cmp.Diff(test.commands, lines); diff != "" {
				t.Errorf("commands (-want +got):\n%s", diff)
			}
			if p.Ready() != test.ready {
				t.Errorf("ready %v, want %v", p.Ready(), test.ready)
			}
		})
	}
}

// A module is looked for where the suite's own Python finds it, not in its folder.
func TestModuleOfAnotherPython(t *testing.T) {
	m := machine{
		suite: "harness: {command: python3 h.py, format: go}\n", tools: []string{"git", "python3"},
		scripts: map[string]string{"h.py": "import numpy\nimport torch\n", "torch.py": ""},
	}
	o := m.options(t)
	// This one has numpy only.
	fake := "#!/bin/sh\n[ \"$3\" = numpy ] && [ \"$PWD\" = / ] && echo 1.26\n"
	if err := os.WriteFile(filepath.Join(o.Path, "python3"), []byte(fake), 0o755); err != nil {
		t.Fatal(err)
	}
	p, err := setup.Look(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, i := range p.Items {
		got[i.Name] = told(i) + " " + i.Version
	}
	if got["python: numpy"] != "here 1.26" || got["python: torch"] != "missing | python3 -m pip install torch " {
		t.Errorf("got %q", got)
	}
}

// A suite decides what is looked for, never what is run.
func TestHostileSuite(t *testing.T) {
	m := machine{
		suite: `harness: {command: "python3;touch$${IFS}planted h.py", format: go}
build: {command: "./python3 h.py && $(touch planted) && cc;reboot x.c", outputs: [h]}
`,
		tools:   []string{"git"},
		files:   map[string]string{"etc/os-release": bookworm},
		scripts: map[string]string{"h.py": "import torch\n", "python3": "#!/bin/sh\ntouch planted\n", "python3;touch${IFS}planted": "#!/bin/sh\n"},
	}
	o := m.options(t)
	if err := os.Symlink("/dev/zero", filepath.Join(o.Dir, "Makefile")); err != nil {
		t.Fatal(err)
	}
	p, err := setup.Look(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range p.Commands {
		if strings.ContainsAny(c.Line, ";$&|(`") {
			t.Errorf("it would run %q", c.Line)
		}
	}
	for _, i := range p.Items {
		for _, c := range i.Fix {
			if strings.ContainsAny(c.Line, ";&|(`") {
				t.Errorf("%s would be brought by %q", i.Name, c.Line)
			}
		}
	}
	if _, err := os.Stat(filepath.Join(o.Dir, "planted")); err == nil {
		t.Error("a file of the suite's folder was run")
	}
}

func TestRun(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "said")
	commands := []setup.Command{{Line: "echo one >> " + file}, {Line: "echo two; exit 3"}, {Line: "echo three >> " + file}}
	var out bytes.Buffer
	var shown []string
	err := setup.Run(t.Context(), commands, setup.Streams{Out: &out, Err: &out}, func(c setup.Command) {
		if said, _ := os.ReadFile(file); strings.Contains(string(said), strings.Fields(c.Line)[1]) {
			t.Errorf("%s ran before it was shown", c.Line)
		}
		shown = append(shown, c.Line)
	})
	e, ok := errors.AsType[*setup.RunError](err)
	if !ok || e.Command != commands[1] || !strings.Contains(e.Error(), "the remaining commands were not run") {
		t.Errorf("got %v", err)
	}
	if said, _ := os.ReadFile(file); string(said) != "one\n" || out.String() != "two\n" || len(shown) != 2 {
		t.Errorf("ran %q, printed %q, showed %q", said, out.String(), shown)
	}
}

func TestRunWithoutSudo(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	err := setup.Run(t.Context(), []setup.Command{{Line: "sudo true", Root: true}}, setup.Streams{}, func(setup.Command) {})
	if err == nil || !strings.Contains(err.Error(), "run it as root") {
		t.Errorf("got %v", err)
	}
}

// What apt would be asked for exists: a real apt-get says what it would do.
func TestAptKnowsThePackages(t *testing.T) {
	if _, err := exec.LookPath("apt-get"); err != nil {
		t.Skip(err)
	}
	if list, err := exec.Command("apt-cache", "madison", "git").Output(); err != nil || len(list) == 0 { // show knows what is installed, too
		t.Skip("no lists of packages here")
	}
	path := os.Getenv("PATH")
	m := machine{
		suite: "build: {command: make && cmake . && cc -o h h.c && clang++ x.cc, outputs: [h]}\nharness: {command: python3 h.py}\n",
		files: map[string]string{"etc/os-release": bookworm}, admin: true,
		scripts: map[string]string{"h.py": "import numpy, os\nimport scipy\n"},
	}
	commands := m.look(t).Commands
	t.Setenv("PATH", path)
	if len(commands) != 2 {
		t.Fatalf("got %v", commands)
	}
	line := strings.Replace(commands[1].Line, "apt-get install", "apt-get -s install", 1)
	if line == commands[1].Line {
		t.Fatalf("%q does not install", line)
	}
	out, err := exec.Command("/bin/sh", "-c", line).CombinedOutput()
	if err != nil {
		t.Errorf("%s: %v\n%s", line, err, out)
	}
}
