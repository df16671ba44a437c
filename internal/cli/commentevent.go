package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// event is what pawl reads of the event that started a workflow. GitHub wrote it.
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
		Pull   any `json:"pull_request"` // only where the issue is one
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
	} `json:"repo"` // null when that repository is gone
}

// fork tells whether the head is in another repository, or in none.
func (p eventPull) fork() bool {
	return p.Head.Repo == nil || p.Base.Repo == nil || p.Head.Repo.ID != p.Base.Repo.ID
}

// eventMost is more than GitHub writes.
const eventMost = 32 << 20

// readEvent reads the file of the event; there is none outside Actions.
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
	if err := json.NewDecoder(io.LimitReader(f, eventMost)).Decode(&e); err != nil {
		return e, fmt.Errorf("read the event (GITHUB_EVENT_PATH): %w", err)
	}
	return e, nil
}
