// Package github implements package forge for GitHub and GitHub Enterprise. It knows
// GitHub's API, its rate limits and retries, and how several writers converge on one
// report. It must not know what the texts mean.
package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	gh "github.com/google/go-github/v89/github"

	"github.com/goatnote-inc/pawl/internal/forge"
)

// Errors that callers can distinguish. Each is wrapped with the attempted operation.
var (
	ErrForbidden = errors.New("GitHub denies access")       // 401 and 403, unless it is a rate limit
	ErrGone      = forge.ErrNotFound                        // 404 and 410
	ErrInvalid   = errors.New("the request is rejected")    // 422
	ErrMoved     = errors.New("the branch has moved")       // another client wrote to it
	ErrBusy      = errors.New("gave up waiting for GitHub") // limits and failures that outlast Config.Patience
)

// Config selects the repository and provides the client's dependencies.
type Config struct {
	BaseURL string // GITHUB_API_URL, such as https://HOST/api/v3; empty for github.com
	Repo    forge.Repo
	Token   func(ctx context.Context) (string, error) // called for every request, because tokens expire

	forge.Waiting
}

// Client talks to one repository. It is safe for concurrent use.
type Client struct {
	Config
	api *gh.Client
	web *http.Client // for URLs outside the API: it sends no token

	mu     sync.Mutex
	wrote  time.Time // when the last write was sent
	author *account
}

// New checks the configuration. It sends no requests.
func New(c Config) (*Client, error) {
	if !validName(c.Repo.Owner) || !validName(c.Repo.Name) {
		return nil, fmt.Errorf("%q is not a repository: expected OWNER/NAME", c.Repo)
	}
	if c.Token == nil {
		return nil, errors.New("no token for GitHub: set GITHUB_TOKEN")
	}
	if c.BaseURL == "" {
		c.BaseURL = "https://api.github.com"
	}
	base, err := url.Parse(c.BaseURL)
	if err != nil || base.Host == "" || (base.Scheme != "https" && base.Scheme != "http") {
		return nil, fmt.Errorf("%q is not the URL of a GitHub API: for GitHub Enterprise it is https://HOST/api/v3", c.BaseURL)
	}
	c.BaseURL = strings.TrimRight(c.BaseURL, "/")
	c.SetDefaults()
	transport := c.HTTP.Transport
	if transport == nil {
		transport = http.DefaultTransport
	}
	client := &Client{Config: c, web: &http.Client{Transport: transport}}
	client.api, err = gh.NewClient(
		gh.WithURLs(new(c.BaseURL+"/"), new(c.BaseURL+"/")),
		gh.WithHTTPClient(&http.Client{Transport: &retryTransport{client: client, base: transport, host: base.Host}}),
		gh.WithUserAgent("pawl"),
		gh.WithDisableRateLimitCheck(), // it would fail where patient waits
	)
	if err != nil {
		return nil, fmt.Errorf("cannot create a client for %s: %w", c.BaseURL, err)
	}
	return client, nil
}

// validName reports whether an owner or repository name is safe in a URL.
func validName(s string) bool {
	if s == "" || len(s) > 100 || s == "." || s == ".." {
		return false
	}
	return strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") == ""
}

// wrapError adds the attempted operation to an error, and maps GitHub's response to one of
// the errors above with a hint.
func (c *Client) wrapError(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	what := fmt.Sprintf(format, args...) + " of " + c.Repo.String()
	answer, ok := errors.AsType[*gh.ErrorResponse](err)
	if !ok || answer.Response == nil || errors.Is(err, ErrMoved) {
		return fmt.Errorf("%s: %w", what, err)
	}
	words := []string{answer.Message}
	for _, e := range answer.Errors {
		words = append(words, strings.TrimSpace(e.Field+" "+e.Code+" "+e.Message))
	}
	said := forge.OneLine(strings.Join(words, "; "))
	kind, hint := ErrInvalid, ""
	switch answer.Response.StatusCode {
	case http.StatusUnauthorized:
		kind, hint = ErrForbidden, ": the token is wrong or has expired"
	case http.StatusForbidden:
		kind, hint = ErrForbidden, ": the token does not have this permission. Give the job the permission. "+
			"The token of a pull request from a fork can never write: publish through workflow_run, see docs/how-to/github.md"
	case http.StatusNotFound, http.StatusGone:
		kind, hint = ErrGone, ": it does not exist, or the token cannot see it"
	case http.StatusConflict:
		kind = ErrMoved
	}
	return fmt.Errorf("%s: %w: %d %s%s", what, kind, answer.Response.StatusCode, said, hint)
}

// status returns the HTTP status of GitHub's response; 0 if there was none.
func status(err error) int {
	if answer, ok := errors.AsType[*gh.ErrorResponse](err); ok && answer.Response != nil {
		return answer.Response.StatusCode
	}
	return 0
}

const perPage = 100 // GitHub's max

// pages reads a list to its end. A list longer than limit pages is an error, so that a
// partial list is never used as a whole one.
func pages[T any](limit int, get func(o gh.ListOptions) ([]T, *gh.Response, error)) ([]T, error) {
	var all []T
	o := gh.ListOptions{PerPage: perPage}
	for range limit {
		some, resp, err := get(o)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
		if resp.NextPage == 0 {
			return all, nil
		}
		o.Page = resp.NextPage
	}
	return nil, fmt.Errorf("the list has more than %d entries", limit*perPage)
}
