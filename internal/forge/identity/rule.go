package identity

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
)

// Kind is what an upload may be used for.
type Kind string

// The kinds.
const (
	Report     Kind = "report"      // stored, and compared with the baseline
	Baseline   Kind = "baseline"    // a report that may also move the baseline
	ForkReport Kind = "fork-report" // from an untrusted job: labeled as such, compared, never a baseline
)

// Rule selects the jobs that may upload. Every field that is set must match. A project has
// one rule for each workflow that uploads.
type Rule struct {
	RepositoryID, OwnerID int64    // IDs are never reassigned
	DefaultBranch         string   // "main"
	Events                []string // of push, pull_request, merge_group, schedule, workflow_dispatch, workflow_run
	Refs                  []string // for push and workflow_dispatch: exact, or all below "refs/heads/release/*"; empty for the default branch
	Protected             bool     // require a protected ref
	Workflow              string   // path of the started workflow file, ".github/workflows/pawl-gate.yml"
	JobWorkflow           string   // the reusable workflow that contains the job, "OWNER/REPO/PATH@REF"; empty for any
	JobWorkflowSHA        string   // commit of JobWorkflow; unlike a name it cannot change hands
	Environment           string   // empty for any
}

// events maps the events whose jobs may upload to a check of their refs.
// pull_request_target is excluded: it runs untrusted code with the repository's
// permissions.
var events = map[string]func(Rule, string) bool{
	"push":              Rule.named,
	"workflow_dispatch": Rule.named,
	"schedule":          Rule.isDefault,
	"workflow_run":      Rule.isDefault,
	"pull_request":      func(_ Rule, ref string) bool { return mergeRef.MatchString(ref) },
	"merge_group": func(r Rule, ref string) bool {
		return strings.HasPrefix(ref, "refs/heads/gh-readonly-queue/"+r.DefaultBranch+"/")
	},
}

var (
	mergeRef     = lazyregexp.New(`^refs/pull/[1-9][0-9]{0,9}/merge$`)
	workflowPath = lazyregexp.New(`^\.github/workflows/[A-Za-z0-9._-]+\.ya?ml$`)
)

func (r Rule) isDefault(ref string) bool { return ref == "refs/heads/"+r.DefaultBranch }

func (r Rule) named(ref string) bool {
	if len(r.Refs) == 0 {
		return r.isDefault(ref)
	}
	return slices.ContainsFunc(r.Refs, func(want string) bool {
		below, wild := strings.CutSuffix(want, "*")
		return ref == want || wild && strings.HasSuffix(below, "/") && strings.HasPrefix(ref, below) && len(ref) > len(below)
	})
}

// Check rejects an incomplete rule, which would let anyone upload.
func (r Rule) Check() error {
	switch {
	case r.RepositoryID <= 0 || r.OwnerID <= 0:
		return fmt.Errorf("a rule must have the IDs of the repository and of its owner")
	case r.DefaultBranch == "" || strings.HasPrefix(r.DefaultBranch, "refs/"):
		return fmt.Errorf("the default branch %q must be a branch name such as main", r.DefaultBranch)
	case !workflowPath.MatchString(r.Workflow):
		return fmt.Errorf("the workflow %q must be a path such as .github/workflows/pawl-gate.yml", r.Workflow)
	case len(r.Events) == 0:
		return fmt.Errorf("a rule must have at least one event")
	}
	for _, e := range r.Events {
		if events[e] == nil {
			return fmt.Errorf("jobs of event %q may not upload", e)
		}
	}
	for _, ref := range r.Refs {
		if !strings.HasPrefix(ref, "refs/heads/") && !strings.HasPrefix(ref, "refs/tags/") || strings.Contains(strings.TrimSuffix(ref, "/*"), "*") {
			return fmt.Errorf("the ref %q must be refs/heads/NAME or refs/tags/NAME, or refs/heads/NAME/* for all refs below NAME", ref)
		}
	}
	return nil
}

// decide returns what the first matching rule grants. If none matches, the error is that of
// the rule that matched longest.
func decide(rules []Rule, c Claims) (Kind, error) {
	var why error = &RefusedError{Reason: NoRule, Detail: "this project has no rule that allows uploads"}
	farthest := -1
	for n, r := range rules {
		if err := r.Check(); err != nil {
			return "", fmt.Errorf("rule %d of the project: %w", n+1, err)
		}
		agreed, err := r.allows(c)
		if err == nil {
			return r.kind(c), nil
		}
		if agreed > farthest {
			farthest, why = agreed, err
		}
	}
	return "", why
}

// allows makes its checks in order and returns how many passed before the first failure.
func (r Rule) allows(c Claims) (agreed int, err error) {
	// The name in workflow_ref is that of the token's own repository, whose ID is checked
	// first. It is compared as a whole, because a branch can have any name.
	workflow := c.Repository + "/" + r.Workflow + "@" + c.Ref
	from := events[c.Event]
	for n, check := range []struct {
		ok     bool
		reason Reason
		detail string
	}{
		{c.RepositoryID == r.RepositoryID, WrongRepo, fmt.Sprintf("repository %d does not belong to this project", c.RepositoryID)},
		{c.OwnerID == r.OwnerID, WrongOwner, fmt.Sprintf("owner %d does not belong to this project: if the repository has moved, update the rule", c.OwnerID)},
		{slices.Contains(r.Events, c.Event), WrongEvent, fmt.Sprintf("jobs of event %s may not upload, only jobs of %s", quoteClaim(c.Event), strings.Join(r.Events, ", "))},
		{from != nil && from(r, c.Ref), WrongRef, fmt.Sprintf("%s is not a ref from which event %s may upload", quoteClaim(c.Ref), quoteClaim(c.Event))},
		{!r.Protected || c.RefProtected, Unprotected, fmt.Sprintf("%s is not protected", quoteClaim(c.Ref))},
		{c.WorkflowRef == workflow, WrongWorkflow, fmt.Sprintf("the workflow is %s, expected %s of the same repository and ref", quoteClaim(c.WorkflowRef), r.Workflow)},
		{r.JobWorkflow == "" || c.JobWorkflowRef == r.JobWorkflow, WrongJobWorkflow, fmt.Sprintf("the job is in %s, expected %s", quoteClaim(c.JobWorkflowRef), r.JobWorkflow)},
		{r.JobWorkflowSHA == "" || c.JobWorkflowSHA == r.JobWorkflowSHA, WrongJobWorkflow, fmt.Sprintf("the job's workflow is at commit %s, expected %s", quoteClaim(c.JobWorkflowSHA), r.JobWorkflowSHA)},
		{r.Environment == "" || c.Environment == r.Environment, WrongEnv, fmt.Sprintf("the environment is %s, expected %s", quoteClaim(c.Environment), r.Environment)},
	} {
		if !check.ok {
			return n, &RefusedError{Reason: check.reason, Detail: check.detail}
		}
	}
	return 0, nil
}

// kind returns the kind of an upload by the job's trigger, whatever the rule says. A
// workflow_run passes on what untrusted code made, and only a push to the default branch is
// reviewed code.
func (r Rule) kind(c Claims) Kind {
	switch {
	case c.Event == "workflow_run":
		return ForkReport
	case c.Event == "push" && r.isDefault(c.Ref):
		return Baseline
	default:
		return Report
	}
}
