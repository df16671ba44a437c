package identity

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// GitHub is the issuer of tokens on github.com. GitHub Enterprise Server has
// https://HOST/_services/token, and ghe.com https://token.actions.SUBDOMAIN.ghe.com.
const GitHub = "https://token.actions.githubusercontent.com"

const (
	skew        = time.Minute // by how much two honest clocks may differ
	maxLifetime = time.Hour   // a used token is remembered that long: GitHub's live minutes
)

// Config is what a server decides about tokens.
type Config struct {
	Server  string       // its own address, https://HOST
	Issuers []string     // whose tokens are taken, each exactly as it spells itself
	HTTP    *http.Client // reaches the issuers; nil for the standard one
	Now     func() time.Time
	Seen    Seen // remembers which tokens were used
}

// Verifier decides whether a token lets somebody upload a report.
type Verifier struct {
	server  string
	issuers map[string]*issuer
	now     func() time.Time
	seen    Seen
}

// NewVerifier checks a configuration. It asks nobody: keys are read when the first
// token comes.
func NewVerifier(c Config) (*Verifier, error) {
	if _, err := Audience(c.Server, "probe", Digest{}); err != nil {
		return nil, err
	}
	if c.Now == nil || c.Seen == nil || len(c.Issuers) == 0 {
		return nil, errors.New("a verifier needs a clock, a memory of used tokens and at least one issuer")
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

// Upload is what somebody wants to send.
type Upload struct {
	Project string
	Digest  Digest // of the bytes that arrived: never what the sender says it is
	Receipt string // a new one, handed out when the token is used for the first time
}

// Grant is what a token lets its bearer do.
type Grant struct {
	Kind    Kind
	Receipt string // the same for the same token and report, however often they come
	Fresh   bool   // it came for the first time
	Claims  Claims // the provenance of the report
}

// Admit decides about a token. The error is a [*RefusedError] where the token is no
// good, and wraps [ErrUnavailable] where that cannot be known now. A grant that is not
// fresh means that the report is stored already, or that storing it was cut short: store
// it under the receipt, which is the same.
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
		return Grant{}, refuse(WrongAudience, "it is for %s, this is %s", shown(c.Audience), audience)
	}
	kind, err := decide(rules, c)
	if err != nil {
		return Grant{}, err
	}
	receipt, fresh, err := v.seen.Use(ctx, Use{
		Issuer: c.Issuer, ID: c.ID, Digest: up.Digest, Receipt: up.Receipt, Until: c.Expires.Add(skew),
	})
	if errors.Is(err, ErrReplayed) {
		return Grant{}, refuse(Replayed, "it was used before, for another report: ask for a fresh one")
	}
	if err != nil {
		return Grant{}, fmt.Errorf("remember that the token was used: %w", err)
	}
	return Grant{Kind: kind, Receipt: receipt, Fresh: fresh, Claims: c}, nil
}

// Vouch decides what can be decided before the bytes have arrived: that the token is an
// issuer's, and that a rule knows its bearer. It admits nothing and remembers nothing: it
// spares a server from reading what strangers send.
func (v *Verifier) Vouch(ctx context.Context, token Token, rules []Rule) error {
	c, err := v.claims(ctx, token)
	if err != nil {
		return err
	}
	_, err = decide(rules, c)
	return err
}

// claims are the issuer's words, of a token that holds now.
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
		return Claims{}, refuse(WrongIssuer, "it was issued by %s", shown(c.Issuer))
	}
	if err := from.verify(ctx, p.raw); err != nil {
		return Claims{}, err
	}
	return c, c.timely(v.now())
}

func (c Claims) timely(now time.Time) error {
	switch {
	case !now.Before(c.Expires.Add(skew)):
		return refuse(Expired, "it expired at %s, now is %s: ask for a fresh one for every attempt", clock(c.Expires), clock(now))
	case c.NotBefore.After(now.Add(skew)):
		return refuse(NotYet, "it is valid from %s, now is %s", clock(c.NotBefore), clock(now))
	case c.Issued.After(now.Add(skew)):
		return refuse(FromTheFuture, "it was issued at %s, now is %s", clock(c.Issued), clock(now))
	case c.Expires.Sub(c.Issued) > maxLifetime:
		return refuse(TooLong, "it is valid for %s, at most %s is taken", c.Expires.Sub(c.Issued), maxLifetime)
	}
	return nil
}

func clock(t time.Time) string { return t.UTC().Format(time.RFC3339) }
