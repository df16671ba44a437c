package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/base/version"
)

func newServe(g *globals) *cobra.Command {
	var addr string
	c := &cobra.Command{
		Use:   "serve",
		Short: "Run the server until it is stopped",
		Long: `Serves the API and the pages, and processes incoming reports. On SIGTERM it reports at
/readyz that it is not ready, waits for load balancers to notice (shutdown.delay), accepts
no more connections, finishes requests (shutdown.drain) and jobs, and exits with 0. A
second signal stops it immediately; nothing that was acknowledged is lost.

Metrics and profiles are on the admin socket (admin.listen); metrics alone can also be on
an address of their own (metrics.listen).`,
		Example: `  pawld serve --config /etc/pawld/pawld.yaml
  PAWLD_DATABASE_URL=postgres://pawl@127.0.0.1/pawl pawld serve --addr 127.0.0.1:8080`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if addr != "" {
				g.Environ = append(g.Environ, "PAWLD_LISTEN="+addr)
			}
			c, err := g.load()
			if err != nil {
				return err
			}
			if err := c.needDatabase(); err != nil {
				return err
			}
			return g.serve(cmd.Context(), c, nil)
		},
	}
	c.Flags().StringVar(&addr, "addr", "", "`address` to listen on, instead of the setting listen")
	return c
}

// serve runs a server until the context ends. It calls ready, if not nil, with the address once requests are
// answered.
func (g *globals) serve(ctx context.Context, c *config, ready func(net.Addr)) error {
	level := new(slog.LevelVar)
	if l, err := parseLevel(c.Log.Level); err == nil {
		level.Set(l)
	}
	log := newLog(g.Err, level)
	memory := limitMemory(os.DirFS("/"), newEnvironment(g.Environ), c.Memory.Share)
	log.Info("starting", "version", version.Version(), "memory_limit", memory)
	traces, err := newTracing(ctx, c.Traces.Endpoint, c.Traces.Share)
	if err != nil {
		return err
	}
	if c.Database.Migrate {
		if err := migrate(ctx, c, logWriter{log}); err != nil {
			return err
		}
	}
	p, err := openParts(ctx, c, log, traces)
	if err != nil {
		return err
	}
	if err := p.sealAudit(ctx); err != nil {
		p.close(ctx)
		return err
	}
	if err := p.startFleet(ctx, c, newEnvironment(g.Environ), g.now); err != nil {
		p.close(ctx)
		return err
	}
	m, h := newMetrics(), &health{ready: p.store.Ready, log: log}
	m.watch(p, h)
	stopWatching := h.watch(ctx)
	end := func(ctx context.Context) {
		stopWatching() // or it would report the database as away
		p.close(ctx)
	}
	s, err := p.server(c, m, g.now)
	if err != nil {
		end(ctx)
		return err
	}
	stopMetrics, err := serveMetrics(ctx, c, log, m)
	if err != nil {
		end(ctx)
		return err
	}
	defer stopMetrics()
	err = g.listen(ctx, c, log, h, public(h, traces.requests(s.Handler())), admin(m, h, level, log), s.Drain, func(a net.Addr) error {
		if c.Queue.Work {
			if err := p.queue.Start(ctx, p.work(c, m)); err != nil {
				return err
			}
		}
		if ready != nil {
			ready(a)
		}
		return nil
	})
	// The requests have ended. Now stop the jobs, then send their last traces.
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 15*time.Second)
	defer cancel()
	end(last)
	if err := traces.stop(last); err != nil {
		log.Warn("the last traces were not sent", "error", err)
	}
	log.Info("stopped")
	return err
}

// sealAudit signs the audit logs that are not signed yet. The log says so: after the first start with a key
// there should be none.
func (p *components) sealAudit(ctx context.Context) error {
	sealed, err := p.store.SealAudit(ctx)
	for _, id := range sealed {
		p.log.Warn("the audit log of a project was not signed with audit.key, and is from now on", "project", id)
	}
	return err
}

// public returns the handler of the public port.
func public(h *health, rest http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", h.livez)
	mux.HandleFunc("GET /readyz", h.readyz)
	mux.Handle("/", rest)
	return mux
}

// listen opens both listeners, calls begin, and serves until the context ends.
func (g *globals) listen(ctx context.Context, c *config, log *slog.Logger, h *health, public, admin http.Handler, drain func(), begin func(net.Addr) error) error {
	inside, err := listenAdmin(ctx, c.Admin.Listen)
	if err != nil {
		return err
	}
	if inside != nil {
		srv := &http.Server{Handler: admin, ReadHeaderTimeout: 10 * time.Second, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn)}
		go func() { _ = srv.Serve(inside) }()
		defer func() { _ = srv.Close() }()
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", c.Listen)
	if err != nil {
		if errors.Is(err, syscall.EADDRINUSE) {
			return fmt.Errorf("cannot listen: %w\n  another program uses %s: stop it, or choose another address with --addr (listen in the settings)", err, c.Listen)
		}
		return fmt.Errorf("cannot listen: %w", err)
	}
	if err := begin(l.Addr()); err != nil {
		return errors.Join(err, l.Close())
	}
	return serveHTTP(ctx, c, log, h, l, public, drain)
}

// serveHTTP serves until the context ends, then shuts down as the help of serve describes. drain ends open
// streams.
func serveHTTP(ctx context.Context, c *config, log *slog.Logger, h *health, l net.Listener, handler http.Handler, drain func()) error {
	srv := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: c.Timeouts.Header,
		ReadTimeout:       c.Timeouts.Read,
		WriteTimeout:      c.Timeouts.Write,
		IdleTimeout:       c.Timeouts.Idle,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	srv.RegisterOnShutdown(drain)
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(l) }()
	log.Info("listening", "address", l.Addr().String())
	select {
	case err := <-ended:
		return fmt.Errorf("cannot serve on %s: %w", l.Addr(), err)
	case <-ctx.Done():
	}
	h.draining.Store(true)
	log.Info("draining", "delay", c.Shutdown.Delay.String())
	time.Sleep(c.Shutdown.Delay)    // requests are still accepted: load balancers need time to notice
	srv.SetKeepAlivesEnabled(false) // tells clients to close their connections
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), max(c.Shutdown.Drain, time.Millisecond))
	defer cancel()
	if err := srv.Shutdown(stop); err != nil {
		log.Warn("requests were cut off", "after", c.Shutdown.Drain.String())
		return srv.Close()
	}
	log.Info("drained")
	return nil
}

// logWriter logs each line that is written to it.
type logWriter struct{ log *slog.Logger }

func (w logWriter) Write(p []byte) (int, error) {
	n := len(p)
	for n > 0 && p[n-1] == '\n' {
		n--
	}
	w.log.Info(string(p[:n]))
	return len(p), nil
}
