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

// SandboxVariable is the environment variable that overrides the suite's choice of sandbox: always,
// never or auto.
const SandboxVariable = "PAWL_SANDBOX"

// Confine returns the sandbox in which builds must run; nil if they need none. mode is the suite's
// build.sandbox. The suite of untrusted code cannot choose never, because it is untrusted too. The
// user of pawl can, with SandboxVariable.
//
// If a sandbox is needed but not available, Confine returns an error. A build never runs silently
// without one.
func Confine(ctx context.Context, mode string, trust measure.Trust, getenv func(string) string) (*Sandbox, error) {
	untrusted := UntrustedReason(trust, getenv)
	switch ours := getenv(SandboxVariable); ours {
	case "":
		if mode == "never" && untrusted != "" {
			mode = "auto"
		}
	case "always", "never", "auto":
		mode = ours
	default:
		return nil, &SandboxError{Reason: fmt.Sprintf("%s is %q", SandboxVariable, ours), Fix: "set it to always, never or auto"}
	}
	if mode == "never" || mode != "always" && untrusted == "" {
		return nil, nil
	}
	s, err := FindSandbox(ctx)
	if e, ok := errors.AsType[*SandboxError](err); ok && untrusted != "" {
		e.Reason = fmt.Sprintf("it is required (%s), but %s", untrusted, e.Reason)
		e.Fix += fmt.Sprintf("\n  on a disposable machine, set %s=never to build without a sandbox", SandboxVariable)
	}
	return s, err
}

// UntrustedReason returns why the code to build is untrusted; empty if it is trusted.
func UntrustedReason(trust measure.Trust, getenv func(string) string) string {
	if trust == measure.Checked || trust == measure.SelfTimed {
		return fmt.Sprintf("the suite does not trust the code: trust is %s", trust)
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
		return fmt.Sprintf("this is a %s of unknown origin", event)
	}
	defer f.Close()
	return untrustedInEvent(event, io.LimitReader(f, 32<<20))
}

// foreignEvents lists the events of CI jobs for which code of a fork may be checked out.
var foreignEvents = map[string]bool{
	"pull_request": true, "pull_request_target": true, "pull_request_review": true, "pull_request_review_comment": true,
	"workflow_run": true, "issue_comment": true,
}

// untrustedInEvent reads the description of an event that CI leaves in a file. Code whose origin is missing or unclear
// counts as untrusted.
func untrustedInEvent(event string, from io.Reader) string {
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
		return fmt.Sprintf("this is a %s, and its event file cannot be read", event)
	}
	head, base := e.Pull.Head.Repo.Name, e.Pull.Base.Repo.Name
	switch event {
	case "issue_comment":
		if e.Issue.Pull == nil {
			return "" // a comment on an issue: there is no change to check out
		}
		return "this answers a comment on a pull request of unknown origin"
	case "workflow_run":
		head, base = e.Run.Head.Name, e.Repository.Name
	}
	switch {
	case head == "" || base == "":
		return fmt.Sprintf("this is a %s of unknown origin", event)
	case !strings.EqualFold(head, base):
		return fmt.Sprintf("this is a %s from the fork %q", event, head)
	default:
		return ""
	}
}
