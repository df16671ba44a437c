package server

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/forge/identity"
	"github.com/goatnote-inc/pawl/internal/forge/identity/identitytest"
	"github.com/goatnote-inc/pawl/internal/server/blob"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/store/storetest"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// loginIssuer knows the people of a test.
const loginIssuer = "https://login.example"

// publicURL is how the server of a test is called: tokens are for https.
const publicURL = "https://pawl.example"

// world is a server with all that is behind it, as real as it gets: PostgreSQL, a folder
// of blobs, an issuer of tokens, and HTTP in front.
type world struct {
	t      testing.TB
	db     string
	store  *store.Store
	blobs  *blob.Bucket
	issuer *identitytest.Issuer
	server *Server
	url    string // of the listener
	log    *lockedBuffer
	http   *http.Client
}

// newWorld starts one. change may say what is different about it.
func newWorld(t testing.TB, change ...func(*Config)) *world {
	t.Helper()
	w := &world{t: t, db: storetest.URL(t), log: &lockedBuffer{}}
	var err error
	if w.store, err = store.Open(t.Context(), store.Config{URL: w.db, AllowUnsafe: true, Conns: 8}, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.store.Close)
	if w.blobs, err = blob.Open(t.Context(), "file://"+t.TempDir()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.blobs.Close() })
	w.issuer = identitytest.NewIssuer(t, "")
	verifier, err := identity.NewVerifier(identity.Config{Server: publicURL, Issuers: []string{w.issuer.URL}, HTTP: w.issuer.Client, Now: time.Now, Seen: w.store.TokenUses()})
	if err != nil {
		t.Fatal(err)
	}
	c := Config{
		Store: w.store, Blobs: w.blobs, Verifier: verifier, URL: publicURL, Fleet: &fakeFleet{},
		Log:   slog.New(slog.NewJSONHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Login: &Login{Issuer: loginIssuer, ClientID: "pawl", Admins: []string{"operator"}}, // nobody asks it
		// Tests that are about limits set their own.
		Limits: Limits{PerAddress: Rate{1e6, 1e6}, PerKey: Rate{1e6, 1e6}, PerProject: Rate{1e6, 1e6}},
	}
	for _, f := range change {
		f(&c)
	}
	if w.server, err = New(c); err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(w.server.Handler())
	t.Cleanup(front.Close)
	w.url, w.http = front.URL, front.Client()
	w.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return w
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func (w *world) ctx() context.Context { return w.t.Context() }

func (w *world) project(slug string, public bool) store.Project {
	w.t.Helper()
	p, err := w.store.CreateProject(w.ctx(), store.Project{Project: client.Project{Slug: slug, Name: slug, Public: public, Branch: "main"}})
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

// key makes one with scopes, and gives its text.
func (w *world) key(p store.Project, scopes ...store.Scope) string {
	w.t.Helper()
	text, _, err := w.store.NewKey(w.ctx(), p.ID, store.Key{Name: "test", Scopes: scopes, CreatedBy: "test"})
	if err != nil {
		w.t.Fatal(err)
	}
	return text
}

// person logs somebody in and gives the cookie.
func (w *world) person(name string, roles map[int64]store.Role) (cookie string, id int64) {
	w.t.Helper()
	account, err := w.store.SignIn(w.ctx(), loginIssuer, name, name, "")
	if err != nil {
		w.t.Fatal(err)
	}
	for project, role := range roles {
		if err := w.store.SetMember(w.ctx(), project, account.ID, role); err != nil {
			w.t.Fatal(err)
		}
	}
	cookie = "cookie-of-" + name + strings.Repeat("x", 20)
	if err := w.store.AddLogin(w.ctx(), cookie, account.ID, time.Now().Add(time.Hour)); err != nil {
		w.t.Fatal(err)
	}
	return cookie, account.ID
}

// asked is a request; zero values are nobody's GET.
type asked struct {
	method, path string
	key          string // or a token: what follows Bearer
	cookie       string
	body         []byte
	json         any
	header       map[string]string
}

type answered struct {
	*http.Response
	body []byte
}

func (w *world) request(q asked) *http.Request {
	w.t.Helper()
	if q.method == "" {
		q.method = http.MethodGet
	}
	if q.json != nil {
		q.body = mustJSON(w.t, q.json)
	}
	r, err := http.NewRequestWithContext(w.ctx(), q.method, w.url+q.path, bytes.NewReader(q.body))
	if err != nil {
		w.t.Fatal(err)
	}
	if q.key != "" {
		r.Header.Set("Authorization", "Bearer "+q.key)
	}
	if q.cookie != "" {
		r.AddCookie(&http.Cookie{Name: w.server.cookieName(sessionCookie), Value: q.cookie})
	}
	if q.method != http.MethodGet && q.method != http.MethodHead {
		r.Header.Set("Content-Type", "application/json")
	}
	if strings.Contains(q.path, "/blobs/") && q.method == http.MethodPost {
		r.Header.Set("Content-Type", "application/octet-stream")
	}
	for name, value := range q.header {
		r.Header.Set(name, value)
	}
	return r
}

// do asks, and holds question and answer against the contract.
func (w *world) do(q asked) answered {
	w.t.Helper()
	r := w.request(q)
	resp, err := w.http.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	if q.json != nil {
		q.body = mustJSON(w.t, q.json)
	}
	if strings.HasPrefix(q.path, "/v1/") {
		if err := holdAgainstContract(r, q.body, resp, body); err != nil {
			w.t.Errorf("%s %s: %d %.300s\nis not what openapi.yaml says: %v", r.Method, q.path, resp.StatusCode, body, err)
		}
	}
	return answered{resp, body}
}

// want asks and wants a status.
func (w *world) want(status int, q asked) answered {
	w.t.Helper()
	a := w.do(q)
	if a.StatusCode != status {
		w.t.Fatalf("%s %s: %d %s, want %d", q.method, q.path, a.StatusCode, a.body, status)
	}
	return a
}

// into reads an answer.
func (a answered) into(t testing.TB, v any) {
	t.Helper()
	if err := json.Unmarshal(a.body, v); err != nil {
		t.Fatalf("%s: %v", a.body, err)
	}
}

func (a answered) problem(t testing.TB) *Problem {
	t.Helper()
	var p Problem
	a.into(t, &p)
	return &p
}

func mustJSON(t testing.TB, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func sha(n int) string { return fmt.Sprintf("%040x", n) }

// began is when everything was measured: a report that is made twice is the same.
var began = time.Now().Add(-time.Hour).UTC().Truncate(time.Second)

// runName is a ULID of a number.
func runName(n int) string { return fmt.Sprintf("01JC%022d", n) }

// example is a report as pawl sends it: run n, with so many points.
func example(n, points int) *client.Report {
	at := began
	r := &client.Report{
		Schema: client.SchemaReport, Run: runName(n), Measured: at, Pawl: "0.8.0", Suite: "attention",
		Commit: client.Commit{SHA: sha(n + 1), At: &at, Author: "ada", Title: "attention: keep K in registers"},
		Branch: "main", Trust: measure.Trusted,
		Device:  gpu.Identity{Kind: gpu.NVIDIA, Name: "NVIDIA L4", Driver: "550.54", Units: 58},
		Testbed: measure.Testbed{Kind: gpu.NVIDIA, Device: "NVIDIA L4", Driver: "550.54", PowerCapW: 72, Clocks: gpu.ClockPolicy{Mode: gpu.ClocksBase}},
		Health:  client.Health{TemperatureC: 61, SMClockMHz: 1500, Noise: 0.004, Seconds: 182.25},
		Verdict: ratchet.Maintained, Sentence: "Maintained.",
	}
	for i := range points {
		v := 1000 + float64(i)
		r.Points = append(r.Points, client.Point{
			CaseKey: measure.CaseKey{Benchmark: "attention", Config: fmt.Sprintf("D%d", i), Implementation: measure.Candidate},
			Unit:    "ns", Timer: measure.TimerDevice, Value: v, Low: v - 1, High: v + 1, Spread: 0.003, Rounds: 8,
			Verdict: ratchet.Maintained, Path: "kernels/attention.cu", Owners: []string{"@octo/kernels"},
		})
	}
	return r
}

func encodeReport(t testing.TB, r *client.Report) []byte {
	t.Helper()
	body, err := client.Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// send posts a report.
func (w *world) send(slug, key string, r *client.Report) answered {
	w.t.Helper()
	return w.do(asked{method: "POST", path: "/v1/projects/" + slug + "/reports", key: key, body: encodeReport(w.t, r)})
}

func (w *world) sent(slug, key string, r *client.Report) client.Receipt {
	w.t.Helper()
	a := w.send(slug, key, r)
	if a.StatusCode != http.StatusCreated {
		w.t.Fatalf("a report: %d %s", a.StatusCode, a.body)
	}
	var receipt client.Receipt
	a.into(w.t, &receipt)
	return receipt
}

// token is one of a job, for bytes.
func (w *world) token(slug string, body []byte, changed map[string]any) string {
	w.t.Helper()
	sum := sha256.Sum256(body)
	audience, err := identity.Audience(publicURL, slug, sum)
	if err != nil {
		w.t.Fatal(err)
	}
	all := map[string]any{"jti": "token-" + hex.EncodeToString(sum[:8])}
	maps.Copy(all, changed)
	return w.issuer.Sign(w.t, w.issuer.Claims(time.Now(), audience), all)
}

// rule lets the jobs of the issuer's claims upload.
func (w *world) rule(p store.Project, workflow string, events ...string) {
	w.t.Helper()
	_, err := w.store.AddRule(w.ctx(), p.ID, identity.Rule{RepositoryID: 1001, OwnerID: 77, DefaultBranch: "main", Events: events, Workflow: workflow})
	if err != nil {
		w.t.Fatal(err)
	}
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
