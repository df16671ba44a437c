package client

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/base/loopback"
)

// ProblemError is an error response of a server, in the format of RFC 9457.
type ProblemError struct {
	Type    string   `json:"type"` // urn:pawl:problem: and a stable word
	Title   string   `json:"title"`
	Status  int      `json:"status"`
	Detail  string   `json:"detail"`
	Request string   `json:"request"`           // request ID in the server's log
	Missing []string `json:"missing,omitempty"` // blobs to send before the report
}

func (p *ProblemError) Error() string {
	text := fmt.Sprintf("the server returned %d %s", p.Status, p.Title)
	if p.Detail != "" {
		text += ": " + p.Detail
	}
	return text
}

// request is one question or upload, which may take several attempts.
type request struct {
	method, path string
	digest       string // digest of the body
	key          string // idempotency key
	media        string
	size         int64
	body         func() (io.ReadCloser, error) // nil for none
}

const (
	defaultPatience = 5 * time.Minute
	firstWait       = 500 * time.Millisecond
	longestWait     = 30 * time.Second
	maxAnswer       = 64 << 20
)

// send makes attempts until the answer is final or patience runs out.
func (c *Client) send(ctx context.Context, r request, into any) error {
	address, err := c.address(r)
	if err != nil {
		return err
	}
	patience := c.Patience
	if patience == 0 {
		patience = defaultPatience
	}
	until := c.now().Add(patience)
	for wait := firstWait; ; wait = min(2*wait, longestWait) {
		after, err := c.try(ctx, r, address, into)
		if err == nil || !errors.Is(err, ErrUnavailable) {
			return err
		}
		// An interrupt may also break the connection. Report the interrupt, not the broken connection. A deadline is
		// not final.
		switch {
		case errors.Is(ctx.Err(), context.Canceled):
			return ctx.Err()
		case ctx.Err() != nil:
			return err
		}
		// Jitter, so that clients that were rejected together do not all return at once.
		pause := max(after, wait/2+rand.N(wait/2+1))
		if after > patience {
			return fmt.Errorf("the server asks to wait %v: %w", after.Round(time.Second), err)
		}
		if c.now().Add(pause).After(until) {
			return fmt.Errorf("gave up after %v: %w", patience, err)
		}
		c.say("%v; retrying in %v", err, pause.Round(100*time.Millisecond))
		if stop := c.sleep(ctx, pause); stop != nil {
			if errors.Is(stop, context.DeadlineExceeded) {
				return err
			}
			return stop
		}
	}
}

// address returns the URL of a request.
func (c *Client) address(r request) (string, error) {
	u, err := Destination{c.URL, c.Project}.parse()
	if err != nil {
		return "", err
	}
	return u.JoinPath("v1", "projects", c.Project, r.path).String(), nil
}

// Check returns an error if the destination is invalid. A token is never sent over an unencrypted
// connection, except to the local host.
func (d Destination) Check() error {
	_, err := d.parse()
	return err
}

func (d Destination) parse() (*url.URL, error) {
	u, err := url.Parse(d.Server)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("%q is not a server URL: expected https://HOST", d.Server)
	}
	if u.Scheme == "http" && !loopback.Is(u.Hostname()) {
		return nil, fmt.Errorf("%s is not encrypted, but requests contain a token: use https", d.Server)
	}
	if !slug.MatchString(d.Project) {
		return nil, fmt.Errorf("%q is not a project name: expected lower-case letters, digits and hyphens", d.Project)
	}
	return u, nil
}

var slug = lazyregexp.New(`^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$`)

// try makes one attempt, and returns how long the server asks to wait.
func (c *Client) try(ctx context.Context, r request, address string, into any) (time.Duration, error) {
	// Allow for slow connections: 60 s, plus the time of the body at 64 KiB per second.
	ctx, cancel := context.WithTimeout(ctx, time.Minute+time.Duration(r.size>>16)*time.Second)
	defer cancel()
	q, err := c.prepare(ctx, r, address)
	if err != nil {
		return 0, err
	}
	client := http.Client{}
	if c.HTTP != nil {
		client = *c.HTTP
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	answer, err := client.Do(q)
	if err != nil {
		if said, ok := errors.AsType[*url.Error](err); ok {
			err = said.Err // without the address, which the user knows
		}
		return 0, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return 0, fmt.Errorf("%w: its response was cut off: %w", ErrUnavailable, err)
	}
	return c.judge(answer, text, into)
}

func (c *Client) prepare(ctx context.Context, r request, address string) (*http.Request, error) {
	var token string
	if c.Token != nil { // before the body is opened, which only the transport closes
		var err error
		if token, err = c.Token(ctx, r.digest); err != nil {
			return nil, err
		}
	}
	var body io.Reader
	if r.body != nil {
		opened, err := r.body()
		if err != nil {
			return nil, err
		}
		body = opened // closed by the transport
	}
	q, err := http.NewRequestWithContext(ctx, r.method, address, body)
	if err != nil {
		return nil, err
	}
	q.ContentLength = r.size
	for name, value := range map[string]string{"Content-Type": r.media, "Idempotency-Key": r.key, "Traceparent": traceparent(r.key), "User-Agent": c.Agent} {
		if value != "" {
			q.Header.Set(name, value)
		}
	}
	if token != "" {
		q.Header.Set("Authorization", "Bearer "+token)
	}
	return q, nil
}

// judge converts a response to a result.
func (c *Client) judge(answer *http.Response, text []byte, into any) (time.Duration, error) {
	status := answer.StatusCode
	if status >= 200 && status < 300 {
		if into == nil {
			return 0, nil
		}
		if raw, ok := into.(*[]byte); ok {
			*raw = text
			return 0, nil
		}
		if err := json.Unmarshal(text, into); err != nil {
			return 0, fmt.Errorf("not a pawl server: %w", err)
		}
		return 0, nil
	}
	if status >= 300 && status < 400 {
		return 0, fmt.Errorf("the server has moved: it returned %d with location %.200q", status, answer.Header.Get("Location"))
	}
	p := &ProblemError{}
	if strings.HasPrefix(answer.Header.Get("Content-Type"), "application/problem+json") {
		_ = json.Unmarshal(text, p) // if it cannot be parsed, the status is enough
	}
	p.Status, p.Title = status, http.StatusText(status)
	switch status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests,
		http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout, http.StatusInsufficientStorage:
		return c.retryAfter(answer.Header.Get("Retry-After")), fmt.Errorf("%w: %w", ErrUnavailable, p)
	default:
		return 0, p
	}
}

// retryAfter parses a Retry-After header: seconds or a date.
func (c *Client) retryAfter(text string) time.Duration {
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(at.Sub(c.now()), 0)
	}
	return 0
}

func digestText(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// traceparent puts all attempts to send a report into one trace (W3C Trace Context). It is derived from the
// key, so that the trace can be found from the run.
func traceparent(key string) string {
	if len(key) != 64 {
		return ""
	}
	return "00-" + key[:32] + "-" + key[32:48] + "-01"
}
