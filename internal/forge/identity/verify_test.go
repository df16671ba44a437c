package identity_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/await"
	"github.com/goatnote-inc/pawl/internal/forge/identity"
	"github.com/goatnote-inc/pawl/internal/forge/identity/identitytest"
)

const (
	server  = "https://pawl.example.com"
	project = "octo/kernels"
	sha40   = "0123456789abcdef0123456789abcdef01234567"
)

var (
	noon   = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	report = identity.Digest(sha256.Sum256([]byte("a report")))
)

// bench is a server with its issuers and a project, as the tests begin with it.
type bench struct {
	*identity.Verifier
	hub, enterprise *identitytest.Issuer
	rules           []identity.Rule
	now             time.Time
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{hub: identitytest.NewIssuer(t, ""), now: noon, rules: projectRules()}
	b.enterprise = identitytest.NewIssuer(t, "/_services/token")
	now := func() time.Time { return b.now }
	v, err := identity.NewVerifier(identity.Config{
		Server: server, Issuers: []string{b.hub.URL, b.enterprise.URL}, HTTP: b.hub.Client, Now: now, Seen: newMemory(now, 1000),
	})
	if err != nil {
		t.Fatal(err)
	}
	b.Verifier = v
	return b
}

// projectRules are those of a project whose four workflows upload.
func projectRules() []identity.Rule {
	base := identity.Rule{RepositoryID: 1001, OwnerID: 77, DefaultBranch: "main"}
	ratchet, gate, publish, shared := base, base, base, base
	ratchet.Events, ratchet.Workflow, ratchet.Protected = []string{"push"}, ".github/workflows/pawl-ratchet.yml", true
	gate.Events, gate.Workflow = []string{"pull_request", "merge_group"}, ".github/workflows/pawl-gate.yml"
	publish.Events, publish.Workflow = []string{"workflow_run"}, ".github/workflows/pawl-publish.yml"
	shared.Events, shared.Workflow = []string{"schedule", "workflow_dispatch"}, ".github/workflows/pawl-nightly.yml"
	shared.Refs = []string{"refs/heads/main", "refs/heads/release/*"}
	shared.JobWorkflow, shared.JobWorkflowSHA = "octo/shared/.github/workflows/nightly.yml@refs/tags/v1", sha40
	shared.Environment = "pawl"
	return []identity.Rule{ratchet, gate, publish, shared}
}

func audience(t testing.TB, d identity.Digest) string {
	t.Helper()
	a, err := identity.Audience(server, project, d)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// admit decides, and looks whether the same would have been said before the bytes came:
// all but what depends on them.
func (b *bench) admit(t *testing.T, token string) (identity.Grant, error) {
	t.Helper()
	before := b.Precheck(t.Context(), identity.NewToken(token), b.rules)
	grant, err := b.Admit(t.Context(), identity.NewToken(token), identity.Upload{Project: project, Digest: report, Receipt: "receipt"}, b.rules)
	refused, _ := errors.AsType[*identity.RefusedError](err)
	late := refused != nil && (refused.Reason == identity.WrongAudience || refused.Reason == identity.Replayed)
	if (before == nil) != (err == nil) && !late {
		t.Errorf("before its bytes a token gets %v, with them %v", before, err)
	}
	return grant, err
}

type claims = map[string]any

// Jobs of the events that may upload, each different from a push on main in these claims.
var (
	pullRequest = claims{
		"event_name": "pull_request", "ref": "refs/pull/12/merge", "ref_protected": "false", "head_ref": "faster", "base_ref": "main",
		"workflow_ref": "octo/kernels/.github/workflows/pawl-gate.yml@refs/pull/12/merge", "sub": "repo:octo/kernels:pull_request",
	}
	workflowRun = claims{
		"event_name": "workflow_run", "workflow_ref": "octo/kernels/.github/workflows/pawl-publish.yml@refs/heads/main",
	}
	nightly = claims{
		"event_name": "schedule", "workflow_ref": "octo/kernels/.github/workflows/pawl-nightly.yml@refs/heads/main", "environment": "pawl",
		"job_workflow_ref": "octo/shared/.github/workflows/nightly.yml@refs/tags/v1", "job_workflow_sha": sha40,
	}
	mergeGroup = claims{
		"event_name": "merge_group", "ref": "refs/heads/gh-readonly-queue/main/pr-12-" + sha40,
		"workflow_ref": "octo/kernels/.github/workflows/pawl-gate.yml@refs/heads/gh-readonly-queue/main/pr-12-" + sha40,
	}
)

func with(base, more claims) claims {
	all := maps.Clone(base)
	maps.Copy(all, more)
	return all
}

func TestGoodTokens(t *testing.T) {
	b := newBench(t)
	for _, tc := range []struct {
		name    string
		changed claims
		kind    identity.Kind
	}{
		{"a push on main", nil, identity.Baseline},
		{"the subject of repositories made after July 2026", claims{"sub": "repo:octo@77/kernels@1001:ref:refs/heads/main"}, identity.Baseline},
		{"a subject that the owner made up", claims{"sub": "whatever"}, identity.Baseline},
		{"a repository that was renamed", claims{"repository": "octo/fast", "workflow_ref": "octo/fast/.github/workflows/pawl-ratchet.yml@refs/heads/main"}, identity.Baseline},
		{"properties of the repository's own", claims{"repo_property_team": []string{"a", "b"}, "something_new": claims{"x": 1}}, identity.Baseline},
		{"no nbf", claims{"nbf": nil}, identity.Baseline},
		{"clocks a minute apart", claims{"iat": noon.Add(59 * time.Second).Unix(), "nbf": noon.Add(59 * time.Second).Unix()}, identity.Baseline},
		{"just expired, within the skew", claims{"exp": noon.Add(-59 * time.Second).Unix(), "iat": noon.Add(-6 * time.Minute).Unix()}, identity.Baseline},
		{"a pull request", pullRequest, identity.Report},
		{"a merge queue", mergeGroup, identity.Report},
		{"a shared workflow, at night", nightly, identity.Report},
		{"by hand, on a release branch", with(nightly, claims{
			"event_name": "workflow_dispatch", "ref": "refs/heads/release/2",
			"workflow_ref": "octo/kernels/.github/workflows/pawl-nightly.yml@refs/heads/release/2",
		}), identity.Report},
		{"what a fork's run left", workflowRun, identity.ForkReport},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for n, from := range []*identitytest.Issuer{b.hub, b.enterprise} {
				fresh := with(claims{"jti": fmt.Sprint(tc.name, n)}, tc.changed)
				g, err := b.admit(t, from.Sign(t, from.Claims(noon, audience(t, report)), fresh))
				if err != nil {
					t.Fatal(err)
				}
				if g.Kind != tc.kind || !g.Fresh || g.Receipt != "receipt" {
					t.Errorf("granted %+v, want %s", g, tc.kind)
				}
				if g.Claims.RepositoryID != 1001 || g.Claims.SHA != sha40 || g.Claims.RunID != "900" || g.Claims.RunnerEnvironment != "github-hosted" {
					t.Errorf("the provenance is lost: %+v", g.Claims)
				}
			}
		})
	}
}

// A token with the same name: the report again is answered with the first receipt, another
// report is refused, though its audience is right.
func TestReplay(t *testing.T) {
	b := newBench(t)
	token := b.hub.Sign(t, b.hub.Claims(noon, audience(t, report)), nil)
	up := identity.Upload{Project: project, Digest: report, Receipt: "first"}
	first, err := b.Admit(t.Context(), identity.NewToken(token), up, b.rules)
	if err != nil || first.Receipt != "first" || !first.Fresh {
		t.Fatalf("first: %+v, %v", first, err)
	}
	up.Receipt = "second"
	again, err := b.Admit(t.Context(), identity.NewToken(token), up, b.rules)
	if err != nil || again.Receipt != "first" || again.Fresh {
		t.Fatalf("again: %+v, %v", again, err)
	}
	other := identity.Digest(sha256.Sum256([]byte("another report")))
	up.Digest = other
	_, err = b.Admit(t.Context(), identity.NewToken(token), up, b.rules)
	refused(t, err, identity.WrongAudience)
	forged := b.hub.Sign(t, b.hub.Claims(noon, audience(t, other)), nil)
	_, err = b.Admit(t.Context(), identity.NewToken(forged), up, b.rules)
	refused(t, err, identity.Replayed)
	b.now = noon.Add(7 * time.Minute)
	up.Digest = report
	_, err = b.Admit(t.Context(), identity.NewToken(token), up, b.rules)
	refused(t, err, identity.Expired)
}

func refused(t *testing.T, err error, want identity.Reason) {
	t.Helper()
	e, ok := errors.AsType[*identity.RefusedError](err)
	if !ok {
		t.Fatalf("got %v, want a refusal for %s", err, want)
	}
	if e.Reason != want {
		t.Fatalf("refused for %s (%s), want %s", e.Reason, e.Detail, want)
	}
	if len(e.Detail) > 600 || strings.ContainsAny(e.Detail, "\x1b\n\r") {
		t.Errorf("the reason is not fit to be shown: %q", e.Detail)
	}
}

// Invented keys do not make us ask the issuer again and again, and new keys are found.
func TestKeysAreAskedForSeldom(t *testing.T) {
	b := newBench(t)
	good := b.hub.Sign(t, b.hub.Claims(noon, audience(t, report)), nil)
	for n := range 20 {
		header := fmt.Sprintf(`{"alg":"RS256","kid":"invented-%d"}`, n)
		_, err := b.admit(t, b.hub.SignText(t, header, payloadOf(t, good)))
		refused(t, err, identity.BadSignature)
	}
	if asked := b.hub.Asked.Load(); asked > 2 {
		t.Errorf("asked the issuer %d times", asked)
	}
	b.hub.KeyID = "key-2"
	b.now = noon.Add(time.Minute)
	// For a moment after a request, go-oidc gives its answer to the next caller too.
	token := b.hub.Sign(t, b.hub.Claims(noon, audience(t, report)), claims{"jti": "new"})
	await.True(t, "the new key to be known", func() bool { return b.Precheck(t.Context(), identity.NewToken(token), b.rules) == nil })
	if _, err := b.admit(t, token); err != nil {
		t.Error(err)
	}
}

// An issuer that cannot be asked is no reason to say that the token is bad, nor to take it.
func TestIssuerDown(t *testing.T) {
	b := newBench(t)
	token := b.hub.Sign(t, b.hub.Claims(noon, audience(t, report)), nil)
	b.hub.Broken.Store(true)
	if _, err := b.admit(t, token); !errors.Is(err, identity.ErrUnavailable) {
		t.Errorf("got %v, want ErrUnavailable", err)
	}
	asked := b.hub.Asked.Load()
	if _, err := b.admit(t, token); !errors.Is(err, identity.ErrUnavailable) || b.hub.Asked.Load() != asked {
		t.Errorf("at once again: %v, asked %d times more", err, b.hub.Asked.Load()-asked)
	}
	b.hub.Broken.Store(false)
	b.now = noon.Add(5 * time.Second)
	if _, err := b.admit(t, token); err != nil {
		t.Errorf("after it came back: %v", err)
	}
	b.hub.Broken.Store(true)
	b.now = noon.Add(2 * time.Minute)
	header := `{"alg":"RS256","kid":"key-9"}`
	if _, err := b.admit(t, b.hub.SignText(t, header, payloadOf(t, token))); !errors.Is(err, identity.ErrUnavailable) {
		t.Errorf("an unknown key while it is down: %v, want ErrUnavailable", err)
	}
}

// Who hangs up while the issuer is first asked spoils nothing for the next.
func TestHangingUp(t *testing.T) {
	b := newBench(t)
	token := identity.NewToken(b.hub.Sign(t, b.hub.Claims(noon, audience(t, report)), nil))
	gone, hangUp := context.WithCancel(t.Context())
	hangUp()
	if _, err := b.Admit(gone, token, identity.Upload{Project: project, Digest: report}, b.rules); err != nil && !errors.Is(err, identity.ErrUnavailable) {
		t.Errorf("hung up: %v", err)
	}
	if _, err := b.Admit(t.Context(), token, identity.Upload{Project: project, Digest: report}, b.rules); err != nil {
		t.Error(err)
	}
}

func TestKeysLieWithTheIssuer(t *testing.T) {
	b := newBench(t)
	b.hub.MoveKeys(b.enterprise.URL + "/.well-known/jwks")
	if _, err := b.admit(t, b.hub.Sign(t, b.hub.Claims(noon, audience(t, report)), nil)); !errors.Is(err, identity.ErrUnavailable) {
		t.Errorf("keys of another host: %v, want ErrUnavailable", err)
	}
	if b.enterprise.Asked.Load() != 0 {
		t.Error("the other host was asked")
	}
}
