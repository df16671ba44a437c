package identity

import (
	"bytes"
	"context"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// App is a GitHub App for a self-hosted publisher. Its key stays on that machine; the
// tokens it issues are valid for an hour.
type App struct {
	ID           string // the App's ID or client ID
	Installation int64
	Key          *rsa.PrivateKey
	BaseURL      string            // GITHUB_API_URL; empty for github.com
	Repositories []int64           // repository IDs that tokens are limited to; empty for all of the installation
	Permissions  map[string]string // permissions that tokens are limited to; empty for all of the App
	HTTP         *http.Client
	Now          func() time.Time
	Sleep        func(context.Context, time.Duration) error // nil waits on a timer

	mu      sync.Mutex
	token   Token
	expires time.Time
}

const (
	appSkew    = time.Minute     // GitHub's clock may be behind ours
	appLife    = 9 * time.Minute // GitHub accepts at most ten
	renewEarly = 5 * time.Minute // leaves time to use a returned token
)

// Publishing holds the min permissions of an installation token that publishes.
var Publishing = map[string]string{"checks": "write", "pull_requests": "write", "contents": "read", "actions": "read"}

// Token returns the installation's cached token if it is valid for five more minutes,
// otherwise a new one.
func (a *App) Token(ctx context.Context) (Token, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.token.IsZero() && a.Now().Before(a.expires.Add(-renewEarly)) {
		return a.token, nil
	}
	token, expires, err := a.ask(ctx)
	if err != nil {
		return Token{}, fmt.Errorf("cannot get a token for installation %d of App %s: %w", a.Installation, a.ID, err)
	}
	a.token, a.expires = token, expires
	return token, nil
}

// Source is [App.Token] for a client that needs a string.
func (a *App) Source() func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		t, err := a.Token(ctx)
		return t.Reveal(), err
	}
}

func (a *App) ask(ctx context.Context) (Token, time.Time, error) {
	where, err := a.address()
	if err != nil {
		return Token{}, time.Time{}, err
	}
	body, err := json.Marshal(struct {
		Repositories []int64           `json:"repository_ids,omitempty"`
		Permissions  map[string]string `json:"permissions,omitempty"`
	}{a.Repositories, a.Permissions})
	if err != nil {
		return Token{}, time.Time{}, err
	}
	answer, err := try(ctx, a.HTTP, a.Sleep, http.StatusCreated, func(ctx context.Context) (*http.Request, error) {
		jwt, err := a.jwt() // a new one for every attempt
		if err != nil {
			return nil, err
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, where, bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		req.Header.Set("Authorization", "Bearer "+jwt.Reveal())
		req.Header.Set("Accept", "application/vnd.github+json")
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("X-GitHub-Api-Version", "2022-11-28")
		return req, nil
	})
	if err != nil {
		return Token{}, time.Time{}, withHint(err)
	}
	var said struct {
		Token   string    `json:"token"`
		Expires time.Time `json:"expires_at"`
	}
	if json.Unmarshal(answer, &said) != nil || said.Token == "" || said.Expires.IsZero() {
		return Token{}, time.Time{}, errors.New("the response has no token")
	}
	return NewToken(said.Token), said.Expires, nil
}

// withHint adds a hint to GitHub's three kinds of refusal.
func withHint(err error) error {
	status, ok := errors.AsType[*StatusError](err)
	if !ok {
		return err
	}
	switch status.Status {
	case http.StatusUnauthorized:
		return fmt.Errorf("%w: the key does not belong to this App, or the clock of this machine is wrong", err)
	case http.StatusNotFound:
		return fmt.Errorf("%w: the App has no such installation", err)
	case http.StatusUnprocessableEntity:
		return fmt.Errorf("%w: the installation does not have these repositories or permissions", err)
	}
	return err
}

func (a *App) address() (string, error) {
	if a.ID == "" || a.Installation <= 0 || a.Key == nil {
		return "", errors.New("the App's ID, its installation ID and its key are required")
	}
	base := a.BaseURL
	if base == "" {
		base = "https://api.github.com"
	}
	u, err := url.Parse(base)
	if err != nil || !isSecureURL(u) {
		return "", fmt.Errorf("the API URL %q must use https", base)
	}
	return strings.TrimRight(u.String(), "/") + "/app/installations/" + strconv.FormatInt(a.Installation, 10) + "/access_tokens", nil
}

// jwt returns a token that proves the App's identity to GitHub.
func (a *App) jwt() (Token, error) {
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: a.Key}, (&jose.SignerOptions{}).WithType("JWT"))
	if err != nil {
		return Token{}, fmt.Errorf("cannot sign as the App: %w", err)
	}
	now := a.Now()
	claims, err := json.Marshal(struct {
		Issued  int64  `json:"iat"`
		Expires int64  `json:"exp"`
		Issuer  string `json:"iss"`
	}{now.Add(-appSkew).Unix(), now.Add(appLife - appSkew).Unix(), a.ID})
	if err != nil {
		return Token{}, err
	}
	signed, err := signer.Sign(claims)
	if err != nil {
		return Token{}, fmt.Errorf("cannot sign as the App: %w", err)
	}
	text, err := signed.CompactSerialize()
	return NewToken(text), err
}
