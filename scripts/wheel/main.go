// Command wheel builds the Python wheels of a release: one for each platform, with the binary
// of pawl and the package pawl_perf. It is run at the root of the repository:
//
//	go run ./scripts/wheel 0.1.0 dist
//	go run ./scripts/wheel 0.1.0 dist amd64
//
// A wheel follows from the sources, the Go toolchain of go.mod and the version. It holds no
// time, no folder and no name of the machine, so that two builds give the same bytes.
package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// platform is one wheel. Its tags say on which machines pip installs it.
type platform struct {
	goarch string
	tags   []string
}

// platforms are the wheels of a release, all for Linux. Their binaries load NVIDIA's library
// with the C library of the machine, see checkLibraries.
var platforms = []platform{
	{"amd64", []string{"manylinux_2_17_x86_64", "manylinux2014_x86_64"}},
	{"arm64", []string{"manylinux_2_17_aarch64", "manylinux2014_aarch64"}},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "wheel:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) < 2 {
		return fmt.Errorf("usage: go run ./scripts/wheel VERSION FOLDER [GOARCH...]")
	}
	if _, err := pythonVersion(args[0]); err != nil {
		return err
	}
	wanted := args[2:]
	for _, name := range wanted {
		if !slices.ContainsFunc(platforms, func(p platform) bool { return p.goarch == name }) {
			return fmt.Errorf("there is no wheel for %s", name)
		}
	}
	files, err := packageFiles(".")
	if err != nil {
		return err
	}
	for _, p := range platforms {
		if len(wanted) > 0 && !slices.Contains(wanted, p.goarch) {
			continue
		}
		binary, err := build(ctx, args[0], p)
		if err != nil {
			return err
		}
		name, data, err := pack(args[0], p.tags, append(slices.Clone(files), file{name: "pawl_perf/bin/pawl", data: binary, program: true}))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(args[1], name), data, 0o644); err != nil { //nolint:gosec // the folder is the caller's choice
			return err
		}
		fmt.Println(filepath.Join(args[1], name))
	}
	return nil
}

// build compiles pawl with the flags of .goreleaser.yaml and returns the binary.
func build(ctx context.Context, version string, p platform) ([]byte, error) {
	text, err := os.ReadFile(".goreleaser.yaml")
	if err != nil {
		return nil, err
	}
	var config struct {
		Builds []struct {
			Main                string
			Env, Flags, Ldflags []string
			GOAMD64             []string `yaml:"goamd64"`
			GOARM64             []string `yaml:"goarm64"`
		}
	}
	if err := yaml.Unmarshal(text, &config); err != nil {
		return nil, fmt.Errorf("read .goreleaser.yaml: %w", err)
	}
	if len(config.Builds) == 0 || config.Builds[0].Main != "./cmd/pawl" {
		return nil, fmt.Errorf("the first build of .goreleaser.yaml is not that of ./cmd/pawl")
	}
	b := config.Builds[0]
	dir, err := os.MkdirTemp("", "pawl-wheel-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "pawl")
	ldflags := strings.ReplaceAll(strings.Join(b.Ldflags, " "), "{{ .Version }}", version)
	args := slices.Concat([]string{"build", "-o", out}, b.Flags, []string{"-ldflags=" + ldflags, b.Main})
	cmd := exec.CommandContext(ctx, "go", args...) //nolint:gosec // the flags are the release's own, and there is no shell
	cmd.Env = slices.Concat(os.Environ(), b.Env, []string{
		"GOOS=linux", "GOARCH=" + p.goarch, "GOAMD64=" + strings.Join(b.GOAMD64, ""), "GOARM64=" + strings.Join(b.GOARM64, ""),
	})
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("build pawl for %s: %w", p.goarch, err)
	}
	if err := checkLibraries(out); err != nil {
		return nil, err
	}
	return os.ReadFile(out)
}
