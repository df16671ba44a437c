// Package gitlab implements package forge for GitLab. It knows GitLab's API, its limits and retries. It must not know what the
// texts mean.
package gitlab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/goatnote-inc/pawl/internal/forge"
)

// Errors that callers can distinguish. Each is wrapped with the attempted operation.
var (
	ErrForbidden = errors.New("GitLab denies access")       // 401 and 403
	ErrInvalid   = errors.New("the request is rejected")    // other responses from 400 on
	ErrBusy      = errors.New("gave up waiting for GitLab") // limits and failures that outlast Config.Patience
)

// Config selects the project and provides the client's dependencies.
type Config struct {
	BaseURL string // CI_API_V4_URL, such as https://HOST/api/v4; empty for gitlab.com
	Repo    forge.Repo
	Token   string

	forge.Waiting
}

// Client talks to one project. It is safe for concurrent use.
type Client struct {
	Config
	project string // path of the project in the API
	host    string

	mu sync.Mutex
	me int64 // account of the token; 0 until it is known
}

// New checks the configuration. It sends no requests.
func New(c Config) (*Client, error) {
	if _, err := forge.ParseRepo(c.Repo.String()); err != nil {
		return nil, err
	}
	if c.Token == "" || strings.ContainsFunc(c.Token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errors.New("the token for GitLab is empty or has characters that no token has: check GITLAB_TOKEN")
	}
	if c.BaseURL == "" {
		c.BaseURL = "https://gitlab.com/api/v4"
	}
	base, err := url.Parse(c.BaseURL)
	if err != nil || base.Host == "" || base.User != nil || base.Scheme != "https" && base.Scheme != "http" {
		return nil, fmt.Errorf("%.200q is not the URL of a GitLab API: expected https://HOST/api/v4", c.BaseURL)
	}
	c.BaseURL = strings.TrimRight(c.BaseURL, "/")
	c.SetDefaults()
	own := *c.HTTP
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse } // the token goes to one host only
	c.HTTP = &own
	return &Client{Config: c, project: "/projects/" + url.PathEscape(c.Repo.String()), host: base.Host}, nil
}

// statusError is a response that is not a success.
type statusError struct {
	code int
	text string
}

func (e *statusError) Error() string { return fmt.Sprintf("%d %s", e.code, e.text) }

// Unwrap returns the kind of the error.
func (e *statusError) Unwrap() error {
	switch e.code {
	case http.StatusUnauthorized, http.StatusForbidden:
		return ErrForbidden
	case http.StatusNotFound, http.StatusGone:
		return forge.ErrNotFound
	}
	return ErrInvalid
}

// status returns the HTTP status of GitLab's response; 0 if there was none.
func status(err error) int {
	if e, ok := errors.AsType[*statusError](err); ok {
		return e.code
	}
	return 0
}

// wrapError adds the attempted operation to an error, and a hint.
func (c *Client) wrapError(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	hint := ""
	switch {
	case status(err) == http.StatusUnauthorized:
		hint = ": the token is wrong or has expired"
	case errors.Is(err, ErrForbidden):
		hint = ": the token needs the scope api and the role Developer, see docs/how-to/gitlab.md"
	case errors.Is(err, forge.ErrNotFound):
		hint = ": it does not exist, or the token cannot see it"
	}
	return fmt.Errorf("%s of %s: %w%s", fmt.Sprintf(format, args...), c.Repo, err, hint)
}

// errUnknown means that a write may have taken effect or not: the caller reads the state before it writes again.
var errUnknown = errors.New("the outcome is unknown; read the current state before writing again")

// call sends a request below the project and decodes the response. It waits out limits and retries reads, but never
// writes: the response of a write may be lost although it took effect.
func (c *Client) call(ctx context.Context, method, path string, query url.Values, body, into any) (http.Header, error) {
	var sent []byte
	if body != nil {
		var err error
		if sent, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	address := c.BaseURL + path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	until := c.Now().Add(c.Patience)
	for n := 1; ; n++ {
		header, text, err := c.once(ctx, method, address, sent)
		wait, again := c.classify(err, header, n)
		switch {
		case err == nil && into != nil:
			if err := json.Unmarshal(text, into); err != nil {
				return nil, fmt.Errorf("the response to %s %s is not what was expected: %w", method, path, err)
			}
			return header, nil
		case !again || ctx.Err() != nil:
			return header, err
		case n > forge.MaxWaits || c.Now().Add(wait).After(until):
			return nil, fmt.Errorf("%w: %s %s: %w", ErrBusy, method, path, err)
		}
		c.Log("%s %s: %v; waiting %s", method, path, err, wait.Round(time.Millisecond))
		if err := c.Sleep(ctx, wait); err != nil {
			return nil, err
		}
		if method != http.MethodGet && status(err) != http.StatusTooManyRequests {
			return nil, fmt.Errorf("%s %s: %w: %w", method, path, errUnknown, err)
		}
	}
}

// classify reports whether a request may be sent again, and after which time.
func (c *Client) classify(err error, header http.Header, n int) (time.Duration, bool) {
	code := status(err)
	if err == nil || code != 0 && code != http.StatusTooManyRequests && code < 500 {
		return 0, false
	}
	wait := forge.Pause(n)
	if asked, ok := forge.RetryAfter(header, c.Now()); ok {
		wait = max(wait, asked)
	}
	return c.Jittered(wait), true
}

// once sends a request and reads the whole response.
func (c *Client) once(ctx context.Context, method, address string, body []byte) (http.Header, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, forge.AttemptTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	req.Header.Set("User-Agent", "pawl")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if req.URL.Host == c.host {
		req.Header.Set("Private-Token", c.Token)
	}
	resp, err := c.HTTP.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	text, err := forge.ReadBody(resp.Body)
	switch {
	case err != nil:
		return nil, nil, err
	case resp.StatusCode >= 300:
		return resp.Header, nil, &statusError{resp.StatusCode, forge.OneLine(string(text))}
	}
	return resp.Header, text, nil
}

// list reads a list to its end. A list longer than limit pages is an error, so that a partial list is never used as a whole one.
func list[T any](ctx context.Context, c *Client, limit int, path string, query url.Values) ([]T, error) {
	var all []T
	page := "1"
	for range limit {
		asked := url.Values{"per_page": {"100"}, "page": {page}}
		maps.Copy(asked, query)
		var some []T
		header, err := c.call(ctx, http.MethodGet, path, asked, nil, &some)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
		if page = header.Get("X-Next-Page"); page == "" {
			return all, nil
		}
	}
	return nil, fmt.Errorf("the list has more than %d entries", limit*100)
}
