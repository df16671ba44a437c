// Package identitytest has a token issuer for tests, and the tests for every store of used
// tokens. It knows the format of GitHub's tokens; it must not know how they are judged.
package identitytest

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// key is shared, because making one is slow.
var key = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) })

// Issuer is a token issuer for tests: a real TLS server on loopback.
type Issuer struct {
	URL    string // its name as an issuer
	Client *http.Client
	Key    *rsa.PrivateKey
	KeyID  string
	Asked  atomic.Int64 // number of requests for its documents
	Broken atomic.Bool  // respond with 503

	keysURL string
}

// NewIssuer starts an issuer below a path: "" as on github.com, "/_services/token" as on an
// Enterprise server.
func NewIssuer(t testing.TB, path string) *Issuer {
	t.Helper()
	k, err := key()
	if err != nil {
		t.Fatal(err)
	}
	i := &Issuer{Key: k, KeyID: "key-1"}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+path+"/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		i.answer(w, map[string]any{
			"issuer": i.URL, "jwks_uri": i.keysURL,
			"id_token_signing_alg_values_supported": []string{"RS256", "RS512", "ES256", "HS256", "none"}, // the verifier pins RS256
		})
	})
	mux.HandleFunc("GET "+path+"/.well-known/jwks", func(w http.ResponseWriter, _ *http.Request) {
		i.answer(w, map[string]any{"keys": []any{map[string]any{
			"kty": "RSA", "use": "sig", "kid": i.KeyID, "n": enc(i.Key.N.Bytes()), "e": enc(big.NewInt(int64(i.Key.E)).Bytes()),
		}}})
	})
	s := httptest.NewTLSServer(mux)
	t.Cleanup(s.Close)
	i.URL, i.Client = s.URL+path, s.Client()
	i.Client.Timeout = 5 * time.Minute // tests must not depend on the speed of the machine
	i.keysURL = i.URL + "/.well-known/jwks"
	return i
}

// MoveKeys makes the issuer announce another location of its keys.
func (i *Issuer) MoveKeys(url string) { i.keysURL = url }

func (i *Issuer) answer(w http.ResponseWriter, document any) {
	i.Asked.Add(1)
	if i.Broken.Load() {
		http.Error(w, "try again later", http.StatusServiceUnavailable)
		return
	}
	text, err := json.Marshal(document)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(text)
}

func enc(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// Claims returns the claims of a push on main, as in GitHub's tokens, for tests to modify.
func (i *Issuer) Claims(now time.Time, audience string) map[string]any {
	return map[string]any{
		"iss": i.URL, "aud": audience, "jti": "a1b2c3d4-0000-4000-8000-000000000001",
		"iat": now.Unix(), "nbf": now.Add(-time.Minute).Unix(), "exp": now.Add(5 * time.Minute).Unix(),
		"sub":        "repo:octo/kernels:ref:refs/heads/main",
		"repository": "octo/kernels", "repository_id": "1001", "repository_owner": "octo", "repository_owner_id": "77",
		"repository_visibility": "private", "actor": "mona", "actor_id": "5",
		"event_name": "push", "ref": "refs/heads/main", "ref_type": "branch", "ref_protected": "true",
		"head_ref": "", "base_ref": "", "sha": "0123456789abcdef0123456789abcdef01234567",
		"workflow": "ratchet", "workflow_ref": "octo/kernels/.github/workflows/pawl-ratchet.yml@refs/heads/main",
		"workflow_sha":     "0123456789abcdef0123456789abcdef01234567",
		"job_workflow_ref": "octo/kernels/.github/workflows/pawl-ratchet.yml@refs/heads/main",
		"job_workflow_sha": "0123456789abcdef0123456789abcdef01234567",
		"run_id":           "900", "run_number": "9", "run_attempt": "1", "check_run_id": "31",
		"runner_environment": "github-hosted",
	}
}

// Sign returns a signed token with claims, overridden by changed; nil removes one.
func (i *Issuer) Sign(t testing.TB, claims, changed map[string]any) string {
	t.Helper()
	all := maps.Clone(claims)
	maps.Copy(all, changed)
	maps.DeleteFunc(all, func(_ string, v any) bool { return v == nil })
	payload, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return i.SignText(t, fmt.Sprintf(`{"typ":"JWT","alg":"RS256","x5t":"thumb","kid":%q}`, i.KeyID), string(payload))
}

// SignText signs a header and a payload as given, with its key and RS256.
func (i *Issuer) SignText(t testing.TB, header, payload string) string {
	t.Helper()
	text := enc([]byte(header)) + "." + enc([]byte(payload))
	sum := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, i.Key, crypto.SHA256, sum[:])
	if err != nil {
		t.Fatal(err)
	}
	return text + "." + enc(signature)
}
