package identity

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-json-experiment/json/jsontext"
)

// ErrUnavailable reports that the keys of an issuer cannot be fetched. Nothing is known
// about the token, and the client should retry.
var ErrUnavailable = errors.New("the issuer's keys are not available now")

const (
	keysTimeout = 10 * time.Second // if the client has none
	keysPause   = 30 * time.Second // min interval between two requests to an issuer
	failPause   = 5 * time.Second  // and after a failed one
	maxKeys     = 1 << 20
)

// issuer is a forge whose tokens are accepted, with its keys.
type issuer struct {
	name   string
	client *http.Client

	mu   sync.Mutex
	keys *oidc.RemoteKeySet // nil before the first request to the issuer
}

func newIssuer(name string, client *http.Client, now func() time.Time) (*issuer, error) {
	u, err := url.Parse(name)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("the issuer %q must have the form https://HOST[/PATH]: GitHub's is %s", name, GitHub)
	}
	base, timeout := http.DefaultTransport, keysTimeout
	if client != nil && client.Transport != nil {
		base = client.Transport
	}
	if client != nil && client.Timeout > 0 {
		timeout = client.Timeout
	}
	return &issuer{name: name, client: &http.Client{
		Transport:     &cachingTransport{base: base, host: u.Host, now: now, answers: map[string]answer{}},
		Timeout:       timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return errors.New("an issuer must not redirect") },
	}}, nil
}

// verify returns nil if the token is signed with RS256 by a key of the issuer.
func (i *issuer) verify(ctx context.Context, raw string) error {
	keys, err := i.remote(ctx)
	if err != nil {
		return err
	}
	told := &recordingKeySet{from: keys}
	v := oidc.NewVerifier(i.name, told, &oidc.Config{
		SupportedSigningAlgs: []string{oidc.RS256},
		SkipClientIDCheck:    true, // this package checks the audience and the times,
		SkipExpiryCheck:      true, // with its own skew
	})
	if _, err := v.Verify(ctx, raw); err != nil {
		if _, ok := errors.AsType[*unreachableError](told.err); ok || ctx.Err() != nil {
			return fmt.Errorf("%w: %w", ErrUnavailable, told.err)
		}
		return refuse(BadSignature, "its signature matches no key of %s", i.name)
	}
	return nil
}

// remote returns the key set, from the location in the issuer's own document.
func (i *issuer) remote(ctx context.Context) (*oidc.RemoteKeySet, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.keys != nil {
		return i.keys, nil
	}
	// A client that disconnects must not cause a failure for others. The HTTP client has its
	// own timeout.
	ctx = oidc.ClientContext(context.WithoutCancel(ctx), i.client)
	p, err := oidc.NewProvider(ctx, i.name)
	if err != nil {
		return nil, fmt.Errorf("%w: cannot read the OpenID configuration of %s: %w", ErrUnavailable, i.name, err)
	}
	var said struct {
		Keys string `json:"jwks_uri"`
	}
	if err := p.Claims(&said); err != nil || said.Keys == "" {
		return nil, fmt.Errorf("%w: the OpenID configuration of %s has no jwks_uri", ErrUnavailable, i.name)
	}
	i.keys = oidc.NewRemoteKeySet(ctx, said.Keys)
	return i.keys, nil
}

// recordingKeySet keeps the error of a verification, which the library converts to text.
type recordingKeySet struct {
	from oidc.KeySet
	err  error
}

func (k *recordingKeySet) VerifySignature(ctx context.Context, raw string) ([]byte, error) {
	payload, err := k.from.VerifySignature(ctx, raw)
	k.err = err
	return payload, err
}

// cachingTransport contacts only one host, limits the response size, and caches responses for a
// while. Otherwise tokens with invented keys, which arrive by the thousand, would each
// trigger a request.
type cachingTransport struct {
	base http.RoundTripper
	host string
	now  func() time.Time

	mu      sync.Mutex
	answers map[string]answer // by URL; usually two
}

type answer struct {
	at   time.Time
	body []byte
	err  error
}

type unreachableError struct{ error }

func (e *unreachableError) Unwrap() error { return e.error }

func (r *cachingTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Scheme != "https" || req.URL.Host != r.host || req.Method != http.MethodGet {
		return nil, &unreachableError{fmt.Errorf("the issuer's keys are at %s, not on its own host", req.URL.Redacted())}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	where := req.URL.String()
	a, ok := r.answers[where]
	pause := keysPause
	if a.err != nil {
		pause = failPause
	}
	if !ok || r.now().Sub(a.at) >= pause || r.now().Before(a.at) {
		a = r.ask(req)
		if len(r.answers) > 8 { // an issuer that keeps moving its keys
			clear(r.answers)
		}
		r.answers[where] = a
	}
	if a.err != nil {
		return nil, &unreachableError{a.err}
	}
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(a.body)),
		ContentLength: int64(len(a.body)), Request: req,
	}, nil
}

func (r *cachingTransport) ask(req *http.Request) answer {
	a := answer{at: r.now()}
	resp, err := r.base.RoundTrip(req)
	if err != nil {
		a.err = err
		return a
	}
	defer func() { _ = resp.Body.Close() }()
	a.body, err = io.ReadAll(io.LimitReader(resp.Body, maxKeys+1))
	switch {
	case err != nil:
		a.err = fmt.Errorf("cannot read %s: %w", req.URL.Redacted(), err)
	case resp.StatusCode != http.StatusOK:
		a.err = fmt.Errorf("%s returned %s", req.URL.Redacted(), resp.Status)
	case len(a.body) > maxKeys:
		a.err = fmt.Errorf("the response of %s has more than %d bytes", req.URL.Redacted(), maxKeys)
	case !jsontext.Value(a.body).IsValid():
		a.err = fmt.Errorf("the response of %s is not JSON", req.URL.Redacted())
	}
	return a
}
