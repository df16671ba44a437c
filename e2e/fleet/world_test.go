package fleet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/internal/base/await"
	"github.com/goatnote-inc/pawl/internal/forge/githubtest"
	"github.com/goatnote-inc/pawl/internal/server/pgtemp"
)

// patience is the limit of every wait.
const patience = 5 * time.Minute

// world is a fleet with one device.
type world struct {
	t       *testing.T // processes end with it, not with a subtest
	dir     string
	bin     string
	env     []string // of all processes
	serve   []string // of pawld, beside these
	schema  string   // what pawld fleet schema needs beside these
	gateway string   // address of agents
	server  string   // address of pawld
	forge   *githubtest.Server
	pg      *pgtemp.Server
	started map[string]*exec.Cmd
}

// postgres is the name of PostgreSQL for kill and again.
const postgres = "postgres"

// needTemporal skips a test where Temporal is not installed.
func needTemporal(t *testing.T) {
	t.Helper()
	for _, name := range []string{"temporal-server", "temporal-sql-tool"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("no %s in PATH", name)
		}
	}
}

// newWorld starts PostgreSQL, Temporal on it, pawld and an agent.
func newWorld(t *testing.T) *world {
	t.Helper()
	needTemporal(t)
	dir := t.TempDir()
	w := &world{t: t, started: map[string]*exec.Cmd{}, dir: dir, bin: filepath.Join(dir, "bin")}
	pg, err := pgtemp.Start(t.Context(), pgtemp.Options{Dir: filepath.Join(dir, "pg"), Durable: true}) // tests kill it
	if errors.Is(err, pgtemp.ErrNotInstalled) {
		t.Skip(err)
	}
	must(t, err)
	t.Cleanup(func() { _ = pg.Stop(context.WithoutCancel(t.Context()), true) })
	w.pg = pg
	w.build(t, "../../cmd/pawl", "../../cmd/pawld", "../../cmd/pawl-agent")
	temporal := w.startTemporal(t, pg)
	ports := freePorts(t, 2)
	w.gateway, w.server, w.forge = "http://127.0.0.1:"+ports[1], "http://127.0.0.1:"+ports[0], githubtest.New(t)
	w.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + dir, "NO_COLOR=1", "PAWL_CACHE=" + filepath.Join(dir, "cache"), "PAWL_LOCK_DIR=" + filepath.Join(dir, "locks"),
		"PAWLD_DATABASE_URL=" + pg.URL("postgres"), "PAWLD_LISTEN=127.0.0.1:" + ports[0], "PAWLD_BLOBS_URL=file://" + filepath.Join(dir, "blobs"),
		"PAWLD_ADMIN_LISTEN=off", "PAWLD_CI_ISSUERS=", "PAWLD_SHUTDOWN_DELAY=0s", "PAWLD_DATABASE_ALLOW_UNSAFE=true",
		"PAWLD_FLEET_CALIBRATE=0s", "PAWLD_FLEET_ADDRESS=" + temporal, "PAWLD_FLEET_LISTEN=127.0.0.1:" + ports[1], "PAWLD_FLEET_SECRET=" + strings.Repeat("s", 32),
		"PAWL_SERVER=" + w.server, "PAWL_PROJECT=kernels",
	}
	w.serve = []string{ // agents get no credentials of the forge
		"PAWLD_FLEET_HOSTS=" + w.hostsFile(t), "GITHUB_TOKEN=" + w.forge.Token, "GITHUB_API_URL=" + w.forge.URL, "GITHUB_SERVER_URL=" + w.forge.URL,
	}
	await.TrueWithin(t, patience, "Temporal to answer", func() bool {
		_, _, err := w.run(t, dir, "pawld", "fleet", "setup")
		return err == nil
	})
	w.must(t, "pawld", "fleet", "check")
	w.must(t, "pawld", "migrate")
	w.must(t, "pawld", "project", "create", "kernels")
	w.env = append(w.env, w.key(t, "kernels"))
	w.start("pawld", "serve")
	w.start(agents, "serve", "--server", w.gateway, "--state", w.state(), "--code", w.enroll(t, dir, "host"), "--device", "cpu:0", "--model", "cpu")
	await.TrueWithin(t, patience, "the device of the agent to be in the fleet", func() bool {
		out, _, err := w.run(t, dir, "pawl", "fleet", "devices")
		return err == nil && strings.Contains(out, "cpu:0 on host")
	})
	return w
}

// key returns the variable with a key of a project that may send gates.
func (w *world) key(t *testing.T, project string) string {
	t.Helper()
	return "PAWL_TOKEN=" + strings.TrimSpace(w.must(t, "pawld", "key", "create", project, "--scope", "read,report"))
}

// enroll writes the one-time code of an agent to a file in dir, which it makes, and returns its path.
func (w *world) enroll(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	code := filepath.Join(dir, "code")
	must(t, os.MkdirAll(dir, 0o700))
	must(t, os.WriteFile(code, []byte(w.must(t, "pawld", append([]string{"agent", "enroll", name}, args...)...)), 0o600))
	return code
}

func (w *world) build(t *testing.T, programs ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "go", append([]string{"build", "-o", w.bin + "/"}, programs...)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// startTemporal creates the databases of Temporal as docs/how-to/fleet.md does, and returns the address of its frontend.
func (w *world) startTemporal(t *testing.T, pg *pgtemp.Server) string {
	t.Helper()
	at, err := url.Parse(pg.URL("postgres"))
	must(t, err)
	conn, err := pgx.Connect(t.Context(), at.String())
	must(t, err)
	defer conn.Close(t.Context())
	_, err = conn.Exec(t.Context(), `create role temporal login createdb password 'x'`)
	must(t, err)
	at.User, at.Path = url.UserPassword("temporal", "x"), "/temporal"
	w.schema = "PAWLD_FLEET_DATABASE_URL=" + at.String()
	w.env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.dir, w.schema}
	w.must(t, "pawld", "fleet", "schema")
	if out := w.must(t, "pawld", "fleet", "schema"); strings.Count(out, "as wanted") != 2 {
		t.Fatalf("pawld fleet schema says after the first time\n%s", out)
	}
	return w.startNode(t, "temporal-server", w.dir, at.Host)
}

// startNode starts a node of Temporal with ports of its own. Nodes find each other in their database.
func (w *world) startNode(t *testing.T, label, dir, database string) string {
	t.Helper()
	words := []string{"@FOLDER@", dir, "@DATABASE@", database, "@PASSWORD@", "x"}
	ports := freePorts(t, 8)
	for i, p := range ports {
		words = append(words, fmt.Sprintf("@P%d@", i), p)
	}
	for _, name := range []string{"postgres.yaml", "dynamic.yaml"} {
		text, err := os.ReadFile(filepath.Join("../../deploy/temporal", name))
		must(t, err)
		must(t, os.MkdirAll(dir, 0o700))
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(strings.NewReplacer(words...).Replace(string(text))), 0o600))
	}
	w.started[label] = w.startAs(label, nil, "temporal-server", "--root", dir, "--config", ".", "--env", "postgres", "--allow-no-auth", "start")
	return "127.0.0.1:" + ports[0]
}

func (w *world) state() string { return filepath.Join(w.dir, "agent") }

// kill kills a process with SIGKILL.
func (w *world) kill(name string) {
	w.t.Helper()
	if name == postgres {
		must(w.t, w.pg.Kill())
		return
	}
	must(w.t, w.started[name].Process.Kill())
	_ = w.started[name].Wait()
}

// again starts a killed process as before.
func (w *world) again(name string) {
	w.t.Helper()
	if name == postgres {
		must(w.t, w.pg.Restart(w.t.Context()))
		return
	}
	w.start(name, w.started[name].Args[1:]...)
}

// start starts a process until the test ends.
func (w *world) start(name string, args ...string) {
	w.t.Helper()
	var env []string
	if name == "pawld" {
		env = w.serve
	}
	w.started[name] = w.startAs(name, env, name, args...)
}

// startAs starts a program under another name and with more variables.
func (w *world) startAs(label string, env []string, name string, args ...string) *exec.Cmd {
	t := w.t
	t.Helper()
	log, err := os.OpenFile(filepath.Join(w.dir, label+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	must(t, err)
	defer log.Close()
	cmd := w.command(t, w.dir, name, args...)
	cmd.Env = append(slices.Clip(cmd.Env), env...)
	cmd.Stdout, cmd.Stderr = log, log
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if text, _ := os.ReadFile(log.Name()); t.Failed() {
			t.Logf("%s:\n%s", label, text[max(0, len(text)-4000):])
		}
	})
	return cmd
}

func (w *world) command(t *testing.T, dir, name string, args ...string) *exec.Cmd {
	t.Helper()
	path := filepath.Join(w.bin, name)
	if !strings.HasPrefix(name, "pawl") {
		path = name
	}
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Dir, cmd.Env = dir, w.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd
}

func (w *world) run(t *testing.T, dir, name string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	cmd := w.command(t, dir, name, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	return out.String(), errs.String(), err
}

func (w *world) must(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, errs, err := w.run(t, w.dir, name, args...)
	if err != nil {
		t.Fatalf("%s %v: %v\n%s%s", name, args, err, out, errs)
	}
	return out
}

var given sync.Map // ports that freePorts returned: a program may not listen yet

// freePorts returns ports that were free a moment ago. Temporal keeps its own in a column that ends at 32767.
func freePorts(t *testing.T, n int) (ports []string) {
	t.Helper()
	for len(ports) < n {
		port := strconv.Itoa(10000 + rand.IntN(22000))
		if _, again := given.LoadOrStore(port, true); again {
			continue
		}
		l, err := net.Listen("tcp", "127.0.0.1:"+port)
		if err != nil {
			continue
		}
		defer l.Close()
		ports = append(ports, port)
	}
	return ports
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
