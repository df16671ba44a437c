package identity_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/forge/identity"
)

func enc(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func payloadOf(t testing.TB, token string) string {
	t.Helper()
	b, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[1])
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// bad is one token that differs from a good one in one thing.
type bad struct {
	name  string
	want  identity.Reason
	claim claims                                           // in place of those of a push on main, or
	make  func(t *testing.T, b *bench, good string) string // of the good token
}

const rs256 = `{"typ":"JWT","alg":"RS256","kid":"key-1"}`

// text is a token with its claims changed as text, signed by the issuer itself.
func text(old, changed string) func(*testing.T, *bench, string) string {
	return func(t *testing.T, b *bench, good string) string {
		t.Helper()
		payload := payloadOf(t, good)
		if !strings.Contains(payload, old) {
			t.Fatalf("%s is not in %s", old, payload)
		}
		return b.hub.SignText(t, rs256, strings.Replace(payload, old, changed, 1))
	}
}

// written is a token with other text for its claims, signed by the issuer itself.
func written(change func(payload string) string) func(*testing.T, *bench, string) string {
	return func(t *testing.T, b *bench, good string) string {
		t.Helper()
		return b.hub.SignText(t, rs256, change(payloadOf(t, good)))
	}
}

// headed is a token under another header, signed by the issuer itself.
func headed(header string) func(*testing.T, *bench, string) string {
	return func(t *testing.T, b *bench, good string) string {
		t.Helper()
		return b.hub.SignText(t, header, payloadOf(t, good))
	}
}

// spelled is the good token in another spelling.
func spelled(change func(string) string) func(*testing.T, *bench, string) string {
	return func(_ *testing.T, _ *bench, good string) string { return change(good) }
}

func signedWith(header string, sign func(b *bench, text []byte) ([]byte, error)) func(*testing.T, *bench, string) string {
	return func(t *testing.T, b *bench, good string) string {
		t.Helper()
		text := enc([]byte(header)) + "." + strings.Split(good, ".")[1]
		signature, err := sign(b, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return text + "." + enc(signature)
	}
}

func shape() []bad {
	return []bad{
		{name: "nothing", want: identity.Malformed, make: spelled(func(string) string { return "" })},
		{name: "two parts", want: identity.Malformed, make: spelled(func(s string) string { return s[:strings.LastIndex(s, ".")] })},
		{name: "four parts", want: identity.Malformed, make: spelled(func(s string) string { return s + ".AAAA" })},
		{name: "five parts, as if encrypted", want: identity.Malformed, make: spelled(func(s string) string { return s + ".AAAA.AAAA" })},
		{name: "no signature", want: identity.Malformed, make: spelled(func(s string) string { return s[:strings.LastIndex(s, ".")+1] })},
		{name: "a signature cut short", want: identity.BadSignature, make: spelled(func(s string) string { return s[:len(s)-6] })},
		{name: "a line end in it", want: identity.Malformed, make: spelled(func(s string) string { return s[:40] + "\n" + s[40:] })},
		{name: "padding", want: identity.Malformed, make: spelled(func(s string) string { return s + "=" })},
		{name: "the other base64", want: identity.Malformed, make: spelled(func(s string) string { return s[:len(s)-2] + "+/" })},
		{name: "with the word Bearer", want: identity.Malformed, make: spelled(func(s string) string { return "Bearer " + s })},
		{name: "JSON serialization", want: identity.Malformed, make: spelled(func(s string) string {
			p := strings.Split(s, ".")
			return fmt.Sprintf(`{"payload":%q,"protected":%q,"signature":%q}`, p[1], p[0], p[2])
		})},
		{name: "too large", want: identity.TooLarge, make: spelled(func(s string) string { return s + strings.Repeat("A", 16<<10) })},
		{name: "a claim as long as a book", want: identity.BadClaims, claim: claims{"workflow": strings.Repeat("x", 4<<10)}},
		{name: "nested deeply", want: identity.BadClaims, make: text(`"workflow":"ratchet"`, `"workflow":`+strings.Repeat("[", 40)+strings.Repeat("]", 40))},
		{name: "claims that are a list", want: identity.BadClaims, make: written(func(p string) string { return "[" + p + "]" })},
		{name: "something behind the claims", want: identity.BadClaims, make: written(func(p string) string { return p + "{}" })},
		{name: "claims cut short", want: identity.BadClaims, make: written(func(p string) string { return p[:len(p)-1] })},
		{name: "no UTF-8", want: identity.BadClaims, make: text("ratchet", "\xff\xfe")},
		{name: "many claims", want: identity.BadClaims, make: written(func(p string) string {
			var more strings.Builder
			for n := range 300 {
				fmt.Fprintf(&more, `"x%d":1,`, n)
			}
			return "{" + more.String() + p[1:]
		})},
	}
}

func signature() []bad {
	return []bad{
		{name: "alg none", want: identity.BadAlgorithm, make: func(_ *testing.T, _ *bench, good string) string {
			return enc([]byte(`{"typ":"JWT","alg":"none"}`)) + "." + strings.Split(good, ".")[1] + "."
		}},
		{name: "alg nOnE", want: identity.BadAlgorithm, make: headed(`{"alg":"nOnE","kid":"key-1"}`)},
		{name: "alg missing", want: identity.BadAlgorithm, make: headed(`{"kid":"key-1"}`)},
		{name: "alg a list", want: identity.BadAlgorithm, make: headed(`{"alg":["RS256"],"kid":"key-1"}`)},
		{name: "HS256 with the public key", want: identity.BadAlgorithm, make: signedWith(`{"alg":"HS256","kid":"key-1"}`, func(b *bench, text []byte) ([]byte, error) {
			der, err := x509.MarshalPKIXPublicKey(&b.hub.Key.PublicKey)
			if err != nil {
				return nil, err
			}
			mac := hmac.New(sha256.New, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
			mac.Write(text)
			return mac.Sum(nil), nil
		})},
		{name: "RS512 by the right key", want: identity.BadAlgorithm, make: signedWith(`{"alg":"RS512","kid":"key-1"}`, func(b *bench, text []byte) ([]byte, error) {
			sum := sha512.Sum512(text)
			return rsa.SignPKCS1v15(rand.Reader, b.hub.Key, crypto.SHA512, sum[:])
		})},
		{name: "PS256 by the right key", want: identity.BadAlgorithm, make: signedWith(`{"alg":"PS256","kid":"key-1"}`, func(b *bench, text []byte) ([]byte, error) {
			sum := sha256.Sum256(text)
			return rsa.SignPSS(rand.Reader, b.hub.Key, crypto.SHA256, sum[:], nil)
		})},
		{name: "ES256 by a key of its own", want: identity.BadAlgorithm, make: signedWith(`{"alg":"ES256","kid":"key-1"}`, func(_ *bench, text []byte) ([]byte, error) {
			key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
			if err != nil {
				return nil, err
			}
			sum := sha256.Sum256(text)
			return ecdsa.SignASN1(rand.Reader, key, sum[:])
		})},
		{name: "another key of the same name", want: identity.BadSignature, make: signedWith(rs256, func(_ *bench, text []byte) ([]byte, error) {
			key, err := rsa.GenerateKey(rand.Reader, 2048)
			if err != nil {
				return nil, err
			}
			sum := sha256.Sum256(text)
			return rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
		})},
		{name: "an unknown key", want: identity.BadSignature, make: headed(`{"alg":"RS256","kid":"key-7"}`)},
		{name: "no key named", want: identity.BadHeader, make: headed(`{"alg":"RS256"}`)},
		{name: "an empty key name", want: identity.BadHeader, make: headed(`{"alg":"RS256","kid":""}`)},
		{name: "a path for a key", want: identity.BadHeader, make: headed(`{"alg":"RS256","kid":"../../dev/null"}`)},
		{name: "SQL for a key", want: identity.BadHeader, make: headed(`{"alg":"RS256","kid":"x' UNION SELECT 'k"}`)},
		{name: "a number for a key", want: identity.BadHeader, make: headed(`{"alg":"RS256","kid":1}`)},
		{name: "jku", want: identity.BadHeader, make: headed(`{"alg":"RS256","kid":"key-1","jku":"https://evil.example/keys"}`)},
		{name: "x5u", want: identity.BadHeader, make: headed(`{"alg":"RS256","kid":"key-1","x5u":"https://evil.example/cert"}`)},
		{name: "x5c", want: identity.BadHeader, make: headed(`{"alg":"RS256","kid":"key-1","x5c":["AAAA"]}`)},
		{name: "a key in the header", want: identity.BadHeader, make: headed(`{"alg":"RS256","kid":"key-1","jwk":{"kty":"oct","k":"AAAA"}}`)},
		{name: "crit", want: identity.BadHeader, make: headed(`{"alg":"RS256","kid":"key-1","crit":["exp"]}`)},
		{name: "b64 false", want: identity.BadHeader, make: headed(`{"alg":"RS256","kid":"key-1","b64":false}`)},
		{name: "alg twice", want: identity.BadHeader, make: headed(`{"alg":"RS256","alg":"none","kid":"key-1"}`)},
		{name: "alg in another case too", want: identity.BadHeader, make: headed(`{"alg":"RS256","Alg":"none","kid":"key-1"}`)},
		{name: "another type", want: identity.BadHeader, make: headed(`{"typ":"at+jwt","alg":"RS256","kid":"key-1"}`)},
		{name: "claims of another, with the signature of this", want: identity.BadSignature, make: spelled(func(s string) string {
			p := strings.Split(s, ".")
			b, _ := base64.RawURLEncoding.DecodeString(p[1])
			return p[0] + "." + enc([]byte(strings.Replace(string(b), `"actor":"mona"`, `"actor":"eve"`, 1))) + "." + p[2]
		})},
		{name: "signed by another issuer that is trusted too", want: identity.BadSignature, make: func(t *testing.T, b *bench, good string) string {
			t.Helper()
			key, err := rsa.GenerateKey(rand.Reader, 2048)
			if err != nil {
				t.Fatal(err)
			}
			b.enterprise.Key = key
			return b.enterprise.SignText(t, rs256, payloadOf(t, good))
		}},
	}
}

func issuerAndTime() []bad {
	issuer := func(change func(string) string) func(*testing.T, *bench, string) string {
		return func(t *testing.T, b *bench, good string) string {
			t.Helper()
			return text(`"iss":"`+b.hub.URL+`"`, `"iss":"`+change(b.hub.URL)+`"`)(t, b, good)
		}
	}
	at := func(d time.Duration) int64 { return noon.Add(d).Unix() }
	return []bad{
		{name: "another issuer", want: identity.WrongIssuer, claim: claims{"iss": "https://evil.example"}},
		{name: "the issuer with a slash behind", want: identity.WrongIssuer, make: issuer(func(s string) string { return s + "/" })},
		{name: "the issuer in capitals", want: identity.WrongIssuer, make: issuer(func(s string) string { return "HTTPS" + s[len("https"):] })},
		{name: "the issuer without TLS", want: identity.WrongIssuer, make: issuer(func(s string) string { return "http" + s[len("https"):] })},
		{name: "an issuer below the issuer", want: identity.WrongIssuer, make: issuer(func(s string) string { return s + "/enterprise" })},
		{name: "the issuer before an @", want: identity.WrongIssuer, make: issuer(func(s string) string { return s + "@evil.example" })},
		{name: "no issuer", want: identity.BadClaims, claim: claims{"iss": ""}},
		{name: "a list of issuers", want: identity.BadClaims, make: text(`"iss":`, `"iss":[],"iss2":`)},
		{name: "expired", want: identity.Expired, claim: claims{"exp": at(-61 * time.Second), "iat": at(-6 * time.Minute)}},
		{name: "expired to the second", want: identity.Expired, claim: claims{"exp": at(-60 * time.Second), "iat": at(-6 * time.Minute)}},
		{name: "not valid yet", want: identity.NotYet, claim: claims{"nbf": at(2 * time.Minute)}},
		{name: "issued tomorrow", want: identity.IssuedInFuture, claim: claims{"iat": at(24 * time.Hour), "exp": at(24*time.Hour + time.Minute)}},
		{name: "valid for a day", want: identity.TooLong, claim: claims{"exp": at(24 * time.Hour)}},
		{name: "no expiry", want: identity.BadClaims, claim: claims{"exp": nil}},
		{name: "an expiry in words", want: identity.BadClaims, claim: claims{"exp": "2026-11-16T00:00:00Z"}},
		{name: "an expiry of 1e99", want: identity.BadClaims, make: text(fmt.Sprintf(`"exp":%d`, at(5*time.Minute)), `"exp":1e99`)},
		{name: "an expiry before all time", want: identity.BadClaims, make: text(fmt.Sprintf(`"exp":%d`, at(5*time.Minute)), `"exp":-1`)},
		{name: "an expiry that overflows", want: identity.BadClaims, make: text(fmt.Sprintf(`"exp":%d`, at(5*time.Minute)), `"exp":9223372036854775807`)},
		{name: "no time of issue", want: identity.BadClaims, claim: claims{"iat": nil}},
		{name: "nbf a string", want: identity.BadClaims, claim: claims{"nbf": "0"}},
		{name: "an empty jti", want: identity.BadClaims, claim: claims{"jti": ""}},
		{name: "no jti", want: identity.BadClaims, claim: claims{"jti": nil}},
		{name: "jti a number", want: identity.BadClaims, claim: claims{"jti": 7}},
		{name: "a long jti", want: identity.BadClaims, claim: claims{"jti": strings.Repeat("j", 257)}},
	}
}

func audiences() []bad {
	right, err := identity.Audience(server, project, report)
	if err != nil {
		panic(err) // of constants
	}
	other := identity.Digest(sha256.Sum256([]byte("another report")))
	return []bad{
		{name: "no audience", want: identity.WrongAudience, claim: claims{"aud": nil}},
		{name: "the audience that GitHub gives by default", want: identity.WrongAudience, claim: claims{"aud": "https://github.com/octo"}},
		{name: "another server", want: identity.WrongAudience, claim: claims{"aud": strings.Replace(right, "pawl.example.com", "pawl.example.org", 1)}},
		{name: "another project", want: identity.WrongAudience, claim: claims{"aud": strings.Replace(right, project, "octo/other", 1)}},
		{name: "another report", want: identity.WrongAudience, claim: claims{"aud": strings.Replace(right, report.String(), other.String(), 1)}},
		{name: "no report", want: identity.WrongAudience, claim: claims{"aud": strings.TrimSuffix(right, "?sha256="+report.String())}},
		{name: "two reports", want: identity.WrongAudience, claim: claims{"aud": right + "&sha256=" + other.String()}},
		{name: "the digest in capitals", want: identity.WrongAudience, claim: claims{"aud": strings.Replace(right, report.String(), strings.ToUpper(report.String()), 1)}},
		{name: "a list with the right one", want: identity.WrongAudience, claim: claims{"aud": []string{right, "https://evil.example"}}},
		{name: "a list of one", want: identity.WrongAudience, claim: claims{"aud": []string{right}}},
		{name: "aud twice", want: identity.BadClaims, make: text(`"aud":`, `"aud":"https://evil.example","aud":`)},
	}
}

func authority() []bad {
	ref := func(ref string) claims {
		return claims{"ref": ref, "workflow_ref": "octo/kernels/.github/workflows/pawl-ratchet.yml@" + ref}
	}
	list := []bad{
		{name: "another repository of the same name", want: identity.WrongRepo, claim: claims{"repository_id": "1002"}},
		{name: "repository_id a number", want: identity.BadClaims, claim: claims{"repository_id": 1001}},
		{name: "repository_id with a sign", want: identity.BadClaims, claim: claims{"repository_id": "+1001"}},
		{name: "repository_id with a zero before", want: identity.BadClaims, claim: claims{"repository_id": "01001"}},
		{name: "repository_id with a space", want: identity.BadClaims, claim: claims{"repository_id": "1001 "}},
		{name: "repository_id twice", want: identity.BadClaims, make: text(`"repository_id":`, `"repository_id":"1002","repository_id":`)},
		{name: "repository_id in another case too", want: identity.BadClaims, make: text(`"repository_id":`, `"Repository_ID":"1001","repository_id":`)},
		{name: "no repository_id, only the name", want: identity.BadClaims, claim: claims{"repository_id": nil}},
		{name: "another owner", want: identity.WrongOwner, claim: claims{"repository_owner_id": "78"}},
		{name: "no owner", want: identity.BadClaims, claim: claims{"repository_owner_id": ""}},
		{name: "a branch that is not main", want: identity.WrongRef, claim: ref("refs/heads/evil")},
		{name: "a tag called main", want: identity.WrongRef, claim: ref("refs/tags/main")},
		{name: "a branch called refs/heads/main", want: identity.WrongRef, claim: ref("refs/heads/refs/heads/main")},
		{name: "main in capitals", want: identity.WrongRef, claim: ref("refs/heads/Main")},
		{name: "a pull request's ref in a push", want: identity.WrongRef, claim: ref("refs/pull/12/merge")},
		{name: "a push as if of main, without refs", want: identity.WrongRef, claim: ref("main")},
		{name: "main, not protected any more", want: identity.Unprotected, claim: claims{"ref_protected": "false"}},
		{name: "another workflow", want: identity.WrongWorkflow, claim: claims{"workflow_ref": "octo/kernels/.github/workflows/evil.yml@refs/heads/main"}},
		{name: "the workflow of another ref", want: identity.WrongWorkflow, claim: claims{"workflow_ref": "octo/kernels/.github/workflows/pawl-ratchet.yml@refs/heads/evil"}},
		{name: "the workflow of a branch that ends like it", want: identity.WrongWorkflow, claim: claims{"workflow_ref": "octo/kernels/.github/workflows/pawl-ratchet.yml@refs/heads/evil@refs/heads/main"}},
		{name: "the workflow of another repository", want: identity.WrongWorkflow, claim: claims{"workflow_ref": "eve/kernels/.github/workflows/pawl-ratchet.yml@refs/heads/main"}},
		{name: "a workflow that only begins like it", want: identity.WrongWorkflow, claim: claims{"workflow_ref": "octo/kernels/.github/workflows/pawl-ratchet.yml.yml@refs/heads/main"}},
		{name: "the gate's workflow in a push", want: identity.WrongWorkflow, claim: claims{"workflow_ref": "octo/kernels/.github/workflows/pawl-gate.yml@refs/heads/main"}},
		{name: "no workflow_ref", want: identity.BadClaims, claim: claims{"workflow_ref": ""}},
		{name: "a pull request that names its head", want: identity.WrongRef, claim: with(pullRequest, claims{"ref": "refs/pull/12/head"})},
		{name: "a pull request of main", want: identity.WrongRef, claim: with(pullRequest, claims{"ref": "refs/heads/main"})},
		{name: "a workflow_run of another branch", want: identity.WrongRef, claim: with(workflowRun, claims{"ref": "refs/heads/evil"})},
		{name: "the queue of another branch", want: identity.WrongRef, claim: with(mergeGroup, claims{"ref": "refs/heads/gh-readonly-queue/evil/pr-1"})},
		{name: "another shared workflow", want: identity.WrongJobWorkflow, claim: with(nightly, claims{"job_workflow_ref": "eve/shared/.github/workflows/nightly.yml@refs/tags/v1"})},
		{name: "another version of the shared workflow", want: identity.WrongJobWorkflow, claim: with(nightly, claims{"job_workflow_ref": "octo/shared/.github/workflows/nightly.yml@refs/heads/v1"})},
		{name: "a tag that was moved", want: identity.WrongJobWorkflow, claim: with(nightly, claims{"job_workflow_sha": strings.Repeat("f", 40)})},
		{name: "another environment", want: identity.WrongEnv, claim: with(nightly, claims{"environment": "pawl-fork"})},
		{name: "no environment", want: identity.WrongEnv, claim: with(nightly, claims{"environment": nil})},
		{name: "by hand, on a branch that only begins like release", want: identity.WrongRef, claim: with(nightly, claims{"event_name": "workflow_dispatch", "ref": "refs/heads/release"})},
		{name: "escapes for a ref", want: identity.WrongRef, claim: claims{"ref": "refs/heads/\x1b[2J\n" + strings.Repeat("x", 900)}},
	}
	for _, event := range []string{
		"pull_request_target", "issue_comment", "repository_dispatch", "release", "PUSH", "push ", "deployment", "workflow_call",
	} {
		list = append(list, bad{name: "the event " + event, want: identity.WrongEvent, claim: claims{"event_name": event}})
	}
	return list
}

// Every one is refused, and for its own reason: a token that is refused by accident today
// is taken tomorrow.
func TestBadTokens(t *testing.T) {
	groups := map[string][]bad{
		"shape": shape(), "signature": signature(), "issuer and time": issuerAndTime(), "audience": audiences(), "authority": authority(),
	}
	n := 0
	for group, list := range groups {
		n += len(list)
		t.Run(group, func(t *testing.T) {
			b := newBench(t)
			for _, tc := range list {
				t.Run(tc.name, func(t *testing.T) {
					good := b.hub.Sign(t, b.hub.Claims(noon, audience(t, report)), nil)
					token := b.hub.Sign(t, b.hub.Claims(noon, audience(t, report)), tc.claim)
					if tc.make != nil {
						token = tc.make(t, b, good)
					}
					g, err := b.admit(t, token)
					if err == nil {
						t.Fatalf("granted %s", g.Kind)
					}
					refused(t, err, tc.want)
					if _, err := b.admit(t, good); err != nil {
						t.Errorf("the token that it was made of is refused: %v", err)
					}
				})
			}
		})
	}
	if n < 100 {
		t.Errorf("only %d bad tokens", n)
	}
}

// No other rule than the one that is asked for lets a token in, and a rule that says too
// little grants nothing.
func TestRulesThatAreNone(t *testing.T) {
	b := newBench(t)
	good := b.hub.Sign(t, b.hub.Claims(noon, audience(t, report)), nil)
	b.rules = nil
	_, err := b.admit(t, good)
	refused(t, err, identity.NoRule)
	for name, spoil := range map[string]func(*identity.Rule){
		"no repository":        func(r *identity.Rule) { r.RepositoryID = 0 },
		"no owner":             func(r *identity.Rule) { r.OwnerID = 0 },
		"no event":             func(r *identity.Rule) { r.Events = nil },
		"pull_request_target":  func(r *identity.Rule) { r.Events = []string{"push", "pull_request_target"} },
		"no workflow":          func(r *identity.Rule) { r.Workflow = "" },
		"a workflow elsewhere": func(r *identity.Rule) { r.Workflow = ".github/workflows/../evil.yml" },
		"no default branch":    func(r *identity.Rule) { r.DefaultBranch = "" },
		"every ref":            func(r *identity.Rule) { r.Refs = []string{"*"} },
		"half a name":          func(r *identity.Rule) { r.Refs = []string{"refs/heads/ma*"} },
	} {
		rule := projectRules()[0]
		spoil(&rule)
		b.rules = []identity.Rule{rule}
		if g, err := b.admit(t, good); err == nil {
			t.Errorf("%s: granted %s", name, g.Kind)
		}
	}
}

// noNetwork is a network in which nothing answers.
type noNetwork struct{}

func (noNetwork) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("no answer")
}

func FuzzToken(f *testing.F) {
	payload, err := json.Marshal(claims{"iss": "https://a.example", "aud": "x", "jti": "1", "exp": 1, "iat": 1})
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(rs256), payload, []byte("sig"))
	f.Add([]byte(`{"alg":"none"}`), []byte(`{"a":1,"A":2}`), []byte{})
	f.Add([]byte(`{"alg":"RS256","kid":"k"}`), []byte(`{"exp":1e999,"aud":["`+strings.Repeat("[", 99)+`"]}`), []byte{0})
	now := func() time.Time { return noon }
	v, err := identity.NewVerifier(identity.Config{
		Server: server, Issuers: []string{"https://a.example"}, Now: now, HTTP: &http.Client{Transport: noNetwork{}}, Seen: newMemory(now, 1),
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, header, payload, signature []byte) {
		for _, token := range []string{enc(header) + "." + enc(payload) + "." + enc(signature), string(header) + string(payload)} {
			_, err := v.Admit(t.Context(), identity.NewToken(token), identity.Upload{Project: project}, projectRules())
			if err == nil {
				t.Fatal("an unsigned token was granted")
			}
			if len(err.Error()) > 2000 || strings.ContainsAny(err.Error(), "\x1b\n\r") {
				t.Fatalf("not fit to be shown: %q", err)
			}
		}
	})
}
