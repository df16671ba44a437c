package setup

import (
	"io/fs"
	"strings"
)

// System is the package manager of a machine.
type System struct{ family string }

// Families of systems with a known package manager.
const (
	debian = "debian" // includes Ubuntu: apt
	fedora = "fedora" // includes Red Hat: dnf
)

// SystemOf detects the system from its files. It assumes Debian, the most common, if they do not say.
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

// packages maps programs and Python modules to their package in each family. Empty
// means that the family does not have it.
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

// Package returns the package of a program, or of a Python module as "import NAME"; empty if
// unknown, or if the system has none.
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

// Hint returns the command with which a user installs a program; empty if unknown.
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

// install returns the command that installs packages.
func (s System) install(packages ...string) Command {
	line := "apt-get install -y --no-install-recommends "
	if s.family == fedora {
		line = "dnf install -y "
	}
	return Command{Line: line + strings.Join(packages, " "), Root: true}
}

// refresh returns the command that updates the package lists; empty if installing does that.
func (s System) refresh() Command {
	if s.family == debian {
		return Command{Line: "apt-get update", Root: true}
	}
	return Command{}
}
