package server

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/forge/identity/identitytest"
)

// people is an OpenID provider that believes everybody.
type people struct {
	*httptest.Server
	keys *identitytest.Issuer

	mu     sync.Mutex
	nonces map[string]string // by code
}

func newPeople(t *testing.T) *people {
	t.Helper()
	p := &people{keys: identitytest.NewIssuer(t, ""), nonces: map[string]string{}}
	tell := func(w http.ResponseWriter, document any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(document)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		tell(w, map[string]any{
			"issuer": p.URL, "authorization_endpoint": p.URL + "/authorize", "token_endpoint": p.URL + "/token", "jwks_uri": p.URL + "/keys",
			"response_types_supported": []string{"code"}, "subject_types_supported": []string{"public"}, "id_token_signing_alg_values_supported": []string{"RS256"},
		})
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		text := base64.RawURLEncoding.EncodeToString
		tell(w, map[string]any{"keys": []any{map[string]any{
			"kty": "RSA", "use": "sig", "kid": p.keys.KeyID, "n": text(p.keys.Key.N.Bytes()), "e": text(big.NewInt(int64(p.keys.Key.E)).Bytes()),
		}}})
	})
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		subject, nonce, _ := strings.Cut(p.nonces[r.PostFormValue("code")], " ")
		now := time.Now()
		claims := map[string]any{"iss": p.URL, "aud": "pawl", "iat": now.Unix(), "exp": now.Add(time.Hour).Unix(), "nonce": nonce, "sub": subject, "name": "Ada"}
		tell(w, map[string]any{"access_token": "none", "token_type": "Bearer", "id_token": p.keys.Sign(t, claims, nil)})
	})
	p.Server = httptest.NewServer(mux)
	t.Cleanup(p.Close)
	return p
}

// login goes through what a browser goes through, and gives its cookie.
func (w *world) login(t *testing.T, subject string) (*http.Cookie, error) {
	t.Helper()
	browser := &http.Client{Timeout: patience, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	begun, err := browser.Get(w.url + "/login/start")
	if err != nil {
		return nil, err
	}
	_ = begun.Body.Close()
	there, err := begun.Location()
	if err != nil {
		return nil, err
	}
	code := rand.Text()
	w.people.mu.Lock()
	w.people.nonces[code] = subject + " " + there.Query().Get("nonce")
	w.people.mu.Unlock()
	back := url.Values{"code": {code}, "state": {there.Query().Get("state")}}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.url+"/login/callback?"+back.Encode(), http.NoBody)
	if err != nil {
		return nil, err
	}
	for _, c := range begun.Cookies() {
		req.AddCookie(c)
	}
	done, err := browser.Do(req)
	if err != nil {
		return nil, err
	}
	_ = done.Body.Close()
	for _, c := range done.Cookies() {
		if strings.HasSuffix(c.Name, "pawl_session") && c.Value != "" {
			return c, nil
		}
	}
	return nil, &url.Error{Op: "log in", URL: done.Status, Err: http.ErrNoCookie}
}

// inbox is where digests arrive.
type inbox struct {
	*httptest.Server
	mu  sync.Mutex
	got map[string]int // bodies by path and delivery
}

func newInbox(t *testing.T) *inbox {
	t.Helper()
	b := &inbox{got: map[string]int{}}
	b.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		b.mu.Lock()
		defer b.mu.Unlock()
		b.got[r.URL.Path+" "+r.Header.Get("Pawl-Delivery")]++
	}))
	t.Cleanup(b.Close)
	return b
}

// deliveries counts digests to a path: different ones, however often each came.
func (b *inbox) deliveries(path string) (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for key := range b.got {
		if strings.HasPrefix(key, path+" ") {
			n++
		}
	}
	return n
}
