package identity

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// GitHub is the token issuer of github.com. GitHub Enterprise Server uses
// https://HOST/_services/token, and ghe.com https://token.actions.SUBDOMAIN.ghe.com.
const GitHub = "https://token.actions.githubusercontent.com"

const (
	skew        = time.Minute // max difference between two correct clocks
	maxLifetime = time.Hour   // how long a used token must be remembered; GitHub's are valid for minutes
)

// Config holds a server's settings for tokens.
type Config struct {
	Server  string       // its own address, https://HOST
	Issuers []string     // accepted issuers, each exactly as it names itself
	HTTP    *http.Client // for requests to the issuers; nil for the default
	Now     func() time.Time
	Seen    TokenStore // remembers which tokens were used
}

// Verifier decides whether a token allows an upload.
type Verifier struct {
	server  string
	issuers map[string]*issuer
	now     func() time.Time
	seen    TokenStore
}

// NewVerifier checks a configuration. It sends no requests: keys are fetched for the first
// token.
func NewVerifier(c Config) (*Verifier, error) {
	if _, err := Audience(c.Server, "probe", Digest{}); err != nil {
		return nil, err
	}
	if c.Now == nil || c.Seen == nil || len(c.Issuers) == 0 {
		return nil, errors.New("a verifier needs a clock, a store of used tokens and at least one issuer")
	}
	v := &Verifier{server: c.Server, now: c.Now, seen: c.Seen, issuers: map[string]*issuer{}}
	for _, name := range c.Issuers {
		i, err := newIssuer(name, c.HTTP, c.Now)
		if err != nil {
			return nil, err
		}
		v.issuers[name] = i
	}
	return v, nil
}

// Upload is a report to be uploaded.
type Upload struct {
	Project string
	Digest  Digest // of the received bytes, never as stated by the client
	Receipt string // a new one, returned if this is the first use of the token
}

// Grant is what a token allows.
type Grant struct {
	Kind    Kind
	Receipt string // always the same for the same token and report
	Fresh   bool   // first use of the token
	Claims  Claims // the provenance of the report
}

// Admit decides about a token. The error is a [*RefusedError] if the token is refused, and
// wraps [ErrUnavailable] if that cannot be decided now. A grant that is not fresh means
// that the report is already stored, or that storing it was interrupted. Store it under the
// receipt, which is the same.
func (v *Verifier) Admit(ctx context.Context, token Token, up Upload, rules []Rule) (Grant, error) {
	c, err := v.claims(ctx, token)
	if err != nil {
		return Grant{}, err
	}
	audience, err := Audience(v.server, up.Project, up.Digest)
	if err != nil {
		return Grant{}, err
	}
	if c.Audience != audience {
		return Grant{}, refuse(WrongAudience, "its audience is %s, expected %s", quoteClaim(c.Audience), audience)
	}
	kind, err := decide(rules, c)
	if err != nil {
		return Grant{}, err
	}
	receipt, fresh, err := v.seen.Use(ctx, Use{
		Issuer: c.Issuer, ID: c.ID, Digest: up.Digest, Receipt: up.Receipt, Until: c.Expires.Add(skew),
	})
	if errors.Is(err, ErrReplayed) {
		return Grant{}, refuse(Replayed, "it was already used for another report: request a new one")
	}
	if err != nil {
		return Grant{}, fmt.Errorf("cannot record the use of the token: %w", err)
	}
	return Grant{Kind: kind, Receipt: receipt, Fresh: fresh, Claims: c}, nil
}

// Precheck makes the checks that do not need the uploaded bytes: the token is from an accepted
// issuer, and a rule matches it. It admits nothing and records nothing. It keeps a server
// from reading uploads of unknown clients.
func (v *Verifier) Precheck(ctx context.Context, token Token, rules []Rule) error {
	c, err := v.claims(ctx, token)
	if err != nil {
		return err
	}
	_, err = decide(rules, c)
	return err
}

// claims returns the verified claims of a token that is currently valid.
func (v *Verifier) claims(ctx context.Context, token Token) (Claims, error) {
	p, err := parse(token.Reveal())
	if err != nil {
		return Claims{}, err
	}
	c, err := p.claims()
	if err != nil {
		return Claims{}, err
	}
	from, ok := v.issuers[c.Issuer]
	if !ok {
		return Claims{}, refuse(WrongIssuer, "its issuer %s is not accepted", quoteClaim(c.Issuer))
	}
	if err := from.verify(ctx, p.raw); err != nil {
		return Claims{}, err
	}
	return c, c.timely(v.now())
}

func (c Claims) timely(now time.Time) error {
	switch {
	case !now.Before(c.Expires.Add(skew)):
		return refuse(Expired, "it expired at %s, the time is %s: request a new one for every attempt", clock(c.Expires), clock(now))
	case c.NotBefore.After(now.Add(skew)):
		return refuse(NotYet, "it is valid from %s, the time is %s", clock(c.NotBefore), clock(now))
	case c.Issued.After(now.Add(skew)):
		return refuse(IssuedInFuture, "it was issued at %s, the time is %s", clock(c.Issued), clock(now))
	case c.Expires.Sub(c.Issued) > maxLifetime:
		return refuse(TooLong, "it is valid for %s, the max is %s", c.Expires.Sub(c.Issued), maxLifetime)
	}
	return nil
}

func clock(t time.Time) string { return t.UTC().Format(time.RFC3339) }
