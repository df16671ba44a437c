package server

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/goatnote-inc/pawl/internal/base/loopback"
	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/forge/identity"
)

// Login configures how people log in: with an OpenID provider that the operator chose.
type Login struct {
	Issuer   string // as it spells its own URL, https://HOST[/PATH]
	ClientID string
	Secret   identity.Token
	HTTP     *http.Client // reaches the issuer; nil means the default client
	// Hosts lists the hosts, besides the issuer's own, to which the issuer's document may refer for keys and
	// tokens. Google's are oauth2.googleapis.com and www.googleapis.com. No other host is contacted.
	Hosts []string
	// Admins lists the admins of the whole server: subjects, or e-mail addresses that the issuer verified.
	Admins []string
	// Lifetime is how long a login lasts, Idle how long it lasts without a request; 0 means the default.
	Lifetime, Idle time.Duration
}

// relyingParty implements the client side of OpenID Connect: the code flow with PKCE, a nonce and a state.
type relyingParty struct {
	Login
	callback string
	client   *http.Client
	now      func() time.Time

	mu       sync.Mutex
	provider *oidc.Provider // nil until the issuer has answered once
	down     *Problem       // why the last request to the issuer failed
	asked    time.Time      // time of that request
}

func newRelyingParty(l Login, where *url.URL, now func() time.Time) (*relyingParty, error) {
	u, err := url.Parse(l.Issuer)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Scheme != "https" && (u.Scheme != "http" || !loopback.Is(u.Hostname())) {
		return nil, fmt.Errorf("the login issuer %q must have the form https://HOST[/PATH]", l.Issuer)
	}
	if l.ClientID == "" {
		return nil, errors.New("login needs the client ID of this server at the issuer")
	}
	return &relyingParty{
		Login: l, callback: where.JoinPath("/login/callback").String(), now: now,
		client: pinnedClient(l.HTTP, u.Scheme, append([]string{u.Host}, l.Hosts...)),
	}, nil
}

// issuerPause is how long an issuer that failed to answer is not asked again. Concurrent logins then share
// one failure instead of retrying one after the other.
const issuerPause = 5 * time.Second

// ready fetches the issuer's document, until it has succeeded once.
func (p *relyingParty) ready(ctx context.Context) (*oidc.Provider, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.provider != nil {
		return p.provider, nil
	}
	if since := p.now().Sub(p.asked); p.down != nil && since >= 0 && since < issuerPause {
		return nil, p.down
	}
	// The provider keeps the context for its keys: it must outlive this request.
	provider, err := oidc.NewProvider(oidc.ClientContext(context.WithoutCancel(ctx), p.client), p.Issuer)
	if err != nil {
		down := problem(http.StatusServiceUnavailable, "issuer-unavailable", "%s does not answer: login is not possible now", p.Issuer).after(issuerPause)
		down.cause = err
		p.down, p.asked = down, p.now()
		return nil, down
	}
	p.provider = provider
	return provider, nil
}

func (p *relyingParty) oauth(provider *oidc.Provider) *oauth2.Config {
	return &oauth2.Config{
		ClientID: p.ClientID, ClientSecret: p.Secret.Reveal(), Endpoint: provider.Endpoint(),
		RedirectURL: p.callback, Scopes: []string{"openid", "profile", "email"},
	}
}

// begin returns the address to redirect the browser to, and the attempt to check when it returns.
func (p *relyingParty) begin(ctx context.Context, next string) (where string, a attempt, err error) {
	provider, err := p.ready(ctx)
	if err != nil {
		return "", attempt{}, err
	}
	a = newAttempt(next, p.now())
	return p.oauth(provider).AuthCodeURL(a.State, oidc.Nonce(a.Nonce), oauth2.S256ChallengeOption(a.Verifier)), a, nil
}

// person holds the issuer's claims about a user.
type person struct {
	Subject string `json:"sub"`
	Name    string `json:"name"`
	Handle  string `json:"preferred_username"`
	Email   string `json:"email"`
	// Verified is a boolean, or a string with some issuers.
	Verified any `json:"email_verified"`
}

func (p person) shown() string {
	for _, name := range []string{p.Name, p.Handle, p.Email, p.Subject} {
		if name = words.Sanitize(name); name != "" {
			return name
		}
	}
	return "unnamed"
}

// address returns the address that the issuer has verified; empty means none.
func (p person) address() string {
	if p.Verified != true && p.Verified != "true" || len(p.Email) > 320 || !isText(p.Email) {
		return ""
	}
	return p.Email
}

// named reports whether a list of subjects and addresses contains a person.
func named(list []string, subject, address string) bool {
	return slices.ContainsFunc(list, func(a string) bool {
		if strings.Contains(a, "@") {
			return address != "" && strings.EqualFold(a, address)
		}
		return a != "" && a == subject
	})
}

// finish validates the parameters of the callback and returns the person.
func (p *relyingParty) finish(ctx context.Context, a attempt, back url.Values) (person, error) {
	if subtle.ConstantTimeCompare([]byte(a.State), []byte(back.Get("state"))) != 1 {
		return person{}, problem(http.StatusBadRequest, "login", "the login was started elsewhere: start again")
	}
	if said := back.Get("iss"); said != "" && said != p.Issuer { // RFC 9207
		return person{}, problem(http.StatusBadRequest, "login", "another issuer answered: start again")
	}
	if word := back.Get("error"); word != "" {
		return person{}, problem(http.StatusForbidden, "login", "%s refused the login: %s", p.Issuer, words.Sanitize(word))
	}
	provider, err := p.ready(ctx)
	if err != nil {
		return person{}, err
	}
	ctx = oidc.ClientContext(ctx, p.client)
	tokens, err := p.oauth(provider).Exchange(ctx, back.Get("code"), oauth2.VerifierOption(a.Verifier))
	if err != nil {
		return person{}, failedToLogIn(p.Issuer, "did not accept the code", err)
	}
	raw, _ := tokens.Extra("id_token").(string)
	token, err := provider.VerifierContext(ctx, &oidc.Config{
		ClientID: p.ClientID, Now: p.now,
		SupportedSigningAlgs: []string{oidc.RS256, oidc.ES256, oidc.PS256, oidc.EdDSA},
	}).Verify(ctx, raw)
	if err != nil {
		return person{}, failedToLogIn(p.Issuer, "sent an invalid token", err)
	}
	if subtle.ConstantTimeCompare([]byte(token.Nonce), []byte(a.Nonce)) != 1 {
		return person{}, failedToLogIn(p.Issuer, "sent a token of another login", errors.New("nonce"))
	}
	var who person
	if err := token.Claims(&who); err != nil || who.Subject == "" || len(who.Subject) > 255 || !isText(who.Subject) {
		return person{}, failedToLogIn(p.Issuer, "sent no valid subject", err)
	}
	return who, nil
}

// failedToLogIn shows the user little and puts the details into the log. The library's error may contain
// the provider's response, but no secret of the server.
func failedToLogIn(issuer, what string, cause error) *Problem {
	p := problem(http.StatusBadGateway, "login", "%s %s: start again", issuer, what)
	p.cause = cause
	return p
}
