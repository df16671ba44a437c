package identity

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"time"
)

// ErrNoPermission reports that the job may not request an ID token.
var ErrNoPermission = errors.New("the job may not request an ID token: set `permissions: id-token: write`, in a job that runs no code of the change")

// ErrFork reports that the job runs for a fork, which gets no token from GitHub.
var ErrFork = errors.New("a pull request from a fork gets no ID token: the workflow_run workflow publishes its results")

// Env is the environment of a GitHub Actions job.
type Env struct {
	Getenv func(string) string
	HTTP   *http.Client // nil for the default
	// Sleep waits between attempts; it returns early if the context ends. Nil waits on a timer.
	Sleep func(context.Context, time.Duration) error
}

const (
	requestTimeout  = 10 * time.Second
	requestAttempts = 3
	maxAnswer       = 64 << 10
	maxEvent        = 8 << 20
)

// Request requests a token for one audience from Actions. It does not cache: a token is
// valid for minutes and for one report, so every upload attempt requests a new one.
func Request(ctx context.Context, env Env, audience string) (Token, error) {
	where, bearer := env.Getenv("ACTIONS_ID_TOKEN_REQUEST_URL"), NewToken(env.Getenv("ACTIONS_ID_TOKEN_REQUEST_TOKEN"))
	if where == "" || bearer.IsZero() {
		if env.Getenv("GITHUB_ACTIONS") != "true" {
			return Token{}, errors.New("cannot request a token: this is not a GitHub Actions job")
		}
		if fromFork(env.Getenv("GITHUB_EVENT_PATH")) {
			return Token{}, ErrFork
		}
		return Token{}, ErrNoPermission
	}
	u, err := url.Parse(where)
	if err != nil || !isSecureURL(u) {
		return Token{}, errors.New("ACTIONS_ID_TOKEN_REQUEST_URL is not an https URL: the token would be sent unencrypted")
	}
	q := u.Query()
	q.Set("audience", audience)
	u.RawQuery = q.Encode()
	body, err := try(ctx, env.HTTP, env.Sleep, http.StatusOK, func(ctx context.Context) (*http.Request, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
		if err != nil {
			return nil, err
		}
		req.Header.Set("Authorization", "Bearer "+bearer.Reveal())
		req.Header.Set("Accept", "application/json")
		return req, nil
	})
	if err != nil {
		return Token{}, fmt.Errorf("cannot get a token from GitHub Actions: %w", err)
	}
	var said struct {
		Value string `json:"value"`
	}
	if json.Unmarshal(body, &said) != nil || said.Value == "" {
		return Token{}, errors.New("cannot get a token from GitHub Actions: the response has no token")
	}
	return NewToken(said.Value), nil
}

// StatusError is an HTTP response with an unexpected status.
type StatusError struct {
	Status int
	Host   string
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("%s returned %d %s", e.Host, e.Status, http.StatusText(e.Status))
}

// try sends a request up to three times, if the failure may be transient. The body is
// size-limited. It is never part of an error, because it may contain a token.
func try(ctx context.Context, client *http.Client, sleep func(context.Context, time.Duration) error, want int, build func(context.Context) (*http.Request, error)) ([]byte, error) {
	c := http.Client{Timeout: requestTimeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if client != nil {
		c.Transport = client.Transport
		c.Timeout = cmp.Or(client.Timeout, requestTimeout)
	}
	if sleep == nil {
		sleep = wait
	}
	for attempt := 1; ; attempt++ {
		body, err := once(ctx, &c, want, build)
		var status *StatusError
		again := err != nil && (!errors.As(err, &status) || status.Status >= 500 || status.Status == http.StatusTooManyRequests)
		if !again || attempt == requestAttempts || ctx.Err() != nil {
			return body, err
		}
		if err := sleep(ctx, time.Second<<(attempt-1)); err != nil {
			return nil, err
		}
	}
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func once(ctx context.Context, c *http.Client, want int, build func(context.Context) (*http.Request, error)) ([]byte, error) {
	req, err := build(ctx)
	if err != nil {
		return nil, err
	}
	resp, err := c.Do(req)
	if err != nil {
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err // the URL contains the audience or an installation ID
		}
		return nil, fmt.Errorf("%s: %w", req.URL.Host, err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != want {
		return nil, &StatusError{Status: resp.StatusCode, Host: req.URL.Host}
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return nil, fmt.Errorf("cannot read the response of %s: %w", req.URL.Host, err)
	}
	if len(body) > maxAnswer {
		return nil, fmt.Errorf("the response of %s has more than %d bytes", req.URL.Host, maxAnswer)
	}
	return body, nil
}

// isSecureURL reports whether a secret may be sent to an address: https, or loopback.
func isSecureURL(u *url.URL) bool {
	if u.Host == "" || u.User != nil {
		return false
	}
	host := u.Hostname()
	return u.Scheme == "https" || u.Scheme == "http" && (host == "127.0.0.1" || host == "::1" || host == "localhost")
}

// fromFork reports, from the job's event, whether its head is in another repository.
func fromFork(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	type repo struct {
		ID int64 `json:"id"`
	}
	var event struct {
		Repository  repo `json:"repository"`
		PullRequest struct {
			Head struct {
				Repo *repo `json:"repo"`
			} `json:"head"`
		} `json:"pull_request"`
	}
	if json.NewDecoder(io.LimitReader(f, maxEvent)).Decode(&event) != nil {
		return false
	}
	head := event.PullRequest.Head.Repo
	return head != nil && head.ID != event.Repository.ID
}
