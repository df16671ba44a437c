package server

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"maps"
	"math/big"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/internal/forge/identity"
	"github.com/goatnote-inc/pawl/internal/forge/identity/identitytest"
	"github.com/goatnote-inc/pawl/internal/server/store"
)

// provider is an OpenID provider that logs everybody in as the person it is told, after
// it has checked what a provider checks. It is real HTTP with TLS on loopback.
type provider struct {
	*httptest.Server
	keys *identitytest.Issuer

	mu       sync.Mutex
	person   map[string]any // more claims of the token
	keysAt   string         // where it says that its keys are
	broken   bool
	codes    map[string]url.Values // what was asked for, by code
	problems []string
	header   string // of its tokens
}

const (
	clientID     = "pawl"
	clientSecret = "canary-client-secret"
)

func newProvider(t *testing.T) *provider {
	t.Helper()
	p := &provider{keys: identitytest.NewIssuer(t, ""), codes: map[string]url.Values{}, person: map[string]any{"sub": "u1", "name": "Ada"}, header: `{"alg":"RS256","kid":"key-1"}`}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", p.discovery)
	mux.HandleFunc("GET /keys", p.publish)
	mux.HandleFunc("GET /authorize", p.authorize)
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) { p.token(t, w, r) })
	p.Server = httptest.NewTLSServer(mux)
	t.Cleanup(p.Close)
	p.keysAt = p.URL + "/keys"
	return p
}

func (p *provider) tell(w http.ResponseWriter, document any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(document)
}

func (p *provider) discovery(w http.ResponseWriter, _ *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.broken {
		http.Error(w, "down", http.StatusServiceUnavailable)
		return
	}
	p.tell(w, map[string]any{
		"issuer": p.URL, "authorization_endpoint": p.URL + "/authorize", "token_endpoint": p.URL + "/token", "jwks_uri": p.keysAt,
		"response_types_supported": []string{"code"}, "subject_types_supported": []string{"public"}, "id_token_signing_alg_values_supported": []string{"RS256"},
	})
}

func (p *provider) publish(w http.ResponseWriter, _ *http.Request) {
	b64 := base64.RawURLEncoding.EncodeToString
	p.tell(w, map[string]any{"keys": []any{map[string]any{
		"kty": "RSA", "use": "sig", "kid": p.keys.KeyID, "n": b64(p.keys.Key.N.Bytes()), "e": b64(big.NewInt(int64(p.keys.Key.E)).Bytes()),
	}}})
}

func (p *provider) authorize(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	q := r.URL.Query()
	for name, want := range map[string]string{"client_id": clientID, "response_type": "code", "code_challenge_method": "S256", "scope": "openid profile email"} {
		if q.Get(name) != want {
			p.problems = append(p.problems, name+" is "+q.Get(name))
		}
	}
	for _, name := range []string{"state", "nonce", "code_challenge"} {
		if len(q.Get(name)) < 20 {
			p.problems = append(p.problems, name+" is too short to be a secret")
		}
	}
	code := rand.Text()
	p.codes[code] = q
	back, _ := url.Parse(q.Get("redirect_uri"))
	back.RawQuery = url.Values{"code": {code}, "state": {q.Get("state")}, "iss": {p.URL}}.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound)
}

func (p *provider) token(t *testing.T, w http.ResponseWriter, r *http.Request) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	asked, known := p.codes[r.PostFormValue("code")]
	delete(p.codes, r.PostFormValue("code")) // once
	sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	id, secret, _ := r.BasicAuth()
	if !known || base64.RawURLEncoding.EncodeToString(sum[:]) != asked.Get("code_challenge") || id != clientID || secret != clientSecret || r.PostFormValue("redirect_uri") != asked.Get("redirect_uri") {
		w.WriteHeader(http.StatusBadRequest)
		p.tell(w, map[string]any{"error": "invalid_grant"})
		return
	}
	now := time.Now()
	claims := map[string]any{"iss": p.URL, "aud": clientID, "iat": now.Unix(), "exp": now.Add(time.Minute).Unix(), "nonce": asked.Get("nonce")}
	maps.Copy(claims, p.person)
	payload, _ := json.Marshal(claims)
	p.tell(w, map[string]any{"access_token": "canary-access-token", "token_type": "Bearer", "id_token": p.keys.SignText(t, p.header, string(payload))})
}

func (p *provider) set(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
}

// browsed is a world that people log in to, over TLS.
func browsed(t *testing.T, p *provider, admins ...string) *world {
	t.Helper()
	var front *httptest.Server
	var handler http.Handler
	front = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) }))
	t.Cleanup(front.Close)
	w := newWorld(t, func(c *Config) {
		c.URL = front.URL
		c.Login = &Login{Issuer: p.URL, ClientID: clientID, Secret: identity.NewToken(clientSecret), HTTP: p.Client(), Admins: admins}
	})
	handler, w.url, w.http = w.server.Handler(), front.URL, front.Client() // httptest's certificates trust each other
	return w
}

// browser keeps cookies and follows redirects until it is told where to stop.
func (w *world) browser(stop string) *http.Client {
	jar, _ := cookiejar.New(nil)
	b := *w.http
	b.Jar = jar
	b.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
		if stop != "" && r.URL.Path == stop {
			return http.ErrUseLastResponse
		}
		return nil
	}
	return &b
}

func (w *world) visit(b *http.Client, method, path string, header map[string]string) answered {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.ctx(), method, path, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	for name, value := range header {
		r.Header.Set(name, value)
	}
	resp, err := b.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return answered{resp, body}
}

func TestLogin(t *testing.T) {
	p := newProvider(t)
	w := browsed(t, p)
	private := w.project("kernels", false)
	b := w.browser("/p/kernels")
	if a := w.visit(b, "GET", w.url+"/v1/projects/kernels", nil); a.StatusCode != http.StatusUnauthorized {
		t.Fatalf("before the login: %d", a.StatusCode)
	}
	done := w.visit(b, "GET", w.url+"/login/start?next=/p/kernels", nil)
	if done.StatusCode != http.StatusSeeOther || done.Header.Get("Location") != "/p/kernels" {
		t.Fatalf("%d to %q: %s", done.StatusCode, done.Header.Get("Location"), done.body)
	}
	var session *http.Cookie
	for _, c := range done.Cookies() {
		if c.Name == "__Host-pawl_session" {
			session = c
		}
	}
	if session == nil || !session.Secure || !session.HttpOnly || session.SameSite != http.SameSiteLaxMode || session.Path != "/" || session.Domain != "" || len(session.Value) < 40 {
		t.Fatalf("the cookie: %+v", session)
	}
	if a := w.visit(b, "GET", w.url+"/v1/projects/kernels", nil); a.StatusCode != http.StatusNotFound {
		t.Errorf("who is no member: %d", a.StatusCode)
	}
	account, err := w.store.Login(t.Context(), session.Value, time.Time{})
	if err != nil || account.Name != "Ada" || account.Issuer != p.URL || account.Subject != "u1" || account.Email != "" {
		t.Fatalf("%+v, %v", account, err)
	}
	if err := w.store.SetMember(t.Context(), private.ID, account.ID, store.Viewer); err != nil {
		t.Fatal(err)
	}
	if a := w.visit(b, "GET", w.url+"/v1/projects/kernels", nil); a.StatusCode != http.StatusOK {
		t.Errorf("a member: %d %s", a.StatusCode, a.body)
	}
	// Only the hash of the cookie is kept.
	if strings.Contains(w.dump(), session.Value) {
		t.Error("the database holds the cookie")
	}

	// Another site's page cannot log somebody out; the person can.
	if a := w.visit(b, "POST", w.url+"/logout", map[string]string{"Sec-Fetch-Site": "cross-site"}); a.StatusCode != http.StatusForbidden {
		t.Errorf("logging out from another site: %d", a.StatusCode)
	}
	if a := w.visit(b, "POST", w.url+"/logout", map[string]string{"Origin": "https://evil.example"}); a.StatusCode != http.StatusForbidden {
		t.Errorf("logging out from another origin: %d", a.StatusCode)
	}
	stopped := w.browser("/")
	stopped.Jar = b.Jar
	if a := w.visit(stopped, "POST", w.url+"/logout", map[string]string{"Sec-Fetch-Site": "same-origin"}); a.StatusCode != http.StatusSeeOther {
		t.Errorf("logging out: %d", a.StatusCode)
	}
	if a := w.do(asked{path: "/v1/projects/kernels", cookie: session.Value}); a.StatusCode != http.StatusUnauthorized {
		t.Errorf("the cookie after logging out: %d", a.StatusCode)
	}
	for _, said := range p.problems {
		t.Error("the provider was asked wrongly: " + said)
	}
	if strings.Contains(w.log.String(), "canary") || strings.Contains(w.log.String(), session.Value) {
		t.Error("the log holds a secret")
	}
}

// A login is refused for each of the reasons that there are.
func TestLoginIsRefused(t *testing.T) {
	p := newProvider(t)
	w := browsed(t, p)
	good := map[string]any{"sub": "u1"}
	for _, c := range []struct {
		name   string
		person map[string]any
		header string
		back   func(url.Values) // changes what the browser brings back
		cookie func(string) string
		want   int
	}{
		{name: "nothing is wrong", want: http.StatusSeeOther},
		{name: "another nonce", person: map[string]any{"sub": "u1", "nonce": "other"}, want: 502},
		{name: "no nonce", person: map[string]any{"sub": "u1", "nonce": nil}, want: 502},
		{name: "for another client", person: map[string]any{"sub": "u1", "aud": "other"}, want: 502},
		{name: "of another issuer", person: map[string]any{"sub": "u1", "iss": "https://other.example"}, want: 502},
		{name: "expired", person: map[string]any{"sub": "u1", "exp": time.Now().Add(-time.Hour).Unix()}, want: 502},
		{name: "of nobody", person: map[string]any{"sub": ""}, want: 502},
		{name: "not signed", header: `{"alg":"none"}`, want: 502},
		{name: "signed with a secret", header: `{"alg":"HS256"}`, want: 502},
		{name: "of another key", header: `{"alg":"RS256","kid":"other"}`, want: 502},
		{name: "another state", back: func(q url.Values) { q.Set("state", "other") }, want: 400},
		{name: "no state", back: func(q url.Values) { q.Del("state") }, want: 400},
		{name: "another code", back: func(q url.Values) { q.Set("code", "other") }, want: 502},
		{name: "another provider answered", back: func(q url.Values) { q.Set("iss", "https://other.example") }, want: 400},
		{name: "the person said no", back: func(q url.Values) { q.Set("error", "access_denied") }, want: 403},
		{name: "begun elsewhere", cookie: func(string) string { return "" }, want: 400},
		{name: "a cookie of one's own making", cookie: func(s string) string {
			body, _, _ := strings.Cut(s, ".")
			return body + "." + base64.RawURLEncoding.EncodeToString(make([]byte, 32))
		}, want: 400},
		{name: "a changed cookie", cookie: func(s string) string { return "A" + s[1:] }, want: 400},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := *w
			w.t = t
			p.set(func() {
				p.person, p.header = c.person, c.header
				if p.person == nil {
					p.person = good
				}
				if p.header == "" {
					p.header = `{"alg":"RS256","kid":"key-1"}`
				}
			})
			b := w.browser("/login/callback")
			back := w.visit(b, "GET", w.url+"/login/start", nil)
			where, err := url.Parse(back.Header.Get("Location"))
			if err != nil || where.Path != "/login/callback" {
				t.Fatalf("the provider sends back to %q: %d %s", back.Header.Get("Location"), back.StatusCode, back.body)
			}
			q := where.Query()
			if c.back != nil {
				c.back(q)
			}
			where.RawQuery = q.Encode()
			if c.cookie != nil {
				home, _ := url.Parse(w.url)
				for _, k := range b.Jar.Cookies(home) {
					k.Value, k.Path, k.Secure = c.cookie(k.Value), "/", true
					if k.Value == "" {
						k.MaxAge = -1
					}
					b.Jar.SetCookies(home, []*http.Cookie{k})
				}
			}
			b.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
			a := w.visit(b, "GET", where.String(), nil)
			if a.StatusCode != c.want {
				t.Errorf("%d %s, want %d", a.StatusCode, a.body, c.want)
			}
			session := strings.Contains(strings.Join(a.Header.Values("Set-Cookie"), "\n"), "pawl_session=")
			if session != (c.want == http.StatusSeeOther) {
				t.Errorf("a session was given: %v", session)
			}
			// What was brought back is good for once.
			if again := w.visit(b, "GET", where.String(), nil); again.StatusCode != http.StatusBadRequest {
				t.Errorf("the same again: %d", again.StatusCode)
			}
		})
	}
}

// Wherever the provider says that its keys are, only hosts that were named are asked.
func TestLoginAsksNoOtherHost(t *testing.T) {
	p := newProvider(t)
	var asked bool
	other := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	t.Cleanup(other.Close)
	p.set(func() { p.keysAt = other.URL + "/keys" })
	w := browsed(t, p)
	b := w.browser("/")
	if a := w.visit(b, "GET", w.url+"/login/start", nil); a.StatusCode != http.StatusBadGateway || asked {
		t.Errorf("%d, the other host was asked: %v", a.StatusCode, asked)
	}
}

func TestLoginWhileTheProviderIsDown(t *testing.T) {
	p := newProvider(t)
	p.set(func() { p.broken = true })
	w := browsed(t, p)
	b := w.browser("/")
	if a := w.visit(b, "GET", w.url+"/login/start", nil); a.StatusCode != http.StatusServiceUnavailable || a.Header.Get("Retry-After") == "" {
		t.Errorf("%d %v", a.StatusCode, a.Header)
	}
	p.set(func() { p.broken = false })
	if a := w.visit(b, "GET", w.url+"/login/start", nil); a.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("it is asked again at once: all who wait would ask, one after the other: %d", a.StatusCode)
	}
	login := w.server.login
	login.mu.Lock()
	login.asked = login.asked.Add(-issuerPause)
	login.mu.Unlock()
	if a := w.visit(b, "GET", w.url+"/login/start", nil); a.StatusCode != http.StatusSeeOther {
		t.Errorf("when it is back: %d %s", a.StatusCode, a.body)
	}
}

func TestAdminsAreNamedByTheOperator(t *testing.T) {
	for _, c := range []struct {
		person person
		want   bool
	}{
		{person{Subject: "u1"}, true},
		{person{Subject: "u2", Email: "boss@example.org", Verified: true}, true},
		{person{Subject: "u2", Email: "BOSS@example.org", Verified: "true"}, true},
		{person{Subject: "u2", Email: "boss@example.org"}, false},
		{person{Subject: "boss@example.org", Email: "x@example.org", Verified: true}, false},
		{person{Subject: "u2", Email: "u1", Verified: true}, false},
	} {
		if got := named([]string{"u1", "boss@example.org"}, c.person.Subject, c.person.address()); got != c.want {
			t.Errorf("%+v: %v", c.person, got)
		}
	}
}

func TestOwnPath(t *testing.T) {
	for next, want := range map[string]string{
		"/p/kernels?x=1#y": "/p/kernels?x=1#y", "": "/", "p": "/", "//evil.example": "/", "/\\evil.example": "/", "https://evil.example/": "/",
		"/\t/evil.example": "/", "/login/start": "/", "/%2F/evil.example": "/%2F/evil.example", "javascript:alert(1)": "/", "/" + strings.Repeat("a", 600): "/",
	} {
		if got := ownPath(next); got != want {
			t.Errorf("%q: %q, want %q", next, got, want)
		}
	}
}

// dump is every row of every table, as text.
func (w *world) dump() string {
	w.t.Helper()
	var all strings.Builder
	w.sql(func(ctx context.Context, conn *pgx.Conn) error {
		names, err := pgx.CollectRows(must(conn.Query(ctx, `select format('%I.%I', nspname, relname) from pg_class c join pg_namespace n on n.oid = c.relnamespace
			where nspname not in ('pg_catalog', 'information_schema', 'pg_toast') and relkind in ('r', 'p') order by 1`)), pgx.RowTo[string])
		if err != nil {
			return err
		}
		for _, name := range names {
			rows, err := pgx.CollectRows(must(conn.Query(ctx, `select t::text from `+name+` t`)), pgx.RowTo[string])
			if err != nil {
				return err
			}
			all.WriteString(strings.Join(rows, "\n"))
		}
		return nil
	})
	return all.String()
}
