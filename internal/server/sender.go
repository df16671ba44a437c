package server

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/identity"
	"github.com/goatnote-inc/pawl/internal/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/store"
)

// sender is who adds to a project: a key of it, or a job that a rule of it knows.
type sender struct {
	project store.Project
	known   bool // there is such a project
	key     *store.Key
	token   identity.Token
	rules   []identity.Rule // of the project, for the token
	grant   identity.Grant  // of the token, once it was held against the bytes
}

// senderOf finds out who sends, before a byte is read: what is read takes memory and a
// place that others need. A job's token is for bytes that have not arrived, so only its
// issuer and its job are looked at here. A project that is not there has no rules, which
// refuses in the words of one that has none for this job.
func (s *Server) senderOf(r *http.Request) (*sender, error) {
	v, err := s.viewer(r)
	if err != nil {
		return nil, err
	}
	if v.Token.IsZero() {
		p, err := s.admit(r, Send)
		if err != nil {
			return nil, err
		}
		return &sender{project: p, known: true, key: v.Key}, nil
	}
	if s.verifier == nil {
		return nil, problem(http.StatusUnauthorized, "token", "this server takes no tokens of CI jobs: use a key")
	}
	from := &sender{token: v.Token}
	p, err := s.store.Project(r.Context(), r.PathValue("project"))
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	if from.known = err == nil; from.known {
		from.project = p
		kept, err := s.store.Rules(r.Context(), p.ID)
		if err != nil {
			return nil, err
		}
		for _, k := range kept {
			from.rules = append(from.rules, k.Rule)
		}
	}
	if err := s.verifier.Vouch(r.Context(), v.Token, from.rules); err != nil {
		return nil, s.tokenRefused(r, err)
	}
	if wait, ok := s.buckets.take(fmt.Sprint("jobs ", p.ID), s.limits.PerKey); !ok {
		return nil, problem(http.StatusTooManyRequests, "rate", "too many uploads of jobs").after(wait)
	}
	return from, s.spend(v, p)
}

// grant holds a job's token against the bytes. Keys need nothing more.
func (s *Server) grant(r *http.Request, from *sender, digest identity.Digest) error {
	if from.token.IsZero() {
		return nil
	}
	slug := r.PathValue("project")
	grant, err := s.verifier.Admit(r.Context(), from.token, identity.Upload{Project: slug, Digest: digest, Receipt: digest.String()}, from.rules)
	if err != nil {
		return s.tokenRefused(r, err)
	}
	if !from.known { // cannot be: without rules there is no grant
		return discreet(&identity.RefusedError{Reason: identity.NoRule})
	}
	from.grant = grant
	return nil
}

// tokenRefused counts a token that is no good against its address.
func (s *Server) tokenRefused(r *http.Request, err error) error {
	refused, ok := errors.AsType[*identity.RefusedError](err)
	if !ok {
		return err
	}
	s.buckets.spend("ip "+visitOf(r).from.String(), s.limits.PerAddress, failedLogin)
	return discreet(refused)
}

// discreet tells a repository that no rule names the same as one that asks for a project
// that is not there.
func discreet(e *identity.RefusedError) error {
	switch e.Reason {
	case identity.NoRule, identity.WrongRepo, identity.WrongOwner:
		return &identity.RefusedError{
			Reason: identity.NoRule,
			Detail: "no rule lets this repository upload to such a project: an admin of the project adds one, with the numbers of the repository and of its owner",
		}
	default:
		return e
	}
}

var pullRef = lazyregexp.New(`^refs/pull/([1-9][0-9]{0,8})/merge$`)

// lane is where a report may go, by the rights of its sender and not by its own word.
// Where the forge says of which branch and pull request a job is, the report's own claim
// is overwritten.
func (f *sender) lane(r *client.Report) (client.Lane, error) {
	if f.key != nil {
		own := slices.Contains(f.key.Scopes, store.ScopeReportMain) || slices.Contains(f.key.Scopes, store.ScopeAdmin)
		if own && r.Branch == f.project.Branch && r.Pull == 0 && !r.Dirty {
			return client.Main, nil
		}
		return client.Branch, nil
	}
	c := f.grant.Claims
	switch f.grant.Kind {
	case identity.ForkReport: // what it says of itself is shown as said
		return client.Fork, nil
	case identity.Baseline:
		if r.Commit.SHA != c.SHA {
			return "", problem(http.StatusForbidden, "commit", "the job is of commit %s, the report of another: only its own commit may become a baseline", c.SHA)
		}
		r.Branch, r.Pull = strings.TrimPrefix(c.Ref, "refs/heads/"), 0
		if r.Dirty { // not what the commit holds
			return client.Branch, nil
		}
		return client.Main, nil
	default:
		r.Pull = 0
		if m := pullRef.FindStringSubmatch(c.Ref); m != nil {
			r.Pull, _ = strconv.Atoi(m[1])
			r.Branch = c.HeadRef
		} else if branch, ok := strings.CutPrefix(c.Ref, "refs/heads/"); ok {
			r.Branch = branch
		}
		return client.Branch, nil
	}
}

// blobLane is the lane that a file is counted in: that of forks, or any other.
func (f *sender) blobLane() client.Lane {
	if f.key == nil && f.grant.Kind == identity.ForkReport {
		return client.Fork
	}
	return client.Branch
}

// provenance is what was proved of a sender.
func (f *sender) provenance() map[string]string {
	if f.key != nil {
		return map[string]string{"key": strconv.FormatInt(f.key.ID, 10), "key_name": f.key.Name}
	}
	c := f.grant.Claims
	m := map[string]string{
		"issuer": c.Issuer, "repository": c.Repository, "repository_id": strconv.FormatInt(c.RepositoryID, 10),
		"event": c.Event, "ref": c.Ref, "sha": c.SHA, "actor": c.Actor, "workflow_ref": c.WorkflowRef, "job_workflow_ref": c.JobWorkflowRef,
		"run_id": c.RunID, "run_attempt": c.RunAttempt, "check_run_id": c.CheckID, "runner_environment": c.RunnerEnvironment, "environment": c.Environment,
	}
	for name, value := range m {
		if value == "" {
			delete(m, name)
		}
	}
	return m
}
