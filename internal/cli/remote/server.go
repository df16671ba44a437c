package remote

import (
	"context"
	"encoding/hex"
	"fmt"
	"net/http"
	"time"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/base/version"
	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/internal/forge/identity"
)

// Server is the pawl server that a command talks to.
type Server struct {
	*env.Env
	URL, Project string
	Patience     time.Duration // how long to retry a server that cannot be reached
}

// Clock returns the function that tells the time.
func (s *Server) Clock() func() time.Time {
	if s.Now != nil {
		return s.Now
	}
	return time.Now
}

// Destination returns where reports go.
func (s *Server) Destination() client.Destination {
	return client.Destination{Server: s.URL, Project: s.Project}
}

// Client returns a client for the server, with the credentials from the environment.
func (s *Server) Client() *client.Client {
	c := &client.Client{URL: s.URL, Project: s.Project, Agent: "pawl/" + version.Version(), Now: s.Clock(), Sleep: s.Sleep, Patience: max(s.Patience, time.Nanosecond), Say: func(text string) { s.Say("  " + words.Sanitize(text)) }}
	key := identity.NewToken(s.Getenv("PAWL_TOKEN"))
	switch {
	case !key.IsZero():
		c.Token = func(context.Context, string) (string, error) { return key.Reveal(), nil }
	case s.HasIdentity():
		c.Token = s.jobToken
	}
	return c
}

// HasIdentity reports whether this process is a CI job that can get identity tokens from its forge.
func (s *Server) HasIdentity() bool {
	_, job, err := s.CurrentJob()
	return err == nil && job.Identity
}

// jobToken requests an identity token for this job and one upload.
func (s *Server) jobToken(ctx context.Context, digest string) (string, error) {
	d, err := parseDigest(digest)
	if err != nil {
		return "", err
	}
	audience, err := identity.Audience(s.URL, s.Project, d)
	if err != nil {
		return "", command.Usage(err)
	}
	token, err := identity.Request(ctx, identity.Env{Getenv: s.Getenv, HTTP: http.DefaultClient, Sleep: s.Sleep}, audience)
	return token.Reveal(), err
}

func parseDigest(text string) (identity.Digest, error) {
	var d identity.Digest
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != len(d) {
		return d, fmt.Errorf("%.80q is not a digest", text)
	}
	copy(d[:], b)
	return d, nil
}

// LatestStart says when a gate that waits starts at the latest, to be put after what it waits for; empty if that is not known.
func LatestStart(t *time.Time) string {
	if t == nil {
		return ""
	}
	return ", starts by " + t.Local().Format("Jan 2 15:04") + " at the latest"
}
