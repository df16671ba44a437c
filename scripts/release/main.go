// Command release builds the files of a version and publishes nothing. It is run at the root of the repository:
//
//	go run ./scripts/release 0.1.0 dist/0.1.0
//	go run ./scripts/release 0.1.0 dist/0.1.0 wheels
//
// The files follow from the committed sources, the Go toolchain of go.mod, the Debian packages in
// deploy/image and the version. They hold no commit, time, folder or name of the machine, so that two builds give
// the same bytes, and the commit that is tagged can hold their checksums.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
)

// release is a version that is being built into a folder.
type release struct {
	version string
	dir     string
	sources string             // SHA-256 of what was committed
	sums    map[string]string  // SHA-256 of each file, by name
	built   map[target]*binary // what was compiled already
}

// part is one kind of files.
type part struct {
	name  string
	build func(*release, context.Context) error
}

// parts are what a release consists of, in the order in which they are built. Images come first: what they need from the
// network may be missing.
var parts = []part{
	{"images", (*release).images},
	{"archives", (*release).archives},
	{"wheels", (*release).wheels},
	{"chart", (*release).chart},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) < 2 {
		return errors.New("usage: go run ./scripts/release VERSION FOLDER [images|archives|wheels|chart]")
	}
	wanted := args[2:]
	for _, name := range wanted {
		if !slices.ContainsFunc(parts, func(p part) bool { return p.name == name }) {
			return fmt.Errorf("a release has no part %q", name)
		}
	}
	r, err := newRelease(ctx, args[0], args[1])
	if err != nil {
		return err
	}
	if out, err := exec.CommandContext(ctx, "go", "mod", "verify").CombinedOutput(); err != nil {
		return fmt.Errorf("go mod verify: %w\n%s", err, out)
	}
	for _, p := range parts {
		if len(wanted) > 0 && !slices.Contains(wanted, p.name) {
			continue
		}
		if err := p.build(r, ctx); err != nil {
			return fmt.Errorf("build the %s: %w", p.name, err)
		}
	}
	return r.finish()
}

// newRelease checks that a version can be built into a folder.
func newRelease(ctx context.Context, version, dir string) (*release, error) {
	if _, err := pythonVersion(version); err != nil {
		return nil, err
	}
	sources, err := committed(ctx)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // the folder is the caller's choice
		return nil, err
	}
	if there, err := os.ReadDir(dir); err != nil || len(there) > 0 {
		return nil, fmt.Errorf("%s is not empty: remove it first", dir)
	}
	return &release{version: version, dir: dir, sources: sources, sums: map[string]string{}, built: map[target]*binary{}}, nil
}

// add writes a file of the release.
func (r *release) add(name string, data []byte) error {
	if err := r.write(name, data); err != nil {
		return err
	}
	sum := sha256.Sum256(data)
	r.sums[name] = hex.EncodeToString(sum[:])
	fmt.Fprintf(os.Stderr, "%7d kB  %s\n", len(data)/1000, name)
	return nil
}

func (r *release) write(name string, data []byte) error {
	return os.WriteFile(filepath.Join(r.dir, name), data, 0o644) //nolint:gosec // the folder is the caller's choice
}

// finish writes what describes the other files, and prints the lines for checksums.txt of the repository.
func (r *release) finish() error {
	text, err := provenance(r)
	if err != nil {
		return err
	}
	if err := r.add("provenance.json", text); err != nil {
		return err
	}
	var lines strings.Builder
	for _, name := range slices.Sorted(maps.Keys(r.sums)) {
		fmt.Fprintf(&lines, "%s  %s\n", r.sums[name], name)
	}
	fmt.Print(lines.String())
	return r.write(ownSums, []byte(lines.String()))
}
