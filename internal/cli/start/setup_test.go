package start

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/sys/unix"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/base/golden"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/internal/doctor/setup"
	"github.com/goatnote-inc/pawl/internal/kernel/device"
)

// place is a folder with a suite, on a machine that has only a package manager: one
// that records what it is asked for and brings what it is told to.
type setupPlace struct {
	dir, bin string
	out, err bytes.Buffer
}

func newSetupPlace(t *testing.T, apt string) *setupPlace {
	t.Helper()
	p := &setupPlace{dir: t.TempDir(), bin: t.TempDir()}
	p.write(t, filepath.Join(p.dir, "pawl.yaml"), `version: 1
trust: self-timed
build: {command: cmake -B b && ninja -C b, outputs: [b/h]}
harness: {command: python3 h.py, format: go}
device: {kind: nvidia}
`)
	p.write(t, filepath.Join(p.dir, "h.py"), "import torch\n")
	p.write(t, filepath.Join(p.bin, "git"), "#!/bin/sh\n")
	p.write(t, filepath.Join(p.bin, "apt-get"), "#!/bin/sh\necho \"$@\" >> "+filepath.Join(p.dir, "asked")+"\n"+apt)
	t.Setenv("PATH", p.bin)
	t.Setenv("GITHUB_EVENT_NAME", "")
	return p
}

func (p *setupPlace) write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

// run runs pawl doctor --fix on a Debian whose user is root.
func (p *setupPlace) run(t *testing.T, change func(*setupFlags)) int {
	t.Helper()
	f := setupFlags{
		Env:   &env.Env{Globals: &command.Globals{IO: &command.IO{In: strings.NewReader("y\n"), Out: &p.out, Err: &p.err, Getenv: func(string) string { return "" }}}},
		suite: filepath.Join(p.dir, "pawl.yaml"),
		machine: setup.Options{
			Root: fstest.MapFS{"etc/os-release": {Data: []byte("ID=debian\n")}}, Path: p.bin, Admin: true,
			Devices: func(context.Context) (device.Inventory, error) {
				return device.Inventory{None: map[gpu.Kind]string{gpu.NVIDIA: "there is no driver (libnvidia-ml.so.1)"}}, nil
			},
		},
	}
	change(&f)
	err := f.run(t.Context())
	if err != nil && !errors.Is(err, command.ErrReported) {
		p.err.WriteString("pawl: " + err.Error() + "\n")
	}
	return env.ExitCode(t.Context(), err)
}

// said is what was printed, without the names of folders that differ.
func (p *setupPlace) said() string {
	r := strings.NewReplacer(p.dir, "DIR", p.bin, "BIN")
	return r.Replace("stdout:\n" + p.out.String() + "stderr:\n" + p.err.String())
}

func (p *setupPlace) asked() string {
	text, _ := os.ReadFile(filepath.Join(p.dir, "asked"))
	return string(text)
}

// Without a terminal nothing is run, whatever stands on stdin.
func TestSetupOnlyTells(t *testing.T) {
	p := newSetupPlace(t, "")
	if code := p.run(t, func(*setupFlags) {}); code != command.ExitCannot {
		t.Errorf("exit code %d", code)
	}
	golden.Check(t, "setup.txt", p.said())
	if asked := p.asked(); asked != "" {
		t.Errorf("the package manager was asked for %q", asked)
	}
}

func TestSetupYes(t *testing.T) {
	p := newSetupPlace(t, `[ "$1" = install ] || exit 0
for n in cmake ninja bwrap; do echo '#!/bin/sh' > `+"$BIN"+`/$n; /bin/chmod 755 `+"$BIN"+`/$n; done
`)
	t.Setenv("BIN", p.bin)
	if code := p.run(t, func(f *setupFlags) { f.yes = true }); code != command.ExitCannot { // there is still no GPU
		t.Errorf("exit code %d", code)
	}
	golden.Check(t, "setup-yes.txt", p.said())
	want := "update\ninstall -y --no-install-recommends bubblewrap ccache cmake ninja-build python3 python3-torch\n"
	if p.asked() != want {
		t.Errorf("the package manager was asked for\n%swant\n%s", p.asked(), want)
	}
}

func TestSetupStopsAtAFailure(t *testing.T) {
	p := newSetupPlace(t, "echo 'E: no network' >&2; exit 100\n")
	if code := p.run(t, func(f *setupFlags) { f.yes = true }); code != command.ExitCannot {
		t.Errorf("exit code %d", code)
	}
	golden.Check(t, "setup-failed.txt", p.said())
	if p.asked() != "update\n" {
		t.Errorf("the package manager was asked for %q", p.asked())
	}
}

func TestSetupJSON(t *testing.T) {
	p := newSetupPlace(t, "")
	if code := p.run(t, func(f *setupFlags) { f.json = true }); code != command.ExitCannot {
		t.Errorf("exit code %d", code)
	}
	golden.Check(t, "setup.json.txt", p.said())
	if p.asked() != "" {
		t.Errorf("the package manager was asked for %q", p.asked())
	}
}

// On a terminal it asks, and only yes is yes.
func TestSetupAsks(t *testing.T) {
	for answer, runs := range map[string]bool{"y\n": true, "Yes\n": true, "n\n": false, "\n": false, "what\n": false} {
		t.Run(fmt.Sprintf("%q", answer), func(t *testing.T) {
			p := newSetupPlace(t, "")
			master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
			if err != nil {
				t.Skipf("no pseudo terminals here: %v", err)
			}
			defer master.Close()
			if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
				t.Fatal(err)
			}
			n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
			if err != nil {
				t.Fatal(err)
			}
			keyboard, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer keyboard.Close()
			if _, err := master.WriteString(answer); err != nil {
				t.Fatal(err)
			}
			p.run(t, func(f *setupFlags) {
				f.In, f.ErrScreen = keyboard, func() (int, int) { return 80, 24 }
			})
			if !strings.Contains(p.err.String(), "run these commands? [y/N]") || !strings.Contains(p.out.String(), "apt-get update") {
				t.Errorf("it did not show and ask:\n%s", p.said())
			}
			if ran := p.asked() != ""; ran != runs {
				t.Errorf("it ran commands: %v, want %v", ran, runs)
			}
		})
	}
}
