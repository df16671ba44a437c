package daemon

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// admin handles the operator's requests: on a local socket, never on the public port.
func admin(m *metrics, h *health, level *slog.LevelVar, log *slog.Logger) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", m.handler())
	mux.HandleFunc("GET /livez", h.livez)
	mux.HandleFunc("GET /readyz", h.readyz)
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	mux.HandleFunc("GET /log/level", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, strings.ToLower(level.Level().String()))
	})
	mux.HandleFunc("PUT /log/level", func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 64))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		l, err := parseLevel(strings.TrimSpace(string(text)))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		level.Set(l)
		log.Warn("log level changed", "level", l.String())
		w.WriteHeader(http.StatusNoContent)
	})
	return mux
}

// serveMetrics serves only the metrics, on an address of their own if there is one. The returned function
// stops it.
func serveMetrics(ctx context.Context, c *config, log *slog.Logger, m *metrics) (stop func(), err error) {
	if c.Metrics.Listen == "" {
		return func() {}, nil
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", c.Metrics.Listen)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on the address for metrics (metrics.listen): %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", withToken(c.Metrics.Token.Reveal(), m.handler()))
	srv := &http.Server{
		Handler: mux, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second, IdleTimeout: time.Minute,
		MaxHeaderBytes: 16 << 10, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	go func() { _ = srv.Serve(l) }()
	log.Info("serving metrics", "address", l.Addr().String(), "token", !c.Metrics.Token.IsZero())
	return func() { _ = srv.Close() }, nil
}

// withToken requires a bearer token, unless it is empty.
func withToken(token string, inner http.Handler) http.Handler {
	if token == "" {
		return inner
	}
	want := sha256.Sum256([]byte("Bearer " + token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got := sha256.Sum256([]byte(r.Header.Get("Authorization")))
		if subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
			w.Header().Set("WWW-Authenticate", `Bearer realm="metrics"`)
			http.Error(w, "send the token of metrics.token", http.StatusUnauthorized)
			return
		}
		inner.ServeHTTP(w, r)
	})
}

// listenAdmin opens the admin listener, or returns nil if it is disabled. Only the user that runs pawld may
// use the socket.
func listenAdmin(ctx context.Context, text string) (net.Listener, error) {
	address, err := adminAddress(text)
	if err != nil || address == nil {
		return nil, err
	}
	var lc net.ListenConfig
	path, isSocket := strings.CutPrefix(text, "unix:")
	if !isSocket {
		l, err := lc.Listen(ctx, "tcp", text)
		if err != nil {
			return nil, fmt.Errorf("cannot listen on the admin address (admin.listen): %w", err)
		}
		return l, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("cannot create the folder of the admin socket (admin.listen): %w", err)
	}
	if err := clearSocket(ctx, path); err != nil {
		return nil, err
	}
	l, err := lc.Listen(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on the admin address (admin.listen): %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("cannot restrict access to the admin socket: %w", err), l.Close())
	}
	return l, nil
}

// clearSocket removes the stale socket that a killed server leaves behind.
func clearSocket(ctx context.Context, path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot check the admin socket: %w", err)
	}
	if info.Mode()&fs.ModeSocket == 0 {
		return fmt.Errorf("admin.listen: %s exists and is not a socket", path)
	}
	d := net.Dialer{Timeout: time.Second}
	if conn, err := d.DialContext(ctx, "unix", path); err == nil {
		_ = conn.Close()
		return fmt.Errorf("admin.listen: another pawld listens on %s", path)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot remove a stale admin socket: %w", err)
	}
	return nil
}
