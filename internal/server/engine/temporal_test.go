package engine

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// startTemporal starts the installed Temporal on SQLite until the test ends, and returns the address of its frontend.
func startTemporal(t *testing.T) string {
	t.Helper()
	binary, err := exec.LookPath("temporal-server")
	if err != nil {
		t.Skip("no temporal-server in PATH")
	}
	dir := t.TempDir()
	ports := freePorts(t, 8)
	words := []string{"@FOLDER@", dir}
	for i, p := range ports {
		words = append(words, fmt.Sprintf("@P%d@", i), fmt.Sprint(p))
	}
	for _, file := range []string{"sqlite.yaml", "dynamic.yaml"} {
		text, err := os.ReadFile(filepath.Join("../../../deploy/temporal", file))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, file), []byte(strings.NewReplacer(words...).Replace(string(text))), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), binary, "--root", dir, "--config", ".", "--env", "sqlite", "--allow-no-auth", "start")
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = log.Close()
		if text, err := os.ReadFile(log.Name()); err == nil && t.Failed() {
			t.Logf("Temporal said:\n%s", text[max(0, len(text)-4000):])
		}
	})
	return fmt.Sprintf("127.0.0.1:%d", ports[0])
}

// freePorts returns ports that were free a moment ago.
func freePorts(t *testing.T, n int) (ports []int) {
	t.Helper()
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports
}
