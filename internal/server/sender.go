package server

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/forge/identity"
	"github.com/goatnote-inc/pawl/internal/server/store"
)

// sender is a client that adds data to a project: one of its keys, or a CI job that one of its rules allows.
type sender struct {
	project store.Project
	known   bool // the project exists
	key     *store.Key
	token   identity.Token
	rules   []identity.Rule // rules of the project, to check the token
	grant   identity.Grant  // granted to the token, after it was checked against the bytes
}

// senderOf authenticates the sender before any byte is read, because reading takes memory and a slot that
// others need. A job's token is bound to bytes that have not arrived yet, so only its issuer and job are
// checked here. A missing project is treated as one without rules. It gets the same refusal as a project
// that has no rule for this job.
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
		return nil, problem(http.StatusUnauthorized, "token", "this server does not accept CI job tokens: use a key")
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
	if err := s.verifier.Precheck(r.Context(), v.Token, from.rules); err != nil {
		return nil, s.tokenRefused(r, err)
	}
	if wait, ok := s.buckets.take(fmt.Sprint("jobs ", p.ID), s.limits.PerKey); !ok {
		return nil, problem(http.StatusTooManyRequests, "rate", "too many uploads by jobs").after(wait)
	}
	return from, s.spend(v, p)
}

// grant checks a job's token against the bytes. Keys need no further check.
func (s *Server) grant(r *http.Request, from *sender, digest identity.Digest) error {
	if from.token.IsZero() {
		return nil
	}
	slug := r.PathValue("project")
	grant, err := s.verifier.Admit(r.Context(), from.token, identity.Upload{Project: slug, Digest: digest, Receipt: digest.String()}, from.rules)
	if err != nil {
		return s.tokenRefused(r, err)
	}
	if !from.known { // cannot happen: without rules there is no grant
		return hideMissingProject(&identity.RefusedError{Reason: identity.NoRule})
	}
	from.grant = grant
	return nil
}

// tokenRefused charges an invalid token to its address.
func (s *Server) tokenRefused(r *http.Request, err error) error {
	refused, ok := errors.AsType[*identity.RefusedError](err)
	if !ok {
		return err
	}
	s.buckets.spend("ip "+requestInfoOf(r).from.String(), s.limits.PerAddress, failedLogin)
	return hideMissingProject(refused)
}

// hideMissingProject gives a repository without a rule the same answer as one that names a missing project.
func hideMissingProject(e *identity.RefusedError) error {
	switch e.Reason {
	case identity.NoRule, identity.WrongRepo, identity.WrongOwner:
		return &identity.RefusedError{
			Reason: identity.NoRule,
			Detail: "no rule allows this repository to upload to such a project: an admin of the project can add one, with the numbers of the repository and its owner",
		}
	default:
		return e
	}
}

var pullRef = lazyregexp.New(`^refs/pull/([1-9][0-9]{0,8})/merge$`)

// lane returns the lane of a report. It follows from the rights of the sender, not from the report's claim.
// If the forge states the branch and pull request of a job, they replace the report's own.
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
	case identity.ForkReport: // its own claims are shown as claims
		return client.Fork, nil
	case identity.Baseline:
		if r.Commit.SHA != c.SHA {
			return "", problem(http.StatusForbidden, "commit", "the job runs on commit %s, the report is of another: only the job's own commit can become a baseline", c.SHA)
		}
		r.Branch, r.Pull = strings.TrimPrefix(c.Ref, "refs/heads/"), 0
		if r.Dirty { // differs from the commit
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

// blobLane returns the lane whose quota a file counts toward: that of forks, or any other.
func (f *sender) blobLane() client.Lane {
	if f.key == nil && f.grant.Kind == identity.ForkReport {
		return client.Fork
	}
	return client.Branch
}

// provenance returns what was proved about a sender.
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
