package server

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/base/loopback"
	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/forge/identity"
	"github.com/goatnote-inc/pawl/internal/server/alert"
	"github.com/goatnote-inc/pawl/internal/server/blob"
	"github.com/goatnote-inc/pawl/internal/server/store"
)

// Config configures a server.
type Config struct {
	Store    *store.Store
	Blobs    *blob.Bucket
	Verifier *identity.Verifier // verifies CI jobs; nil means only keys may send
	Login    *Login             // nil means that people cannot log in
	URL      string             // public address, https://HOST; http only on loopback
	Log      *slog.Logger
	Now      func() time.Time
	Limits   Limits // zero fields mean the default
	Metrics  Metrics
	// Proxies lists the proxies whose X-Forwarded-For is trusted.
	Proxies []netip.Prefix
	// Secret signs the data that a browser holds during a login: 32 bytes, the same for all servers of one
	// address. If empty, a random one is used, which is enough for a single server.
	Secret []byte
	// Mail lists the allowed recipients of mail; zero allows none.
	Mail alert.Mail
	// PrivateHooks allows hooks to private addresses and over http.
	PrivateHooks bool
	// Fleet runs gates on other machines; nil means that this server has none.
	Fleet Fleet
	// Webhooks reads what the forge reports of changes; nil if none may report any.
	Webhooks *forge.Webhooks
}

// Metrics records what happens. Labels are bounded: a route is a pattern of the table, a reason one of the
// words of problems.
type Metrics interface {
	Request(ctx context.Context, route, method string, status int, took time.Duration)
	Ingested(points int, again bool)
	Refused(reason string)
}

type noMetrics struct{}

func (noMetrics) Request(context.Context, string, string, int, time.Duration) {}
func (noMetrics) Ingested(int, bool)                                          {}
func (noMetrics) Refused(string)                                              {}

// Server answers requests. Its only state is counters, caches and the runs in progress that were reported to
// it, so any number of servers may share one database.
type Server struct {
	store    *store.Store
	blobs    *blob.Bucket
	verifier *identity.Verifier
	login    *relyingParty
	lifetime time.Duration // of a login
	idle     time.Duration // after which an unused login ends
	url      *url.URL
	log      *slog.Logger
	now      func() time.Time
	limits   Limits
	metrics  Metrics
	proxies  []netip.Prefix
	secret   []byte
	mail     alert.Mail
	private  bool // hooks may point to private addresses
	fleet    Fleet
	webhooks *forge.Webhooks // nil if no forge may report changes

	buckets *limiterCache
	ingests *projectBudget // limits reports being stored
	bodies  *projectBudget // limits bytes of reports being read
	uploads *projectBudget // limits blobs being read
	records *projectBudget // limits requests that hold records
	packed  *projectBudget // limits bytes of records being sent
	turns   *projectBudget // limits queries and pages being answered
	exports *projectBudget
	judged  *lru[template.HTML] // rebuilt reports
	lives   *liveRuns
	handler http.Handler

	unavailable, diskFull atomic.Bool // logged outages

	drain    sync.Once
	draining chan struct{}
}

// New checks a configuration and creates a server. It makes no network requests.
func New(c Config) (*Server, error) {
	if c.Store == nil || c.Blobs == nil {
		return nil, errors.New("a server needs a store and blob storage")
	}
	where, err := parseURL(c.URL)
	if err != nil {
		return nil, err
	}
	s := &Server{
		store: c.Store, blobs: c.Blobs, verifier: c.Verifier, url: where, log: c.Log, now: c.Now,
		limits: c.Limits.orDefault(), metrics: c.Metrics, proxies: c.Proxies, secret: c.Secret, mail: c.Mail, private: c.PrivateHooks, webhooks: c.Webhooks,
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.now == nil {
		s.now = time.Now
	}
	if c.Fleet != nil {
		s.fleet = &queueViews{Fleet: c.Fleet, now: s.now}
	}
	if s.metrics == nil {
		s.metrics = noMetrics{}
	}
	if len(s.secret) == 0 {
		s.secret = make([]byte, 32)
		_, _ = rand.Read(s.secret) // never fails: crypto/rand crashes the program instead
	}
	if len(s.secret) < 32 {
		return nil, fmt.Errorf("the secret has %d bytes, the minimum is 32", len(s.secret))
	}
	if c.Login != nil {
		if s.login, err = newRelyingParty(*c.Login, where, s.now); err != nil {
			return nil, err
		}
	}
	s.lifetime, s.idle = 7*24*time.Hour, 24*time.Hour
	if c.Login != nil {
		s.lifetime, s.idle = cmp.Or(c.Login.Lifetime, s.lifetime), cmp.Or(c.Login.Idle, s.idle)
	}
	s.buckets = &limiterCache{newLRU[*rate.Limiter](s.limits.Buckets), s.now}
	s.ingests = newShares(int64(s.limits.Ingests), 1)
	s.bodies = newShares(s.limits.IngestBytes, client.MaxReport)
	s.uploads = newShares(int64(s.limits.Uploads), 1)
	s.records = newShares(int64(s.limits.Records), 1)
	s.packed = newShares(s.limits.RecordBytes, maxPacked)
	s.turns = newShares(int64(s.limits.Requests), 1)
	s.exports = newShares(int64(s.limits.Exports), 1)
	s.judged = newLRU[template.HTML](judgedBytes)
	s.lives, s.draining = newLives(s.now), make(chan struct{})
	s.handler = s.wrap(s.mux())
	return s, nil
}

// Handler serves everything on the public port except /livez and /readyz.
func (s *Server) Handler() http.Handler { return s.handler }

// mux serves the API and the pages. A missing path is a problem document in the API, and an error page
// elsewhere.
func (s *Server) mux() http.Handler {
	api, pages := http.NewServeMux(), http.NewServeMux()
	for _, r := range routes {
		api.Handle(r.Method+" "+r.Path, s.handle(r))
	}
	api.HandleFunc("/v1/", func(w http.ResponseWriter, r *http.Request) {
		s.refuse(w, r, problem(http.StatusNotFound, "no-route", "%s is not supported here: see /v1/openapi.yaml", words.Sanitize(r.Method)))
	})
	s.loginRoutes(pages)
	s.pages(pages)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/v1/") {
			api.ServeHTTP(w, r)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), s.limits.Request)
		defer cancel()
		pages.ServeHTTP(w, r.WithContext(ctx))
	})
}

// parseURL parses the server's public address. Cookies and tokens require https; plain http is allowed only
// on the local machine.
func parseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "" || u.Scheme != "https" && (u.Scheme != "http" || !loopback.Is(u.Hostname())) {
		return nil, fmt.Errorf("the server's own URL %q must be https://HOST, or http://127.0.0.1:PORT on this machine only", text)
	}
	return u, nil
}

type contextKey struct{}

func requestInfoOf(r *http.Request) *requestInfo {
	v, _ := r.Context().Value(contextKey{}).(*requestInfo)
	if v == nil { // a handler called without the middleware, as in a test
		return &requestInfo{id: "none", endTurn: func() {}}
	}
	return v
}
