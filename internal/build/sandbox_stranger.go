package build

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/goatnote-inc/pawl/measure"
)

// SandboxVariable is how who runs pawl decides about the sandbox, whatever a suite
// says: always, never or auto.
const SandboxVariable = "PAWL_SANDBOX"

// Confine finds the sandbox that builds have to run in; nil when they need none.
// The mode is the suite's build.sandbox. A stranger's suite cannot say never: it is part
// of what the stranger wrote. Who runs pawl can, by SandboxVariable.
//
// Where a sandbox is needed and there is none, nothing is built: never silently without.
func Confine(ctx context.Context, mode string, trust measure.Trust, getenv func(string) string) (*Sandbox, error) {
	stranger := Stranger(trust, getenv)
	switch ours := getenv(SandboxVariable); ours {
	case "":
		if mode == "never" && stranger != "" {
			mode = "auto"
		}
	case "always", "never", "auto":
		mode = ours
	default:
		return nil, &SandboxError{Reason: fmt.Sprintf("%s is %q", SandboxVariable, ours), Fix: "it may be always, never or auto"}
	}
	if mode == "never" || mode != "always" && stranger == "" {
		return nil, nil
	}
	s, err := FindSandbox(ctx)
	if e, ok := errors.AsType[*SandboxError](err); ok && stranger != "" {
		e.Reason = fmt.Sprintf("it is needed (%s), and %s", stranger, e.Reason)
		e.Fix += fmt.Sprintf("\n  on a machine that is thrown away afterwards, %s=never builds without", SandboxVariable)
	}
	return s, err
}

// Stranger says why the code to build is not one's own; empty when it is.
func Stranger(trust measure.Trust, getenv func(string) string) string {
	if trust == measure.Checked || trust == measure.SelfTimed {
		return fmt.Sprintf("the suite trusts nobody: trust is %s", trust)
	}
	if source, target := getenv("CI_MERGE_REQUEST_SOURCE_PROJECT_ID"), getenv("CI_MERGE_REQUEST_PROJECT_ID"); source != target && target != "" {
		return "this is a merge request from a fork"
	}
	event := getenv("GITHUB_EVENT_NAME")
	if !foreignEvents[event] {
		return ""
	}
	f, err := os.Open(getenv("GITHUB_EVENT_PATH"))
	if err != nil {
		return fmt.Sprintf("this is a %s, and nothing says whose it is", event)
	}
	defer f.Close()
	return strangerInEvent(event, io.LimitReader(f, 32<<20))
}

// foreignEvents are those of GitHub's with which code of a fork may have been checked out.
var foreignEvents = map[string]bool{
	"pull_request": true, "pull_request_target": true, "pull_request_review": true, "pull_request_review_comment": true,
	"workflow_run": true, "issue_comment": true,
}

// strangerInEvent reads what GitHub says of an event. What it does not say, or not
// in a way that is understood, is taken for a stranger's.
func strangerInEvent(event string, from io.Reader) string {
	type repository struct {
		Name string `json:"full_name"`
	}
	type side struct {
		Repo repository `json:"repo"`
	}
	var e struct {
		Pull struct {
			Head side `json:"head"`
			Base side `json:"base"`
		} `json:"pull_request"`
		Issue struct {
			Pull *json.RawMessage `json:"pull_request"`
		} `json:"issue"`
		Run struct {
			Head repository `json:"head_repository"`
		} `json:"workflow_run"`
		Repository repository `json:"repository"`
	}
	text, err := io.ReadAll(from)
	if err == nil {
		err = json.NewDecoder(bytes.NewReader(text)).Decode(&e)
	}
	if err != nil {
		return fmt.Sprintf("this is a %s, and its description cannot be read", event)
	}
	head, base := e.Pull.Head.Repo.Name, e.Pull.Base.Repo.Name
	switch event {
	case "issue_comment":
		if e.Issue.Pull == nil {
			return "" // of an issue: there is no change to check out
		}
		return "this answers a comment on a pull request, and nothing says whose that is"
	case "workflow_run":
		head, base = e.Run.Head.Name, e.Repository.Name
	}
	switch {
	case head == "" || base == "":
		return fmt.Sprintf("this is a %s, and nothing says whose it is", event)
	case !strings.EqualFold(head, base):
		return fmt.Sprintf("this is a %s from the fork %q", event, head)
	default:
		return ""
	}
}
