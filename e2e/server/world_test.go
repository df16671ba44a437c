package server

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/internal/base/await"
	"github.com/goatnote-inc/pawl/internal/forge/identity/identitytest"
	"github.com/goatnote-inc/pawl/internal/server/pgtemp"
	"github.com/goatnote-inc/pawl/internal/server/store"
)

// publicURL is what the server calls itself. It is reached at its port.
const publicURL = "https://pawl.example"

// world is a server with all that it needs, none of which is in this process but those
// that it talks to.
type world struct {
	dir    string
	pg     *pgtemp.Server
	url    string // of the server
	order  string // the file that says where to die
	log    string
	env    []string
	issuer *identitytest.Issuer // of CI jobs' tokens
	people *people              // the provider that people log in with
	inbox  *inbox               // where hooks point to
	serve  *exec.Cmd
	ended  chan struct{}
	tries  int
}

// newWorld starts a PostgreSQL that writes to the disk as in earnest, and a server.
func newWorld(t *testing.T) *world {
	t.Helper()
	return newWorldOn(t, t.TempDir(), nil)
}

// newWorldOn is newWorld in a folder, with more environment for PostgreSQL and for pawld.
func newWorldOn(t *testing.T, dir string, pgEnv []string, env ...string) *world {
	t.Helper()
	pg, err := pgtemp.Start(t.Context(), pgtemp.Options{Dir: filepath.Join(dir, "pg"), Durable: true, Settings: []string{"max_wal_size=128MB"}, Env: pgEnv})
	if errors.Is(err, pgtemp.ErrNotInstalled) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pg.Stop(context.WithoutCancel(t.Context()), true) })
	w := &world{dir: dir, pg: pg, order: filepath.Join(dir, "order"), log: filepath.Join(t.TempDir(), "serve.log"), issuer: identitytest.NewIssuer(t, ""), people: newPeople(t), inbox: newInbox(t)}
	cert := filepath.Join(dir, "issuer.pem")
	w.writeCertificate(t, cert)
	built(t, "pawld") // takes a while, in which a free port would not stay free
	port := freePort(t)
	w.url = "http://127.0.0.1:" + port
	w.env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + dir, "SSL_CERT_FILE=" + cert,
		"PAWLD_DATABASE_URL=" + pg.URL("postgres"), "PAWLD_LISTEN=127.0.0.1:" + port, "PAWLD_URL=" + publicURL,
		"PAWLD_BLOBS_URL=file://" + w.blobs(), "PAWLD_ADMIN_LISTEN=off", "PAWLD_CI_ISSUERS=" + w.issuer.URL,
		"PAWLD_LOGIN_ISSUER=" + w.people.URL, "PAWLD_LOGIN_CLIENT_ID=pawl", "PAWLD_LOGIN_CLIENT_SECRET=secret",
		"PAWLD_HOOKS_ALLOW_PRIVATE=true", "PAWLD_HOOKS_EVERY=1ms", "PAWLD_SHUTDOWN_DELAY=0s", "PAWLD_LOG_LEVEL=warn",
	}, env...)
	w.start(t)
	t.Cleanup(func() {
		_ = w.serve.Process.Kill()
		<-w.ended
		if t.Failed() {
			said, _ := os.ReadFile(w.log)
			t.Logf("the server said at last:\n%s", said[max(0, len(said)-8000):])
		}
	})
	return w
}

func (w *world) blobs() string { return filepath.Join(w.dir, "blobs") }

// writeCertificate lets the server trust the issuer, which no authority knows.
func (w *world) writeCertificate(t *testing.T, path string) {
	t.Helper()
	resp, err := w.issuer.Client.Get(w.issuer.URL + "/.well-known/jwks")
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: resp.TLS.PeerCertificates[0].Raw})
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}

// start starts the server and waits until it is ready.
func (w *world) start(t *testing.T) {
	t.Helper()
	log, err := os.OpenFile(w.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd := w.command(t, "pawld", "serve")
	cmd.Env = append(cmd.Env, "PAWLD_FAILPOINT_FILE="+w.order)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.serve, w.ended = cmd, make(chan struct{})
	go func() { _ = cmd.Wait(); close(w.ended) }()
	await.TrueWithin(t, patience, "the server to be ready", func() bool {
		select {
		case <-w.ended:
			said, _ := os.ReadFile(w.log)
			t.Fatalf("the server ended by itself: %v\n%s", cmd.ProcessState, said[max(0, len(said)-4000):])
		default:
		}
		resp, err := http.Get(w.url + "/readyz")
		if err == nil {
			_ = resp.Body.Close()
		}
		return err == nil && resp.StatusCode == http.StatusOK
	})
}

// command is one of ours with the world's settings.
func (w *world) command(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(built(t, name), args...)
	cmd.Env = append([]string(nil), w.env...)
	return cmd
}

// arm says where to die: the process that has the file in its environment, or PostgreSQL.
func (w *world) arm(t *testing.T, name string, nth int, victim string) {
	t.Helper()
	text := fmt.Sprintf("%s:%d:%s", name, nth, victim)
	if victim == postgres {
		pid, err := w.pg.PID()
		if err != nil {
			t.Fatal(err)
		}
		text += " " + strconv.Itoa(pid)
	}
	_ = os.Remove(w.order + ".fired")
	if err := os.WriteFile(w.order+".new", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(w.order+".new", w.order); err != nil {
		t.Fatal(err)
	}
}

func (w *world) fired() bool {
	_, err := os.Stat(w.order + ".fired")
	return err == nil
}

// killed waits for the server's end, which must have been a violent one.
func (w *world) killed(t *testing.T) {
	t.Helper()
	await.Receive(t, "the server to end", w.ended)
	if !byKill(w.serve.ProcessState) {
		t.Fatalf("the server ended with %v", w.serve.ProcessState)
	}
}

func byKill(s *os.ProcessState) bool {
	status, ok := s.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// mendPostgres starts the database again after it died.
func (w *world) mendPostgres(t *testing.T, pid int) {
	t.Helper()
	await.True(t, "PostgreSQL to be dead", func() bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) })
	if err := w.pg.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// sql runs a statement as the superuser, to whom no row is hidden.
func (w *world) sql(t *testing.T, do func(*pgx.Conn) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, w.pg.URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	if err := do(conn); err != nil {
		t.Fatal(err)
	}
}

func (w *world) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	w.sql(t, func(c *pgx.Conn) error {
		if _, err := c.Exec(t.Context(), sql, args...); err != nil {
			return fmt.Errorf("%s: %w", sql, err)
		}
		return nil
	})
}

func (w *world) count(t *testing.T, sql string, args ...any) (n int) {
	t.Helper()
	w.sql(t, func(c *pgx.Conn) error {
		if err := c.QueryRow(t.Context(), sql, args...).Scan(&n); err != nil {
			return fmt.Errorf("%s: %w", sql, err)
		}
		return nil
	})
	return n
}

// ask queues a job as the server's own clock would: now, instead of within the hour.
func (w *world) ask(t *testing.T, what string) {
	t.Helper()
	if err := w.tryAsk(t.Context(), what); err != nil {
		t.Fatal(err)
	}
}

// tryAsk is ask where the database may be dead.
func (w *world) tryAsk(ctx context.Context, what string) error {
	conn, err := pgx.Connect(ctx, w.pg.URL("postgres"))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	queue := "house"
	if what == "sweep" {
		queue = "tell"
	}
	_, err = conn.Exec(ctx, `insert into river.river_job (kind, queue, max_attempts, args) values ('house', $1, 1, jsonb_build_object('what', $2::text))`, queue, what)
	return err
}

// store opens the database as the server does.
func (w *world) store(t *testing.T, do func(*store.Store)) {
	t.Helper()
	s, err := store.Open(t.Context(), store.Config{URL: w.pg.URL("postgres"), Conns: 2}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	do(s)
}

// fsck is what pawld itself finds wrong; nothing, if all is well.
func (w *world) fsck(t *testing.T) string {
	t.Helper()
	out, err := w.command(t, "pawld", "fsck", "--deep").CombinedOutput()
	if err == nil {
		return ""
	}
	return strings.TrimSpace(fmt.Sprintf("%v: %s", err, out))
}
