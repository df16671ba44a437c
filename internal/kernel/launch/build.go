package launch

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/shell"
	"github.com/goatnote-inc/pawl/internal/kernel/tensor"
	"github.com/goatnote-inc/pawl/sdk"
)

//go:embed source
var sources embed.FS

// CheckKernels returns the kernels of pawl doctor --gpu as PTX.
func CheckKernels() []byte {
	text, err := sources.ReadFile("source/check.ptx")
	if err != nil {
		panic(err) // it is embedded
	}
	return text
}

// ErrNoCompiler is the error that Build returns on a machine without a C compiler.
var ErrNoCompiler = errors.New("no C compiler found (cc, gcc or clang): install one, for example with apt-get install gcc")

// defines selects the part of the launcher for each kind.
var defines = map[string]string{CUDA: "-DLAUNCH_CUDA", OpenCL: "-DLAUNCH_OPENCL", Host: "-DLAUNCH_HOST"}

// compileLimit is how long the compiler may take; it usually takes a second.
const compileLimit = 2 * time.Minute

// Build compiles the launcher of a kind for kernels with the given lists of arguments,
// and returns its path. It caches the launcher in a folder of cacheDir, under the digest
// of everything that goes into it, so that only the first call compiles. The arguments
// matter only for host kernels, and only their types.
func Build(ctx context.Context, kind string, arguments [][]tensor.Argument, cacheDir string) (string, error) {
	path, err := build(ctx, kind, arguments, cacheDir)
	if err != nil {
		return "", fmt.Errorf("cannot build pawl's launcher for %s: %w", kind, err)
	}
	return path, nil
}

func build(ctx context.Context, kind string, arguments [][]tensor.Argument, cacheDir string) (string, error) {
	define, ok := defines[kind]
	if !ok {
		return "", fmt.Errorf("unknown kind (known: %s)", strings.Join(slices.Sorted(maps.Keys(defines)), ", "))
	}
	files, err := sourceFiles(kind, arguments)
	if err != nil {
		return "", err
	}
	compiler, version, err := compiler(ctx)
	if err != nil {
		return "", err
	}
	folder := filepath.Join(cacheDir, "launch")
	path := filepath.Join(folder, kind+"-"+digest(files, define, compiler, version))
	if safelyOwned(path) {
		return path, nil
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	work, err := os.MkdirTemp(folder, "building-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(work, name), text, 0o600); err != nil {
			return "", err
		}
	}
	if err := compile(ctx, compiler, define, work); err != nil {
		return "", err
	}
	if err := os.Chmod(filepath.Join(work, "launcher"), 0o755); err != nil { // independent of the umask
		return "", err
	}
	// Two concurrent builds make the same file, and the later one replaces the other.
	return path, os.Rename(filepath.Join(work, "launcher"), path)
}

// safelyOwned reports whether the file exists and no other user could have written it.
func safelyOwned(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o022 != 0 {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && (stat.Uid == 0 || int(stat.Uid) == os.Geteuid())
}

// sourceFiles returns all files to compile, by name.
func sourceFiles(kind string, arguments [][]tensor.Argument) (map[string][]byte, error) {
	files := map[string][]byte{"pawl.h": sdk.Header}
	entries, err := sources.ReadDir("source")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if files[e.Name()], err = sources.ReadFile("source/" + e.Name()); err != nil {
			return nil, err
		}
	}
	switch kind {
	case Host:
		files["stubs.h"], err = stubs(arguments)
	case CUDA:
		files["device_ptx.h"] = []byte("static const char own_ptx[] =\n" + cString(files["device.ptx"]) + ";\n")
		files["check_ptx.h"] = []byte("static const char check_ptx[] =\n" + cString(files["check.ptx"]) + ";\n")
	}
	return files, err
}

// cString writes text as a C string literal, line by line.
func cString(text []byte) string {
	var b strings.Builder
	for line := range strings.Lines(string(text)) {
		b.WriteString("    " + strconv.QuoteToASCII(line) + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// digest returns the name of a launcher: a hash of everything it is made of.
func digest(files map[string][]byte, more ...string) string {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(h, "%s %d\n%s\n", name, len(files[name]), files[name])
	}
	for _, s := range more {
		fmt.Fprintf(h, "%d %s\n", len(s), s)
	}
	return hex.EncodeToString(h.Sum(nil))[:32]
}

// compiler returns the C compiler of this machine and its version.
func compiler(ctx context.Context) (path, version string, err error) {
	for _, name := range []string{"cc", "gcc", "clang"} {
		if path, err = exec.LookPath(name); err == nil {
			break
		}
	}
	if err != nil {
		return "", "", ErrNoCompiler
	}
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return "", "", fmt.Errorf("%s --version: %w", path, err)
	}
	return path, string(out), nil
}

func compile(ctx context.Context, compiler, define, dir string) error {
	ctx, cancel := context.WithTimeout(ctx, compileLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, compiler, "-std=gnu11", "-O2", define, "-o", "launcher", "launcher.c", "-ldl")
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return shell.Kill(cmd) } // what it started, too: it holds the output open
	cmd.WaitDelay = shell.Grace
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, firstLines(out, 12))
	}
	return nil
}

func firstLines(text []byte, n int) []byte {
	lines := bytes.SplitAfterN(text, []byte("\n"), n+1)
	return bytes.TrimSpace(bytes.Join(lines[:min(n, len(lines))], nil))
}
