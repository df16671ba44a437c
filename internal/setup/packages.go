package setup

import (
	"io/fs"
	"strings"
)

// System is what installs packages on a machine.
type System struct{ family string }

// The families of systems whose package manager we know.
const (
	debian = "debian" // and Ubuntu: apt
	fedora = "fedora" // and Red Hat's: dnf
)

// SystemOf reads which system has these files; one that does not say is taken for
// Debian, the most frequent.
func SystemOf(root fs.FS) System {
	text, err := fs.ReadFile(root, "etc/os-release")
	if err != nil {
		return System{debian}
	}
	known := false
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		if name != "ID" && name != "ID_LIKE" {
			continue
		}
		known = true
		for word := range strings.FieldsSeq(strings.Trim(value, `"'`)) {
			switch word {
			case "debian", "ubuntu":
				return System{debian}
			case "fedora", "rhel", "centos":
				return System{fedora}
			}
		}
	}
	if known {
		return System{}
	}
	return System{debian}
}

// packages are what brings a program, or a module of Python, on each family. Where
// one is empty the family does not have it.
var packages = map[string]struct{ debian, fedora string }{
	"c++": {"build-essential", "gcc-c++"}, "cc": {"build-essential", "gcc"}, "g++": {"g++", "gcc-c++"}, "gcc": {"gcc", "gcc"},
	"make": {"make", "make"}, "clang": {"clang", "clang"}, "clang++": {"clang", "clang"}, "nvcc": {"nvidia-cuda-toolkit", ""}, "hipcc": {"hipcc", "hipcc"},
	"cmake": {"cmake", "cmake"}, "ninja": {"ninja-build", "ninja-build"}, "ccache": {"ccache", "ccache"}, "meson": {"meson", "meson"},
	"python3": {"python3", "python3"}, "python": {"python-is-python3", "python-unversioned-command"},
	"pip": {"python3-pip", "python3-pip"}, "pip3": {"python3-pip", "python3-pip"},
	"cargo": {"cargo", "cargo"}, "rustc": {"rustc", "rust"}, "go": {"golang-go", "golang"}, "git": {"git", "git"},
	"numactl": {"numactl", "numactl"}, "taskset": {"util-linux", "util-linux"}, "prlimit": {"util-linux", "util-linux"},
	"bwrap": {"bubblewrap", "bubblewrap"}, "ncu": {"nsight-compute", ""},

	"import numpy": {"python3-numpy", "python3-numpy"}, "import scipy": {"python3-scipy", "python3-scipy"},
	"import torch": {"python3-torch", "python3-torch"},
}

// Package is what brings a program, or "import NAME" a module of Python; empty where
// we do not know, or the system has none.
func (s System) Package(what string) string {
	p := packages[what]
	switch s.family {
	case debian:
		return p.debian
	case fedora:
		return p.fedora
	default:
		return ""
	}
}

// Hint says how a person gets a program; empty where we do not know.
func (s System) Hint(program string) string {
	p := s.Package(program)
	switch {
	case p == "":
		return ""
	case s.family == fedora:
		return "sudo dnf install " + p
	default:
		return "sudo apt install " + p
	}
}

// install is the command that brings packages.
func (s System) install(packages ...string) Command {
	line := "apt-get install -y --no-install-recommends "
	if s.family == fedora {
		line = "dnf install -y "
	}
	return Command{Line: line + strings.Join(packages, " "), Root: true}
}

// refresh is the command that learns of the newest packages; empty where installing
// does that.
func (s System) refresh() Command {
	if s.family == debian {
		return Command{Line: "apt-get update", Root: true}
	}
	return Command{}
}
