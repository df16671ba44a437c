package daemon

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/failpoint"
	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/forge/identity"
	"github.com/goatnote-inc/pawl/internal/server"
	"github.com/goatnote-inc/pawl/internal/server/alert"
	"github.com/goatnote-inc/pawl/internal/server/blob"
	"github.com/goatnote-inc/pawl/internal/server/engine"
	"github.com/goatnote-inc/pawl/internal/server/queue"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/store/pointstore"
)

// components holds the components of a server; commands use those they need.
type components struct {
	store *store.Store
	blobs *blob.Bucket
	queue *queue.Queue
	log   *slog.Logger

	engine    *engine.Engine  // nil without a fleet
	webhooks  *forge.Webhooks // nil without credentials of a forge
	stopFleet func()
}

// openParts connects to everything that the settings name.
func openParts(ctx context.Context, c *config, log *slog.Logger, t *tracing) (*components, error) {
	p := &components{log: log}
	var err error
	url := c.Database.URL.Reveal()
	qc := queue.Config{URL: url, Log: quieter(log)}
	if t != nil && t.tracer != nil {
		qc.Carry, qc.Resume = traceparent, t.resume
	}
	if p.queue, err = queue.New(ctx, qc); err != nil {
		return nil, scrub(err, c)
	}
	p.store, err = store.Open(ctx, store.Config{
		URL: url, Conns: c.Database.Connections, AllowUnsafe: c.Database.AllowUnsafe, Now: failpoint.Now,
	}, p.queue.RequestScan)
	if err != nil {
		p.close(ctx)
		return nil, scrub(err, c)
	}
	p.store.SetBounds(c.bounds())
	p.store.SetAuditKey([]byte(c.Audit.Key.Reveal()))
	if user := p.store.DB().Superuser; user != "" {
		log.Warn("the user of the database is a superuser: use a role that is only a member of pawl_app", "user", user)
	}
	if p.blobs, err = blob.Open(ctx, c.Blobs.URL); err != nil {
		p.close(ctx)
		return nil, err
	}
	return p, nil
}

// close closes everything. Running work ends first, or is cut off when ctx ends.
func (p *components) close(ctx context.Context) {
	var errs []error
	if p.stopFleet != nil {
		p.stopFleet()
	}
	if p.engine != nil {
		p.engine.Close()
	}
	if p.queue != nil {
		errs = append(errs, p.queue.Stop(ctx))
	}
	if p.store != nil {
		p.store.Close()
	}
	if p.blobs != nil {
		errs = append(errs, p.blobs.Close())
	}
	if err := errors.Join(errs...); err != nil {
		p.log.Warn("shutdown incomplete", "error", err)
	}
}

// server creates the HTTP server.
func (p *components) server(c *config, m server.Metrics, now func() time.Time) (*server.Server, error) {
	verifier, err := p.verifier(c, now)
	if err != nil {
		return nil, err
	}
	var login *server.Login
	if c.Login.Issuer != "" {
		login = &server.Login{
			Issuer: c.Login.Issuer, ClientID: c.Login.ClientID, Secret: c.Login.ClientSecret,
			Hosts: c.Login.Hosts, Admins: c.Login.Admins, Lifetime: c.Login.Lifetime, Idle: c.Login.Idle,
		}
	}
	proxies, err := c.proxies()
	if err != nil {
		return nil, usageError{err}
	}
	var fleet server.Fleet
	if p.engine != nil {
		fleet = p.engine
	}
	s, err := server.New(server.Config{
		Fleet: fleet, Webhooks: p.webhooks, Store: p.store, Blobs: p.blobs, Verifier: verifier, Login: login, URL: c.URL, Log: p.log, Now: now,
		Metrics: m, Proxies: proxies, Secret: []byte(c.Login.CookieSecret.Reveal()), Mail: c.mail(), PrivateHooks: c.Hooks.AllowPrivate,
		Limits: c.limits(),
	})
	if err != nil {
		return nil, usageError{err}
	}
	return s, nil
}

// takesJobs reports whether tokens of CI jobs are accepted. They are issued for an https address, so a server
// that is only reachable locally accepts only keys.
func (c *config) takesJobs() bool {
	return len(c.CI.Issuers) > 0 && strings.HasPrefix(c.URL, "https://")
}

// verifier returns the verifier of CI job tokens; nil if they are not accepted.
func (p *components) verifier(c *config, now func() time.Time) (*identity.Verifier, error) {
	if len(c.CI.Issuers) == 0 {
		return nil, nil
	}
	if !c.takesJobs() {
		p.log.Info("CI job tokens are not accepted: url is not https", "url", c.URL)
		return nil, nil
	}
	v, err := identity.NewVerifier(identity.Config{Server: c.URL, Issuers: c.CI.Issuers, Now: now, Seen: p.store.TokenUses()})
	if err != nil {
		return nil, usageError{err}
	}
	return v, nil
}

// work maps the jobs of the queue to functions of the parts.
func (p *components) work(c *config, m *metrics) queue.Workers {
	teller := alert.NewNotifier(alert.Options{URL: c.URL, Private: c.Hooks.AllowPrivate, Mail: c.mail(), Now: failpoint.Now})
	w := queue.Workers{
		Look: func(ctx context.Context, project int64) error { return p.scan(ctx, m, project) },
		Tell: func(ctx context.Context, project int64, send queue.Send) error {
			return p.store.Notify(ctx, project, c.Hooks.Every, send)
		},
		Deliver: func(ctx context.Context, project, hook int64, told time.Time) error {
			began := time.Now()
			err := teller.Deliver(ctx, p.store, project, hook, told)
			m.jobDone("deliver", began, err)
			if errors.Is(err, alert.ErrRefused) {
				return errors.Join(queue.ErrGiveUp, err)
			}
			return err
		},
		Waiting: p.store.PendingProjects,
		Compact: m.job("compact", func(ctx context.Context) error {
			if _, err := p.store.IndexWords(ctx); err != nil {
				return err
			}
			_, err := p.store.Compact(ctx, pointstore.CompactOptions{})
			return err
		}),
		Partitions: m.job("partitions", func(ctx context.Context) error {
			_, err := p.store.Partitions(ctx)
			return err
		}),
		Retain: m.job("retain", func(ctx context.Context) error {
			_, err := p.store.Retain(ctx, store.RetainOptions{SampleDays: c.Retain.SampleDays, BranchDays: c.Retain.BranchDays, Drop: p.blobs.Delete})
			return err
		}),
		Collect: m.job("collect", func(ctx context.Context) error { return collect(ctx, p.store, p.blobs, failpoint.Now()) }),
	}
	if p.engine != nil {
		w.Gates = m.job("gates", func(ctx context.Context) error { return p.engine.EndLost(ctx, failpoint.Now()) })
	}
	return w
}

// scan moves points of commits whose time became known, then scans the project for changes.
func (p *components) scan(ctx context.Context, m *metrics, project int64) error {
	began := time.Now()
	if _, err := p.store.Resolve(ctx, project); err != nil {
		m.jobDone("resolve", began, err) // those points stay for now; the others are scanned
		p.log.WarnContext(ctx, "cannot move points to their resolved commits", "project", project, "error", err)
	}
	looked, err := alert.Scan(ctx, p.store, project)
	if errors.Is(err, alert.ErrBusy) {
		return queue.ErrRetryLater
	}
	m.jobDone("look", began, err)
	if looked.Damaged > 0 {
		p.log.ErrorContext(ctx, "points of some series cannot be read: run `pawld fsck` to list them", "project", project, "series", looked.Damaged)
	}
	if err == nil && !looked.Oldest.IsZero() {
		m.lag.Observe(time.Since(looked.Oldest).Seconds())
	}
	return err
}

// quieter drops a library's info messages: it logs a line per job.
func quieter(log *slog.Logger) *slog.Logger {
	return slog.New(atLeast{log.Handler(), slog.LevelWarn})
}

type atLeast struct {
	slog.Handler
	level slog.Level
}

func (h atLeast) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= h.level && h.Handler.Enabled(ctx, l)
}

func (h atLeast) WithAttrs(a []slog.Attr) slog.Handler {
	return atLeast{h.Handler.WithAttrs(a), h.level}
}

func (h atLeast) WithGroup(name string) slog.Handler {
	return atLeast{h.Handler.WithGroup(name), h.level}
}
