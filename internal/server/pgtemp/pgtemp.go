// Package pgtemp starts a temporary PostgreSQL in its own folder, for tests, experiments and demos. It
// uses the installed binaries and downloads nothing. It must not know what is stored in the database.
package pgtemp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ErrNotInstalled means that no PostgreSQL is installed.
var ErrNotInstalled = errors.New("PostgreSQL is not installed (Debian and Ubuntu: apt-get install postgresql)")

// Options configures the server.
type Options struct {
	Dir      string   // holds everything; created if missing
	Durable  bool     // fsync on, as in production; otherwise as fast as possible
	Settings []string // more of them: "shared_buffers=1GB"
	Env      []string // more environment for its processes
}

// Server is a running PostgreSQL.
type Server struct {
	bin, data, log string
	port           int
	settings, env  []string
	as             *syscall.Credential
}

// Start starts a server in a folder, creating a cluster there if none exists. PostgreSQL refuses to run
// as root, so root runs it as another user and gives that user the folder.
func Start(ctx context.Context, o Options) (*Server, error) {
	bin, err := binaries()
	if err != nil {
		return nil, err
	}
	s := &Server{bin: bin, data: filepath.Join(o.Dir, "data"), log: filepath.Join(o.Dir, "log"), env: o.Env}
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("cannot create the PostgreSQL folder: %w", err)
	}
	if err := s.chownFolder(o.Dir); err != nil {
		return nil, err
	}
	s.settings = append([]string{"listen_addresses=127.0.0.1", "unix_socket_directories=", "max_connections=200"}, o.Settings...)
	if !o.Durable {
		s.settings = append(s.settings, "fsync=off", "synchronous_commit=off", "full_page_writes=off")
	}
	if _, err := os.Stat(filepath.Join(s.data, "PG_VERSION")); err != nil {
		args := []string{"-D", s.data, "-A", "trust", "-U", "postgres", "--no-instructions", "-E", "UTF8", "--locale=C.UTF-8", "--data-checksums"}
		if !o.Durable {
			args = append(args, "--no-sync")
		}
		if err := s.run(ctx, "initdb", args...); err != nil {
			return nil, err
		}
	}
	// Another process may take a free port before the server binds it.
	for try := 0; ; try++ {
		if s.port, err = freePort(ctx); err != nil {
			return nil, err
		}
		if err = s.start(ctx); err == nil || try == 5 || !s.logged("could not bind", "Address already in use") {
			return s, err
		}
	}
}

// logged reports whether the end of the log contains one of texts.
func (s *Server) logged(texts ...string) bool {
	all, _ := os.ReadFile(s.log)
	end := string(all[max(0, len(all)-600):])
	return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(end, text) })
}

// exitLimit is how long the processes of a killed server may take to exit: usually milliseconds, seconds
// on a busy machine.
const exitLimit = time.Minute

// Restart starts the server again after a Kill or a Stop. Children of a killed server may need a moment
// to exit.
func (s *Server) Restart(ctx context.Context) error {
	for end := time.Now().Add(exitLimit); ; time.Sleep(100 * time.Millisecond) {
		err := s.start(ctx)
		if err == nil || ctx.Err() != nil || time.Now().After(end) || !s.logged("still in use", "Address already in use") {
			return err
		}
	}
}

func (s *Server) start(ctx context.Context) error {
	var options strings.Builder
	fmt.Fprintf(&options, "-p %d", s.port)
	for _, set := range s.settings {
		fmt.Fprintf(&options, " -c '%s'", set)
	}
	return s.run(ctx, "pg_ctl", "-D", s.data, "-w", "-t", "60", "-l", s.log, "-o", options.String(), "start")
}

// URL returns the address of a database, for the superuser.
func (s *Server) URL(database string) string {
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/%s?sslmode=disable", s.port, database)
}

// Stop stops the server: in fast mode, or immediately like a crash, without a checkpoint.
func (s *Server) Stop(ctx context.Context, immediate bool) error {
	mode := "fast"
	if immediate {
		mode = "immediate"
	}
	return s.run(ctx, "pg_ctl", "-D", s.data, "-w", "-m", mode, "stop")
}

// PID returns the id of the server's main process.
func (s *Server) PID() (int, error) {
	b, err := os.ReadFile(filepath.Join(s.data, "postmaster.pid"))
	if err != nil {
		return 0, fmt.Errorf("cannot read the process ID of PostgreSQL in %s: %w", s.data, err)
	}
	line, _, _ := strings.Cut(string(b), "\n")
	return strconv.Atoi(strings.TrimSpace(line))
}

// Kill kills the server with SIGKILL and waits until its main process is gone.
func (s *Server) Kill() error {
	pid, err := s.PID()
	if err != nil {
		return err
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		return fmt.Errorf("cannot kill PostgreSQL %d: %w", pid, err)
	}
	// The process is gone once its exit was collected. Its children then notice that their parent is dead, and
	// release the shared memory.
	for range 500 {
		if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return nil
}

func (s *Server) run(ctx context.Context, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, filepath.Join(s.bin, name), args...)
	cmd.Dir = "/"
	cmd.Env = append(append(os.Environ(), "LC_ALL=C.UTF-8"), s.env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if s.as != nil {
		cmd.SysProcAttr.Credential = s.as
	}
	// Use a file, not a pipe: the server inherits it, and a pipe would never reach its end.
	out, err := os.CreateTemp("", "pgtemp")
	if err != nil {
		return err
	}
	defer os.Remove(out.Name())
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Run(); err != nil {
		said, _ := os.ReadFile(out.Name())
		logged, _ := os.ReadFile(s.log)
		return fmt.Errorf("%s of PostgreSQL in %s: %w\n%s%s", name, s.bin, err, said, logged[max(0, len(logged)-2000):])
	}
	return nil
}

// chownFolder makes another user own the folder if this process runs as root.
func (s *Server) chownFolder(dir string) error {
	if os.Getuid() != 0 {
		return nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, _ := strconv.ParseUint(u.Uid, 10, 32)
		gid, _ := strconv.ParseUint(u.Gid, 10, 32)
		s.as = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		// That user must be able to traverse the parent folders, which a test's own folder does not allow.
		for at := dir; len(at) > 1; at = filepath.Dir(at) {
			if info, err := os.Stat(at); err == nil && info.Mode()&0o001 == 0 {
				if err := os.Chmod(at, info.Mode()|0o011); err != nil {
					break
				}
			}
		}
		return os.Chown(dir, int(uid), int(gid))
	}
	return errors.New("PostgreSQL does not run as root, and there is neither a user postgres nor a user nobody to run it as")
}

// binaries finds the folder of initdb and pg_ctl, which distributions do not put in PATH.
func binaries() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		if target, err := filepath.EvalSymlinks(path); err == nil {
			return filepath.Dir(target), nil
		}
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	slices.SortFunc(found, func(a, b string) int { return major(b) - major(a) })
	if len(found) == 0 {
		return "", ErrNotInstalled
	}
	return filepath.Dir(found[0]), nil
}

func major(path string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path))))
	return n
}

func freePort(ctx context.Context) (int, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("cannot find a free port: %w", err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return 0, fmt.Errorf("cannot find a free port: %w", err)
	}
	return strconv.Atoi(port)
}
