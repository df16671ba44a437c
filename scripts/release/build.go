package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// programs are the binaries of a release, and the files of the repository that their archives hold beside them.
var programs = []struct {
	name  string
	files []string
}{
	{"pawl", []string{"LICENSE", "README.md"}},
	{"pawl-agent", []string{"LICENSE", "deploy/once"}},
	{"pawld", []string{"LICENSE", "deploy"}},
}

// architectures are those of Go, all with Linux.
var architectures = []string{"amd64", "arm64"}

// target is a program for an architecture.
type target struct{ program, arch string }

// binary is a compiled program.
type binary struct {
	data []byte
	info *buildinfo.BuildInfo
}

// compile builds a program without cgo, so that every machine builds the same bytes. pawl loads NVML with the C
// library of the machine that it runs on.
func (r *release) compile(ctx context.Context, t target) (*binary, error) {
	if b := r.built[t]; b != nil {
		return b, nil
	}
	dir, err := os.MkdirTemp("", "pawl-release-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, t.program)
	cmd := exec.CommandContext(ctx, "go", "build", "-o", out, "-trimpath", "-buildvcs=false", //nolint:gosec // the version was checked, and there is no shell
		"-ldflags=-s -w -buildid= -X github.com/goatnote-inc/pawl/internal/base/version.released="+r.version, "./cmd/"+t.program)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-mod=readonly", "GOWORK=off", "GOEXPERIMENT=",
		"GOOS=linux", "GOARCH="+t.arch, "GOAMD64=v1", "GOARM64=v8.0")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("compile %s for %s: %w", t.program, t.arch, err)
	}
	if err := checkLibraries(out); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(out)
	if err != nil {
		return nil, err
	}
	info, err := buildinfo.Read(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("read the modules of %s: %w", t.program, err)
	}
	r.built[t] = &binary{data: data, info: info}
	return r.built[t], nil
}

// archives writes an archive of each program, and a list of its modules.
func (r *release) archives(ctx context.Context) error {
	for _, p := range programs {
		beside, err := repositoryFiles(ctx, p.files...)
		if err != nil {
			return err
		}
		for _, arch := range architectures {
			b, err := r.compile(ctx, target{p.name, arch})
			if err != nil {
				return err
			}
			name := fmt.Sprintf("%s_%s_linux_%s", p.name, r.version, arch)
			packed, err := tarGz(append(slices.Clone(beside), file{name: p.name, data: b.data, program: true}))
			if err != nil {
				return err
			}
			if err := r.add(name+".tar.gz", packed); err != nil {
				return err
			}
			bom, err := moduleBOM(b)
			if err != nil {
				return err
			}
			if err := r.add(name+".cdx.json", bom); err != nil {
				return err
			}
		}
	}
	return nil
}

// repositoryFiles reads the committed files at or below paths. Others, such as the secrets of deploy/compose.yaml, are
// not for a release.
func repositoryFiles(ctx context.Context, paths ...string) ([]file, error) {
	out, err := exec.CommandContext(ctx, "git", append([]string{"ls-files", "-z", "--"}, paths...)...).Output()
	if err != nil {
		return nil, fmt.Errorf("list committed files: %w", err)
	}
	var list []file
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		info, err := os.Stat(name)
		if err != nil {
			return nil, err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		list = append(list, file{name: name, data: data, program: info.Mode()&0o111 != 0})
	}
	return list, nil
}
