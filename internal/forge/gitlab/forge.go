package gitlab

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/goatnote-inc/pawl/internal/forge"
)

// Forge is GitLab, on gitlab.com or self-managed, with its own CI.
type Forge struct{}

// Open returns a client that authenticates with GITLAB_TOKEN: a project access token with the scope api. The token of a job
// (CI_JOB_TOKEN) cannot write notes.
func (Forge) Open(a forge.Access) (forge.Client, error) {
	token := a.Getenv("GITLAB_TOKEN")
	if token == "" {
		return nil, fmt.Errorf("%w: set GITLAB_TOKEN to a project access token with the role Developer and the scope api; CI_JOB_TOKEN cannot write notes", forge.ErrNoToken)
	}
	return New(Config{BaseURL: a.Getenv("CI_API_V4_URL"), Repo: a.Repo, Token: token, Waiting: forge.Waiting{Now: a.Now, Sleep: a.Sleep, Log: a.Log}})
}

// Job reads the environment of a job of GitLab CI.
func (Forge) Job(getenv func(string) string) (*forge.Job, error) {
	if getenv("GITLAB_CI") == "" {
		return nil, nil
	}
	source := getenv("CI_PIPELINE_SOURCE")
	j := &forge.Job{
		Repo:   cmp.Or(getenv("CI_MERGE_REQUEST_PROJECT_PATH"), getenv("CI_PROJECT_PATH")),
		Actor:  cmp.Or(getenv("GITLAB_USER_LOGIN"), "gitlab"),
		Branch: cmp.Or(getenv("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME"), getenv("CI_COMMIT_REF_NAME")),
		Commit: getenv("CI_COMMIT_SHA"),
		RunURL: getenv("CI_PIPELINE_URL"),
		Event:  forge.Event{Name: source},
	}
	switch tag := getenv("CI_COMMIT_TAG"); {
	case tag != "":
		j.Ref = "refs/tags/" + tag
	case getenv("CI_COMMIT_BRANCH") != "":
		j.Ref = "refs/heads/" + getenv("CI_COMMIT_BRANCH")
	default:
		j.Ref = getenv("CI_MERGE_REQUEST_REF_PATH")
	}
	e := &j.Event
	switch source {
	case "push", "schedule", "web":
		e.Kind = forge.OnMain
	case "merge_request_event":
		number, err := strconv.Atoi(getenv("CI_MERGE_REQUEST_IID"))
		if err != nil || number <= 0 {
			return nil, fmt.Errorf("CI_MERGE_REQUEST_IID is %.40q, want the number of the merge request", getenv("CI_MERGE_REQUEST_IID"))
		}
		j.Pull, e.Kind = number, forge.OnPull
		if getenv("CI_MERGE_REQUEST_EVENT_TYPE") == "merge_train" {
			e.Kind = forge.OnQueue
		}
		// The head is named only where the pipeline runs on its merge with the base.
		e.Head, e.Base = cmp.Or(getenv("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA"), j.Commit), getenv("CI_MERGE_REQUEST_DIFF_BASE_SHA")
		e.Fork = getenv("CI_MERGE_REQUEST_SOURCE_PROJECT_ID") != getenv("CI_MERGE_REQUEST_PROJECT_ID")
	}
	return j, nil
}
