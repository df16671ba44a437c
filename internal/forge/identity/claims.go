package identity

import (
	"strconv"
	"time"
)

// Claims holds the forge's statements about a job, from its token. Those used for decisions
// are checked; the others are only kept as the provenance of the upload.
type Claims struct {
	Issuer, ID string // ID is the token's own: jti
	Audience   string
	Issued     time.Time
	NotBefore  time.Time // zero if unset
	Expires    time.Time

	RepositoryID, OwnerID      int64
	Repository                 string // the name, for information only
	Event, Ref, RefType        string
	RefProtected               bool
	HeadRef, BaseRef           string // branches of a pull request
	SHA                        string
	WorkflowRef, WorkflowSHA   string // the workflow that was started
	JobWorkflowRef             string // the file that contains the job; differs for a reusable workflow
	JobWorkflowSHA             string
	Environment                string
	RunID, RunAttempt, CheckID string
	RunnerEnvironment          string // "github-hosted" or "self-hosted"
	Actor, Subject             string // for information only
}

// claims reads the claims of a token. A forge's IDs are strings of digits. A JSON number in
// place of a string is not from a forge and is not converted.
func (p *parsed) claims() (Claims, error) {
	r := claimReader{from: p.payload}
	c := Claims{
		Issuer: r.need("iss"), ID: r.need("jti"),
		Issued: r.time("iat"), Expires: r.time("exp"),
		RepositoryID: r.number("repository_id"), OwnerID: r.number("repository_owner_id"),
		Repository: r.need("repository"), Event: r.need("event_name"), Ref: r.need("ref"), RefType: r.may("ref_type"),
		RefProtected: r.may("ref_protected") == "true",
		HeadRef:      r.may("head_ref"), BaseRef: r.may("base_ref"), SHA: r.need("sha"),
		WorkflowRef: r.need("workflow_ref"), WorkflowSHA: r.may("workflow_sha"),
		JobWorkflowRef: r.may("job_workflow_ref"), JobWorkflowSHA: r.may("job_workflow_sha"),
		Environment: r.may("environment"),
		RunID:       r.may("run_id"), RunAttempt: r.may("run_attempt"), CheckID: r.may("check_run_id"),
		RunnerEnvironment: r.may("runner_environment"), Actor: r.may("actor"), Subject: r.may("sub"),
	}
	if _, there := p.payload["nbf"]; there {
		c.NotBefore = r.time("nbf")
	}
	if r.err != nil {
		return Claims{}, r.err
	}
	if len(c.ID) > 256 {
		return Claims{}, refuse(BadClaims, "jti has %d bytes, the max is 256", len(c.ID))
	}
	// A list of audiences is for shared tokens; this token is for one report.
	var ok bool
	if c.Audience, ok = p.payload.text("aud"); !ok {
		return Claims{}, refuse(WrongAudience, "aud is %s: expected one string", quoteClaim(string(p.payload["aud"])))
	}
	return c, nil
}

// claimReader reads claims until the first invalid one.
type claimReader struct {
	from members
	err  error
}

func (r *claimReader) fail(name, want string) {
	if r.err == nil {
		got := "missing"
		if v, ok := r.from[name]; ok {
			got = quoteClaim(string(v))
		}
		r.err = refuse(BadClaims, "%s is %s: expected %s", name, got, want)
	}
}

func (r *claimReader) need(name string) string {
	s, ok := r.from.text(name)
	if !ok || s == "" {
		r.fail(name, "a non-empty string")
	}
	return s
}

func (r *claimReader) may(name string) string {
	v, there := r.from[name]
	if !there || v.Kind() == 'n' {
		return ""
	}
	s, ok := r.from.text(name)
	if !ok {
		r.fail(name, "a string")
	}
	return s
}

// number reads a positive integer in its canonical decimal form.
func (r *claimReader) number(name string) int64 {
	s, _ := r.from.text(name)
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n <= 0 || strconv.FormatInt(n, 10) != s {
		r.fail(name, "a string of digits")
	}
	return n
}

// time reads whole seconds, within a plausible range.
func (r *claimReader) time(name string) time.Time {
	n, err := strconv.ParseInt(string(r.from[name]), 10, 64)
	if err != nil || n <= 0 || n > 1<<40 {
		r.fail(name, "whole seconds since 1970")
	}
	return time.Unix(n, 0)
}
