package server

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/internal/base/await"
	"github.com/goatnote-inc/pawl/internal/base/testrun"
	"github.com/goatnote-inc/pawl/internal/server/pgtemp"
)

// TestPreviousVersion runs pawld as it was before the last change of the schema beside this one. This version refuses the
// schema of the previous one and says what to do; the previous one works on the schema of this one, beside it
// and after it. Each takes reports of today's client, and finds no problem in what the other stored.
func TestPreviousVersion(t *testing.T) {
	old := filepath.Join(testrun.Previous(t), "pawld")
	dir := t.TempDir()
	pg, err := pgtemp.Start(t.Context(), pgtemp.Options{Dir: filepath.Join(dir, "pg"), Durable: true})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{dir: dir, pg: pg}
	t.Cleanup(func() { _ = pg.Stop(context.WithoutCancel(t.Context()), true) })
	previous, current := w.version(t, old), w.version(t, built(t, "pawld"))
	previous.must("migrate")
	previous.must("project", "create", "kernels")
	key := strings.TrimSpace(previous.must("key", "create", "kernels", "--scope", "report:main"))

	story, n, sent := story{n: 1, base: time.Now().UTC().Truncate(time.Hour).AddDate(0, -1, 0), step: 1 << 30}, &notes{path: filepath.Join(dir, "notes")}, 0
	push := func(to *version) {
		s := newSender(t.TempDir(), to.url, "kernels", key, n)
		for range 4 {
			r := story.report(sent)
			if err := s.push(t.Context(), r, withFile(r)); err != nil {
				t.Fatal(err)
			}
			sent++
		}
	}
	previous.start()
	push(previous)
	if out, err := current.run("serve"); err == nil || !strings.Contains(out, "run pawld migrate") {
		t.Errorf("this version starts on the schema of the previous one: %v\n%s", err, out)
	}
	current.must("migrate")
	push(previous) // on the new schema
	current.start()
	push(previous) // beside the new version
	push(current)
	previous.stop()
	push(current)
	current.stop()
	previous.start() // back
	push(previous)

	acknowledged, there := n.acknowledged(t), map[string]int{}
	w.sql(t, func(c *pgx.Conn) error {
		rows, err := c.Query(t.Context(), `select run from pawl.report`)
		if err != nil {
			return err
		}
		var run string
		_, err = pgx.ForEachRow(rows, []any{&run}, func() error { there[run]++; return nil })
		return err
	})
	for run := range acknowledged {
		if there[run] != 1 {
			t.Errorf("run %s was acknowledged and is there %d times", run, there[run])
		}
	}
	if len(acknowledged) != sent || len(there) != sent {
		t.Errorf("%d reports were sent, %d acknowledged, %d are there", sent, len(acknowledged), len(there))
	}
	previous.must("fsck", "--deep")
	current.must("fsck", "--deep")
}

// version is a pawld of one version, on a database that it shares with others.
type version struct {
	t         *testing.T
	path, url string
	env       []string
	serve     *exec.Cmd
}

func (w *world) version(t *testing.T, path string) *version {
	t.Helper()
	port := freePort(t)
	return &version{t: t, path: path, url: "http://127.0.0.1:" + port, env: []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + w.dir, "TMPDIR=" + w.dir, "PAWLD_DATABASE_URL=" + w.pg.URL("postgres"), "PAWLD_DATABASE_MIGRATE=false",
		"PAWLD_LISTEN=127.0.0.1:" + port, "PAWLD_URL=" + publicURL, "PAWLD_BLOBS_URL=file://" + w.blobs(), "PAWLD_ADMIN_LISTEN=off",
		"PAWLD_SHUTDOWN_DELAY=0s", "PAWLD_LOG_LEVEL=warn",
	}}
}

func (v *version) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(v.t.Context(), v.path, args...)
	cmd.Env = v.env
	return cmd
}

// run returns everything that a command wrote.
func (v *version) run(args ...string) (string, error) {
	out, err := v.command(args...).CombinedOutput()
	return string(out), err
}

// must returns what a command wrote to its standard output, and ends the test if it fails.
func (v *version) must(args ...string) string {
	v.t.Helper()
	cmd := v.command(args...)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		v.t.Fatalf("%s: %v\n%s%s", cmd, err, out, said.String())
	}
	return string(out)
}

// start starts a server and waits until it is ready.
func (v *version) start() {
	v.t.Helper()
	v.serve = v.command("serve")
	v.serve.Stderr = v.t.Output()
	if err := v.serve.Start(); err != nil {
		v.t.Fatal(err)
	}
	serve := v.serve
	v.t.Cleanup(func() { _, _ = serve.Process.Kill(), serve.Wait() })
	await.TrueWithin(v.t, patience, "pawld to be ready", func() bool {
		resp, err := http.Get(v.url + "/readyz")
		if err == nil {
			_ = resp.Body.Close()
		}
		return err == nil && resp.StatusCode == http.StatusOK
	})
}

func (v *version) stop() {
	v.t.Helper()
	if err := v.serve.Process.Signal(syscall.SIGTERM); err != nil {
		v.t.Fatal(err)
	}
	if err := v.serve.Wait(); err != nil {
		v.t.Errorf("a server that was asked to stop: %v", err)
	}
}
