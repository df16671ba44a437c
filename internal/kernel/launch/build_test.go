package launch_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/base/await"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/internal/kernel/launch"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/internal/kernel/tensor"
)

func TestKind(t *testing.T) {
	for file, want := range map[string]string{
		"a.cubin": launch.CUDA, "a/b.ptx": launch.CUDA, "x.fatbin": launch.CUDA, "k.cl": launch.OpenCL, "k.spv": launch.OpenCL, "libk.so": launch.Host,
	} {
		if got, err := launch.Kind(file); err != nil || got != want {
			t.Errorf("%s: %q, %v", file, got, err)
		}
	}
	for _, file := range []string{"", "kernel", "kernel.o", "libk.so.1"} {
		if got, err := launch.Kind(file); err == nil {
			t.Errorf("%q is launched by %s", file, got)
		}
	}
}

func TestSpec(t *testing.T) {
	got, err := launch.Spec("/suite", suite.Launch{File: "out/k.cubin", Kernel: "k", Grid: [3]int{4, 2, 1}, Block: [3]int{128, 1, 1}, Shared: 5})
	want := harness.Launch{Kind: launch.CUDA, File: "/suite/out/k.cubin", Kernel: "k", Grid: [3]int{4, 2, 1}, Block: [3]int{128, 1, 1}, Shared: 5}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	if got, err := launch.Spec("/suite", suite.Launch{File: "/elsewhere/k.so"}); err != nil || got.File != "/elsewhere/k.so" {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := launch.Spec("/suite", suite.Launch{File: "k.o"}); err == nil {
		t.Error("an object file is taken")
	}
}

func TestCommandIsOneWord(t *testing.T) {
	if got, want := launch.Command("/a b/it's"), `'/a b/it'\''s'`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// Launchers are made once, whoever asks, and shared where they are the same.
func TestBuildsOnce(t *testing.T) {
	need(t, "cc")
	dir := t.TempDir()
	paths := make([]string, 3)
	var group sync.WaitGroup
	for i := range paths {
		group.Go(func() {
			path, err := launch.Build(t.Context(), launch.Host, [][]tensor.Argument{scale(i + 1), scale(7)}, dir)
			if err != nil {
				t.Error(err)
			}
			paths[i] = path
		})
	}
	group.Wait()
	if paths[0] != paths[1] || paths[1] != paths[2] {
		t.Errorf("sizes are no part of a signature: %q", paths)
	}
	other, err := launch.Build(t.Context(), launch.Host, [][]tensor.Argument{types(1)}, dir)
	if err != nil || other == paths[0] {
		t.Errorf("another signature, the same launcher: %s, %v", other, err)
	}
	if err := errors.Join(os.WriteFile(other, []byte("#!/bin/sh"), 0o600), os.Chmod(other, 0o777)); err != nil {
		t.Fatal(err)
	}
	if _, err := launch.Build(t.Context(), launch.Host, [][]tensor.Argument{types(1)}, dir); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(other); err != nil || info.Size() < 1000 {
		t.Errorf("a launcher that others could write is used: %v, %v", info, err)
	}
	left, err := os.ReadDir(filepath.Join(dir, "launch"))
	if err != nil || len(left) != 2 {
		t.Errorf("%v left in the cache, %v", left, err)
	}
}

func TestBuildSaysWhatIsMissing(t *testing.T) {
	if _, err := launch.Build(t.Context(), "metal", nil, t.TempDir()); err == nil || !strings.Contains(err.Error(), "unknown kind (known: cuda, host, opencl)") {
		t.Errorf("got %v", err)
	}
	half := []tensor.Argument{value("h", tensor.F16, 1)}
	if _, err := launch.Build(t.Context(), launch.Host, [][]tensor.Argument{half}, t.TempDir()); err == nil || !strings.Contains(err.Error(), `"f16" cannot be passed`) {
		t.Errorf("got %v", err)
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := launch.Build(t.Context(), launch.Host, nil, t.TempDir()); !errors.Is(err, launch.ErrNoCompiler) || !strings.Contains(err.Error(), "apt-get install gcc") {
		t.Errorf("got %v", err)
	}
}

// A compiler is several processes. None of them goes on when the build is canceled, and nobody waits for them.
func TestBuildIsCanceled(t *testing.T) {
	bin := t.TempDir()
	pid := filepath.Join(bin, "pid")
	script := "#!/bin/sh\n[ \"$1\" = --version ] && exit\nsleep 600 &\necho $! >" + pid + ".new && mv " + pid + ".new " + pid + "\nwait\n"
	if err := os.WriteFile(filepath.Join(bin, "cc"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	dir, ended := t.TempDir(), make(chan error, 1)
	go func() {
		_, err := launch.Build(ctx, launch.Host, [][]tensor.Argument{scale(1)}, dir)
		ended <- err
	}()
	var child int
	await.True(t, "the compiler to start another process", func() bool {
		text, err := os.ReadFile(pid)
		if err == nil {
			child, err = strconv.Atoi(strings.TrimSpace(string(text)))
		}
		return err == nil
	})
	cancel()
	if err := await.Receive(t, "the build to end", ended); err == nil {
		t.Error("a build that was canceled made a launcher")
	}
	await.True(t, "the process of the compiler to end", func() bool {
		state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", child))
		return err != nil || bytes.Contains(state, []byte(") Z "))
	})
}
