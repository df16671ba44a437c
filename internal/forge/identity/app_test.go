package identity_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/forge/identity"
	"github.com/goatnote-inc/pawl/internal/forge/identity/identitytest"
)

// installations is the part of GitHub that gives out tokens of installations. It takes
// what GitHub's description of its API says, and nothing else.
type installations struct {
	t      *testing.T
	key    *rsa.PublicKey
	now    func() time.Time
	faults []int // answered first

	mu    sync.Mutex
	asked int
}

func (g *installations) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.asked++
	if len(g.faults) > 0 {
		status := g.faults[0]
		g.faults = g.faults[1:]
		http.Error(w, canary, status)
		return
	}
	if r.Method != http.MethodPost || r.URL.Path != "/api/v3/app/installations/42/access_tokens" || r.Header.Get("Accept") != "application/vnd.github+json" {
		g.t.Errorf("asked %s %s, accepting %s", r.Method, r.URL, r.Header.Get("Accept"))
	}
	var body map[string]any
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		g.t.Error(err)
	}
	want := map[string]any{
		"repository_ids": []any{1001.0},
		"permissions":    map[string]any{"checks": "write", "pull_requests": "write", "contents": "read", "actions": "read"},
	}
	if diff := cmp.Diff(want, body); diff != "" {
		g.t.Error(diff)
	}
	if err := g.signed(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")); err != nil {
		g.t.Error(err)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	w.WriteHeader(http.StatusCreated)
	fmt.Fprintf(w, `{"token":"ghs_%d","expires_at":%q,"permissions":{}}`, g.asked, g.now().Add(time.Hour).Format(time.RFC3339))
}

func (g *installations) signed(token string) error {
	jws, err := jose.ParseSignedCompact(token, []jose.SignatureAlgorithm{jose.RS256})
	if err != nil {
		return err
	}
	payload, err := jws.Verify(g.key)
	if err != nil {
		return err
	}
	var c struct {
		Iat, Exp int64
		Iss      string
	}
	if err := json.Unmarshal(payload, &c); err != nil {
		return err
	}
	now := g.now().Unix()
	if c.Iss != "7" || c.Iat != now-60 || c.Exp-c.Iat != 9*60 {
		return fmt.Errorf("claims %+v at %d", c, now)
	}
	return nil
}

func newApp(t *testing.T, faults ...int) (*identity.App, *installations, *time.Time) {
	t.Helper()
	now := noon
	clock := func() time.Time { return now }
	key := identitytest.NewIssuer(t, "").Key
	g := &installations{t: t, key: &key.PublicKey, now: clock, faults: faults}
	s := httptest.NewServer(g)
	t.Cleanup(s.Close)
	return &identity.App{
		ID: "7", Installation: 42, Key: key, BaseURL: s.URL + "/api/v3/", Repositories: []int64{1001}, Permissions: identity.Publishing,
		HTTP: &http.Client{Timeout: 5 * time.Minute}, Now: clock, Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	}, g, &now
}

func TestAppToken(t *testing.T) {
	app, hub, now := newApp(t)
	for _, step := range []struct {
		after time.Duration
		want  string
	}{{0, "ghs_1"}, {54 * time.Minute, "ghs_1"}, {56 * time.Minute, "ghs_2"}, {57 * time.Minute, "ghs_2"}} {
		*now = noon.Add(step.after)
		if got, err := app.Source()(t.Context()); err != nil || got != step.want {
			t.Errorf("after %s: %q, %v, want %q", step.after, got, err, step.want)
		}
	}
	var all sync.WaitGroup
	*now = noon.Add(3 * time.Hour)
	for range 8 {
		all.Go(func() {
			if _, err := app.Token(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if hub.asked != 3 {
		t.Errorf("asked %d times, want 3", hub.asked)
	}
}

func TestAppFaults(t *testing.T) {
	for _, tc := range []struct {
		faults []int
		says   string // empty for a token
	}{
		{[]int{502, 503}, ""},
		{[]int{502, 503, 500}, "500"},
		{[]int{401}, "the key does not belong to this App"},
		{[]int{404}, "no such installation"},
		{[]int{422}, "these repositories or permissions"},
		{[]int{200}, "200"},
	} {
		app, _, _ := newApp(t, tc.faults...)
		_, err := app.Token(t.Context())
		if tc.says == "" && err != nil || tc.says != "" && (err == nil || !strings.Contains(err.Error(), tc.says)) {
			t.Errorf("%v: %v, want %q", tc.faults, err, tc.says)
		}
		if err != nil && strings.Contains(err.Error(), canary) {
			t.Errorf("the answer is in the error: %v", err)
		}
	}
	app, _, _ := newApp(t)
	app.BaseURL = "http://api.example.com"
	if _, err := app.Token(t.Context()); err == nil || !strings.Contains(err.Error(), "https") {
		t.Errorf("an API in the open: %v", err)
	}
}

func TestReadKey(t *testing.T) {
	key := identitytest.NewIssuer(t, "").Key
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	other, err := x509.MarshalPKCS8PrivateKey(ed)
	if err != nil {
		t.Fatal(err)
	}
	pkcs1 := x509.MarshalPKCS1PrivateKey(key)
	for name, tc := range map[string]struct {
		kind string
		der  []byte
		mode os.FileMode
		says string
	}{
		"as GitHub gives it":   {"RSA PRIVATE KEY", pkcs1, 0o600, ""},
		"as openssl writes it": {"PRIVATE KEY", pkcs8, 0o400, ""},
		"for the group":        {"PRIVATE KEY", pkcs8, 0o640, "chmod 600"},
		"for everybody":        {"PRIVATE KEY", pkcs8, 0o644, "chmod 600"},
		"another kind":         {"PRIVATE KEY", other, 0o600, "not an RSA key"},
		"cut short":            {"RSA PRIVATE KEY", pkcs1[:99], 0o600, "damaged"},
		"a certificate":        {"CERTIFICATE", pkcs8, 0o600, "CERTIFICATE"},
	} {
		file := filepath.Join(t.TempDir(), "app.pem")
		if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: tc.kind, Bytes: tc.der}), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file, tc.mode); err != nil {
			t.Fatal(err)
		}
		got, err := identity.ReadKey(file)
		if tc.says == "" && (err != nil || !got.Equal(key)) || tc.says != "" && (err == nil || !strings.Contains(err.Error(), tc.says)) {
			t.Errorf("%s: %v, want %q", name, err, tc.says)
		}
	}
	if _, err := identity.ParseKey([]byte(canary)); err == nil || strings.Contains(err.Error(), canary) {
		t.Errorf("no PEM: %v", err)
	}
}

func TestAppFrom(t *testing.T) {
	key := identitytest.NewIssuer(t, "").Key
	file := filepath.Join(t.TempDir(), "app.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	now := func() time.Time { return noon }
	if app, err := identity.AppFrom(job(nil), now, identity.Publishing); app != nil || err != nil {
		t.Errorf("nothing set: %v, %v", app, err)
	}
	app, err := identity.AppFrom(job(map[string]string{"PAWL_APP_ID": "7", "PAWL_APP_INSTALLATION": "42", "PAWL_APP_KEY_FILE": file}), now, identity.Publishing)
	if err != nil || app.ID != "7" || app.Installation != 42 || !app.Key.Equal(key) {
		t.Errorf("all set: %v, %v", app, err)
	}
	for _, vars := range []map[string]string{
		{"PAWL_APP_ID": "7"},
		{"PAWL_APP_ID": "7", "PAWL_APP_INSTALLATION": "x", "PAWL_APP_KEY_FILE": file},
		{"PAWL_APP_ID": "7", "PAWL_APP_INSTALLATION": "42", "PAWL_APP_KEY_FILE": filepath.Join(t.TempDir(), "none")},
	} {
		if _, err := identity.AppFrom(job(vars), now, nil); err == nil {
			t.Errorf("%v is taken", vars)
		}
	}
	if _, err := (&identity.App{Now: now}).Token(t.Context()); err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("an App without a key: %v", err)
	}
}

func FuzzParseKey(f *testing.F) {
	f.Add([]byte("-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----\n"))
	f.Add([]byte("-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if key, err := identity.ParseKey(text); err == nil && key.N.BitLen() < 2048 {
			t.Error("a weak key")
		}
	})
}
