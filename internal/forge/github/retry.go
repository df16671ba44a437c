package github

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/forge"
)

// retryTransport sends requests as GitHub asks its clients to: it waits out rate limits and
// retries transient failures. It retries reads itself, but never writes: the response of a
// write may be lost although it took effect, and its content may be outdated after the
// wait. For a write it waits, then returns an againError. The caller reads the current
// state before it decides again.
type retryTransport struct {
	client *Client
	base   http.RoundTripper
	host   string // the only one that gets the token
}

// againError reports that a write was delayed or has an unknown outcome. The wait is over.
type againError struct{ why error }

func (e *againError) Error() string {
	return e.why.Error() + "; read the current state before writing again"
}
func (e *againError) Unwrap() error { return e.why }

func shouldRetry(err error) bool {
	_, yes := errors.AsType[*againError](err)
	return yes
}

// budget is the time that one call of the client may spend waiting.
type budget struct {
	until            time.Time
	limited, failing int // consecutive
	waits            int // total
}

type budgetKey struct{}

// withBudget gives a call its budget, which nested calls share.
func (c *Client) withBudget(ctx context.Context) context.Context {
	if _, ok := ctx.Value(budgetKey{}).(*budget); ok {
		return ctx
	}
	return context.WithValue(ctx, budgetKey{}, &budget{until: c.Now().Add(c.Patience)})
}

const (
	writeGap   = time.Second // GitHub asks for a second between writes
	limitPause = time.Minute // after a limit that gives no time; doubles
)

// RoundTrip implements http.RoundTripper.
func (p *retryTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, c := req.Context(), p.client
	b, ok := ctx.Value(budgetKey{}).(*budget)
	if !ok {
		b = &budget{until: c.Now().Add(c.Patience)}
	}
	write := isWrite(req)
	for {
		if write {
			if err := c.pace(ctx); err != nil {
				return nil, err
			}
		}
		resp, body, err := p.once(req)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		wait, why := b.classify(resp, body, err, c.Now())
		if why == nil {
			return resp, nil
		}
		wait = c.Jittered(wait)
		why = fmt.Errorf("%s %s: %w", req.Method, req.URL.Path, why)
		if b.waits++; b.waits > forge.MaxWaits || c.Now().Add(wait).After(b.until) {
			return nil, fmt.Errorf("%w: %w; the next attempt would be in %s", ErrBusy, why, wait.Round(time.Second))
		}
		c.Log("%v; waiting %s", why, wait.Round(time.Millisecond))
		if err := c.Sleep(ctx, wait); err != nil {
			return nil, err
		}
		if write {
			return nil, &againError{why}
		}
	}
}

// isWrite reports whether a request may change something. GraphQL queries use POST but
// change nothing.
func isWrite(req *http.Request) bool {
	return req.Method != http.MethodGet && !strings.HasSuffix(req.URL.Path, "/graphql")
}

// pace waits until a write may be sent.
func (c *Client) pace(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if wait := c.wrote.Add(writeGap).Sub(c.Now()); wait > 0 {
		if err := c.Sleep(ctx, wait); err != nil {
			return err
		}
	}
	return nil
}

// once sends the request and reads the whole response. A truncated response is a failure
// like any other.
func (p *retryTransport) once(req *http.Request) (*http.Response, []byte, error) {
	limit := p.client.HTTP.Timeout
	if limit == 0 {
		limit = forge.AttemptTime
	}
	ctx, cancel := context.WithTimeout(req.Context(), limit)
	defer cancel()
	out := req.Clone(ctx)
	if req.GetBody != nil {
		body, err := req.GetBody()
		if err != nil {
			return nil, nil, err
		}
		out.Body = body
	}
	if req.URL.Host == p.host {
		token, err := p.client.Token(ctx)
		if err != nil {
			return nil, nil, fmt.Errorf("cannot get a token: %w", err)
		}
		out.Header.Set("Authorization", "Bearer "+token)
	}
	if isWrite(req) {
		p.client.mu.Lock()
		p.client.wrote = p.client.Now()
		p.client.mu.Unlock()
	}
	resp, err := p.base.RoundTrip(out)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	body, err := forge.ReadBody(resp.Body)
	if err != nil {
		return nil, nil, err
	}
	if strings.Contains(resp.Header.Get("Content-Type"), "json") && len(body) > 0 && !json.Valid(body) {
		return nil, nil, errors.New("the response is not JSON")
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, body, nil
}

// classify returns why a response is not final and how long to wait, by GitHub's documented
// rules for its limits.
func (b *budget) classify(resp *http.Response, body []byte, err error, now time.Time) (time.Duration, error) {
	switch {
	case err != nil:
		return b.failed(), err
	case resp.StatusCode >= 500 && resp.StatusCode != http.StatusNotImplemented:
		wait := b.failed()
		if asked, ok := forge.RetryAfter(resp.Header, now); ok {
			wait = max(wait, asked)
		}
		return wait, fmt.Errorf("GitHub returned %s", resp.Status)
	case resp.StatusCode == http.StatusTooManyRequests, resp.StatusCode == http.StatusForbidden:
		wait, limit := b.limit(resp, body, now)
		if limit != "" {
			b.limited++
			return wait, fmt.Errorf("GitHub returned %s: %s", resp.Status, limit)
		}
	}
	b.limited, b.failing = 0, 0
	return 0, nil
}

func (b *budget) failed() time.Duration {
	b.failing++
	return forge.Pause(b.failing)
}

func (b *budget) limit(resp *http.Response, body []byte, now time.Time) (time.Duration, string) {
	if wait, ok := forge.RetryAfter(resp.Header, now); ok {
		return max(wait, time.Second), "rate limit with a Retry-After header"
	}
	if resp.Header.Get("X-Ratelimit-Remaining") == "0" {
		if reset, err := strconv.ParseInt(resp.Header.Get("X-Ratelimit-Reset"), 10, 64); err == nil {
			return max(time.Unix(reset, 0).Sub(now)+time.Second, time.Second), "the rate limit is used up"
		}
	}
	text := bytes.ToLower(body)
	secondary := bytes.Contains(text, []byte("secondary rate limit")) || bytes.Contains(text, []byte("abuse detection"))
	if secondary || resp.StatusCode == http.StatusTooManyRequests || resp.Header.Get("X-Ratelimit-Remaining") == "0" {
		return limitPause << min(b.limited, 10), "a secondary rate limit"
	}
	return 0, ""
}
