package fleet

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/await"
)

// TestLabUpgrade upgrades Temporal by one minor version after the other while a gate is measured, as docs/how-to/fleet.md says, and
// goes back once at each. The last version is that in PATH. The older ones are in FOLDER/temporal, each in a folder of its own.
//
//	PAWL_LAB=FOLDER go test ./e2e/fleet -run LabUpgrade -v
func TestLabUpgrade(t *testing.T) {
	older, err := filepath.Glob(filepath.Join(labFolder(t), "temporal", "*"))
	if err != nil || len(older) == 0 {
		t.Fatalf("older versions of Temporal: %v, %v", older, err)
	}
	random := rand.New(rand.NewPCG(3, 30))
	var paths []string // with one version each
	for _, dir := range older {
		paths = append(paths, dir+":"+os.Getenv("PATH"))
	}
	paths = append(paths, os.Getenv("PATH"))
	t.Setenv("PATH", paths[0])
	w := newWorld(t)
	use := func(path string) {
		t.Setenv("PATH", path)
		w.env[0] = "PATH=" + path
	}
	i := w.newIsland(t, "spare", "0")
	gate := func() {
		t.Helper()
		r := newRepository(t)
		r.commit(t, "80")
		if stdout, stderr, err := w.run(t, r.dir, "pawl", "run", "--base", "HEAD~1", "--on", "spare"); err != nil || verdictOf(t, filepath.Join(r.dir, "results")) != "improvement" {
			t.Fatalf("%v\n%s%s", err, stdout, stderr)
		}
	}
	replace := func() {
		t.Helper()
		started := time.Now()
		_ = w.started["temporal-server"].Process.Signal(syscall.SIGTERM)
		_ = w.started["temporal-server"].Wait() // it may exit with an error when it is asked to end
		stopped := time.Now()
		w.again("temporal-server")
		await.TrueWithin(t, patience, "the fleet to be right again", func() bool {
			_, _, err := w.run(t, w.dir, "pawld", "fleet", "check")
			return err == nil
		})
		t.Logf("it ended after %.0f s, and the new one worked %.0f s later", stopped.Sub(started).Seconds(), time.Since(stopped).Seconds())
	}
	gate()
	for n, newer := range paths[1:] {
		h := w.holdGate(t)
		use(newer)
		t.Log(w.upgradeSchema(t, random))
		gate() // on the older server
		replace()
		gate()
		h.release(t)

		h = w.holdGate(t)
		use(paths[n])
		replace() // as if the new server did not work
		gate()
		use(newer)
		replace()
		h.release(t)
	}
	if i.busy() {
		t.Error("a lease was left behind")
	}
}

// upgradeSchema upgrades the schema of Temporal, and kills that after a while until it has had enough time.
func (w *world) upgradeSchema(t *testing.T, random *rand.Rand) string {
	t.Helper()
	for kills, limit := 0, 10*time.Millisecond; ; kills, limit = kills+1, limit*5/4 {
		cmd := w.command(t, w.dir, "pawld", "fleet", "schema")
		cmd.Env = append(slices.Clip(cmd.Env), w.schema)
		cmd.SysProcAttr.Setpgid = true
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		must(t, cmd.Start())
		timer := time.AfterFunc(time.Duration(random.Int64N(int64(limit))), func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
		err := cmd.Wait()
		timer.Stop()
		if err == nil {
			return fmt.Sprintf("after %d kills:\n%s", kills, out.String())
		}
		if cmd.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
			t.Fatalf("after %d kills: %v\n%s", kills, err, out.String())
		}
	}
}
