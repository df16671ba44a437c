package fleet

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/await"
	"github.com/goatnote-inc/pawl/internal/base/testrun"
)

// TestFleetDev runs what the page about the fleet tells its readers to type first.
func TestFleetDev(t *testing.T) {
	needTemporal(t)
	for _, store := range []string{"sqlite", "postgres"} {
		t.Run(store, func(t *testing.T) {
			if store == "postgres" { // TestFleet runs on it
				testrun.NightlyOnly(t)
			}
			dir := t.TempDir()
			cmd := exec.CommandContext(t.Context(), "../../scripts/fleet-dev", store)
			cmd.Env = append(os.Environ(), "TMPDIR="+dir, "NO_COLOR=1")
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			cmd.WaitDelay = patience
			cmd.Stderr = t.Output()
			out, err := cmd.StdoutPipe()
			must(t, err)
			for _, folder := range []string{dir, filepath.Dir(dir)} { // PostgreSQL runs as another user
				must(t, os.Chmod(folder, 0o755))
			}
			must(t, cmd.Start())
			t.Cleanup(func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
			said, ready := &bytes.Buffer{}, make(chan bool, 1)
			go func() {
				piece := make([]byte, 4096)
				for {
					n, err := out.Read(piece)
					said.Write(piece[:n])
					if err != nil || strings.Contains(said.String(), "Press Ctrl-C") {
						ready <- err == nil
						_, _ = io.Copy(io.Discard, out)
						return
					}
				}
			}()
			ok := await.ReceiveWithin(t, 20*time.Minute, "the fleet to be ready", ready)
			if text := said.String(); !ok || !strings.Contains(text, "cpu: regression: ") || !strings.Contains(text, "Temporal ("+store+")") {
				t.Fatalf("%s", text)
			}
			must(t, cmd.Process.Signal(syscall.SIGINT))
			if err := cmd.Wait(); err != nil {
				t.Errorf("Ctrl-C: %v", err)
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}
