package server

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"
)

const (
	issuerTimeout = 10 * time.Second
	issuerAnswer  = 1 << 20
)

// pinnedClient returns a client that contacts only the hosts that the operator named, wherever the issuer's
// document points. It follows no redirects and limits the size of responses.
func pinnedClient(from *http.Client, scheme string, hosts []string) *http.Client {
	base, timeout := http.DefaultTransport, issuerTimeout
	if from != nil && from.Transport != nil {
		base = from.Transport
	}
	if from != nil && from.Timeout > 0 {
		timeout = from.Timeout
	}
	return &http.Client{
		Timeout:   timeout,
		Transport: &pinned{base, scheme, hosts},
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return errors.New("redirects by an issuer are not followed")
		},
	}
}

type pinned struct {
	base   http.RoundTripper
	scheme string
	hosts  []string
}

func (p *pinned) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme != p.scheme || !slices.Contains(p.hosts, r.URL.Host) {
		return nil, fmt.Errorf("the login issuer refers to %s://%s, which is not an allowed host: add it to login.hosts if it is right", r.URL.Scheme, r.URL.Host)
	}
	resp, err := p.base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(resp.Body, issuerAnswer), resp.Body}
	return resp, nil
}
