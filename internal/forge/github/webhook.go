package github

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/forge"
)

// The headers of a webhook.
const (
	EventHeader     = "X-GitHub-Event"      // kind of the event
	DeliveryHeader  = "X-GitHub-Delivery"   // ID of the delivery
	SignatureHeader = "X-Hub-Signature-256" // of the body, with the secret
)

// Webhooks returns how pawld reads GitHub's webhooks.
func Webhooks() *forge.Webhooks {
	return &forge.Webhooks{Event: EventHeader, Signature: SignatureHeader, Read: readWebhook}
}

// webhook is the part of a push or pull_request event that pawl reads.
type webhook struct {
	Action      string `json:"action"`
	PullRequest *struct {
		Number int `json:"number"`
		Head   struct {
			SHA string `json:"sha"`
		} `json:"head"`
	} `json:"pull_request"`
	Ref        string `json:"ref"`
	Before     string `json:"before"`
	After      string `json:"after"`
	Repository struct {
		Name string `json:"full_name"`
	} `json:"repository"`
}

var (
	fullCommit = lazyregexp.New(`^([0-9a-f]{40}|[0-9a-f]{64})$`)
	noCommit   = lazyregexp.New(`^0+$`)
)

// maxBranch is the longest name of a branch in bytes that a file system takes.
const maxBranch = 255

func readWebhook(event string, body []byte) (d forge.Delivery, ok bool, err error) {
	if event != "push" && event != "pull_request" {
		return d, false, nil
	}
	var w webhook
	if err := json.Unmarshal(body, &w); err != nil {
		return d, false, fmt.Errorf("not a %s event: %w", event, err)
	}
	if d.Repo, err = forge.ParseRepo(w.Repository.Name); err != nil {
		return d, false, err
	}
	if event == "push" {
		branch, isBranch := strings.CutPrefix(w.Ref, "refs/heads/")
		if !isBranch || noCommit.MatchString(w.After) || noCommit.MatchString(w.Before) { // a tag, or the branch is new or deleted
			return d, false, nil
		}
		if !fullCommit.MatchString(w.After) || !fullCommit.MatchString(w.Before) || branch == "" || len(branch) > maxBranch {
			return d, false, errors.New("the push names no branch or no commits")
		}
		d.Branch, d.Before, d.Head = branch, w.Before, w.After
		return d, true, nil
	}
	switch w.Action {
	case "opened", "synchronize", "reopened":
	case "closed":
		d.Closed = true
	default:
		return d, false, nil
	}
	if w.PullRequest == nil || w.PullRequest.Number <= 0 || !fullCommit.MatchString(w.PullRequest.Head.SHA) {
		return d, false, errors.New("the event names no pull request or no commit")
	}
	d.Pull, d.Head = w.PullRequest.Number, w.PullRequest.Head.SHA
	return d, true, nil
}

// PullRef is the ref of a pull request's head, with %d for its number. Those of forks have one too.
const PullRef = "refs/pull/%d/head"

// serverVariable names the address of the forge's pages and repositories.
const serverVariable = "GITHUB_SERVER_URL"

// Remote returns where git fetches a repository from, with the credentials of a.
func Remote(ctx context.Context, a forge.Access) (forge.Remote, error) {
	token, err := tokenSource(a)
	if err != nil {
		return forge.Remote{}, err
	}
	text, err := token(ctx)
	if err != nil {
		return forge.Remote{}, err
	}
	server := strings.TrimRight(a.Getenv(serverVariable), "/")
	if server == "" {
		server = "https://github.com"
	}
	return forge.Remote{
		URL:    server + "/" + a.Repo.String() + ".git",
		Header: "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("x-access-token:"+text)),
	}, nil
}
