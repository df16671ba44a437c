package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// event is the part of a GitHub Actions event that pawl reads. GitHub wrote it.
type event struct {
	name        string
	Action      string     `json:"action"`
	PullRequest *eventPull `json:"pull_request"`
	MergeGroup  *struct {
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

type eventPull struct {
	Number int       `json:"number"`
	Head   eventSide `json:"head"`
	Base   eventSide `json:"base"`
}

type eventSide struct {
	SHA  string `json:"sha"`
	Repo *struct {
		ID int64 `json:"id"`
	} `json:"repo"` // null if the repository was deleted
}

// fork reports whether the head is in another repository, or in a deleted one.
func (p eventPull) fork() bool {
	return p.Head.Repo == nil || p.Base.Repo == nil || p.Head.Repo.ID != p.Base.Repo.ID
}

// maxEventBytes bounds the event file in bytes. It is larger than any that GitHub writes.
const maxEventBytes = 32 << 20

// readEvent reads the event file. Outside GitHub Actions path is empty, and so is the event.
func readEvent(name, path string) (event, error) {
	e := event{name: name}
	if path == "" {
		return e, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return e, fmt.Errorf("read the event (GITHUB_EVENT_PATH): %w", err)
	}
	defer f.Close()
	if err := json.NewDecoder(io.LimitReader(f, maxEventBytes)).Decode(&e); err != nil {
		return e, fmt.Errorf("read the event (GITHUB_EVENT_PATH): %w", err)
	}
	return e, nil
}
