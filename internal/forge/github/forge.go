package github

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/forge/identity"
)

// Forge is GitHub and GitHub Enterprise, with Actions as CI.
type Forge struct{}

// Open returns a client that authenticates as the App that the environment names, restricted to a.May, or else with the
// token of the job.
func (Forge) Open(a forge.Access) (forge.Client, error) {
	token, err := tokenSource(a)
	if err != nil {
		return nil, err
	}
	return New(Config{BaseURL: a.Getenv(APIVariable), Repo: a.Repo, Token: token, Waiting: forge.Waiting{Now: a.Now, Sleep: a.Sleep, Log: a.Log}})
}

// tokenSource returns a function that returns a valid token.
func tokenSource(a forge.Access) (func(context.Context) (string, error), error) {
	now := a.Now
	if now == nil {
		now = time.Now
	}
	app, err := identity.AppFrom(identity.Env{Getenv: a.Getenv, Sleep: a.Sleep}, now, a.May)
	switch {
	case err != nil:
		return nil, err
	case app != nil:
		return app.Source(), nil
	case a.Getenv("GITHUB_TOKEN") == "":
		return nil, fmt.Errorf("%w: set GITHUB_TOKEN, or PAWL_APP_ID, PAWL_APP_INSTALLATION and PAWL_APP_KEY_FILE for your own GitHub App", forge.ErrNoToken)
	}
	return func(context.Context) (string, error) { return a.Getenv("GITHUB_TOKEN"), nil }, nil
}

var pullRef = lazyregexp.New(`^refs/pull/([1-9][0-9]{0,8})/`)

// jobVariables are the variables of which a job has at least one.
var jobVariables = []string{"GITHUB_ACTIONS", "GITHUB_REPOSITORY", "GITHUB_EVENT_NAME", "GITHUB_REF", "GITHUB_HEAD_REF", "GITHUB_REF_NAME", "GITHUB_SHA", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"}

// Job reads the environment of a job in Actions.
func (Forge) Job(getenv func(string) string) (*forge.Job, error) {
	if !slices.ContainsFunc(jobVariables, func(name string) bool { return getenv(name) != "" }) {
		return nil, nil
	}
	j := &forge.Job{
		Repo: getenv("GITHUB_REPOSITORY"), Ref: getenv("GITHUB_REF"), Branch: getenv("GITHUB_HEAD_REF"), Commit: getenv("GITHUB_SHA"),
		Outputs: getenv("GITHUB_OUTPUT"), Summary: getenv("GITHUB_STEP_SUMMARY"), Identity: getenv("GITHUB_ACTIONS") == "true",
	}
	if getenv("GITHUB_ACTIONS") != "" {
		j.Actor = cmp.Or(getenv("GITHUB_ACTOR"), "github")
	}
	if j.Branch == "" {
		j.Branch = getenv("GITHUB_REF_NAME")
	}
	server, id := getenv(serverVariable), getenv("GITHUB_RUN_ID")
	if _, err := strconv.ParseInt(id, 10, 64); err == nil && server != "" {
		j.RunURL = fmt.Sprintf("%s/%s/actions/runs/%s", strings.TrimRight(server, "/"), j.Repo, id)
	}
	var err error
	if j.Event, j.Pull, err = readEvent(getenv("GITHUB_EVENT_NAME"), getenv("GITHUB_EVENT_PATH")); err != nil {
		return nil, err
	}
	if m := pullRef.FindStringSubmatch(j.Ref); m != nil && j.Pull == 0 {
		j.Pull, _ = strconv.Atoi(m[1]) // at most nine digits
	}
	return j, nil
}

// event is the part of an event file that pawl reads.
type event struct {
	Action      string `json:"action"`
	PullRequest *struct {
		Number int       `json:"number"`
		Head   eventSide `json:"head"`
		Base   eventSide `json:"base"`
	} `json:"pull_request"`
	MergeGroup *struct {
		Head string `json:"head_sha"`
		Base string `json:"base_sha"`
	} `json:"merge_group"`
	WorkflowRun *struct {
		ID int64 `json:"id"`
	} `json:"workflow_run"`
	Issue *struct {
		Number int `json:"number"`
		Pull   any `json:"pull_request"` // set only if the issue is a pull request
	} `json:"issue"`
	Comment *struct {
		Body string `json:"body"`
	} `json:"comment"`
}

type eventSide struct {
	SHA  string `json:"sha"`
	Repo *struct {
		ID int64 `json:"id"`
	} `json:"repo"` // null if the repository was deleted
}

// maxEventBytes bounds the event file in bytes. It is larger than any that GitHub writes.
const maxEventBytes = 32 << 20

// readEvent reads the event file, and returns the number of the pull request that changed.
func readEvent(name, path string) (forge.Event, int, error) {
	e := forge.Event{Name: name}
	switch name {
	case "push", "schedule", "workflow_dispatch":
		e.Kind = forge.OnMain
	}
	if path == "" {
		return e, 0, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return e, 0, fmt.Errorf("cannot read the event (GITHUB_EVENT_PATH): %w", err)
	}
	defer f.Close()
	var file event
	if err := json.NewDecoder(io.LimitReader(f, maxEventBytes)).Decode(&file); err != nil {
		return e, 0, fmt.Errorf("cannot read the event (GITHUB_EVENT_PATH): %w", err)
	}
	switch p := file.PullRequest; {
	case name == "issue_comment":
		e.Kind = forge.OnComment
		if file.Issue != nil && file.Issue.Pull != nil && file.Comment != nil && file.Action == "created" {
			e.Pull, e.Comment = file.Issue.Number, file.Comment.Body
		}
	case name == "workflow_run" && file.WorkflowRun != nil:
		e.Kind, e.Run = forge.OnRun, file.WorkflowRun.ID
	case p != nil:
		e.Kind = forge.OnTarget
		if name == "pull_request" {
			e.Kind = forge.OnPull
		}
		e.Head, e.Base = p.Head.SHA, p.Base.SHA
		e.Fork = p.Head.Repo == nil || p.Base.Repo == nil || p.Head.Repo.ID != p.Base.Repo.ID
		return e, p.Number, nil
	case file.MergeGroup != nil:
		e.Kind, e.Head, e.Base = forge.OnQueue, file.MergeGroup.Head, file.MergeGroup.Base
	}
	return e, 0, nil
}
