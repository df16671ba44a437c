package harness

import (
	"fmt"
	"strings"
	"time"
)

// Kind is the way a harness failed. For every kind but Refused, the process is gone
// and takes no more requests.
type Kind string

// Kinds of failure.
const (
	NotStarted Kind = "did not start"
	Crashed    Kind = "crashed"
	Hung       Kind = "hung"
	LostDevice Kind = "lost its device"
	Garbage    Kind = "sent something that is no reply"
	OutOfOrder Kind = "answered out of order"
	BadCount   Kind = "miscounted its samples"
	BadSample  Kind = "sent an impossible sample"
	BadVersion Kind = "speaks another protocol version"
	Foreign    Kind = "loaded code of another side"
	Changed    Kind = "is not what was built"
	Refused    Kind = "refused" // an error reply: this request failed, the harness is still running
)

// Role is the role of a process that speaks the protocol. Messages name the process by it.
type Role string

// Roles other than harness, which is the empty string.
const (
	Oracle   Role = "oracle"
	Launcher Role = "launcher"
)

// describe returns the name of a process for messages. The path of pawl's own launcher would not help users.
func (r Role) describe(command string) string {
	switch r {
	case Launcher:
		return "pawl's launcher"
	case Oracle:
		return fmt.Sprintf("oracle %q", command)
	default:
		return fmt.Sprintf("harness %q", command)
	}
}

// Error is a failure of a harness, with a message that a user can act on.
type Error struct {
	Kind    Kind
	Role    Role
	Command string // the command that started it
	Doing   string // the request it was serving: "measure matmul/N512"
	Detail  string
	Hint    string // the next step for the user
	Code    string // error code of a Refused error
	Stderr  string // the last lines it wrote
}

func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", e.Role.describe(e.Command), e.Kind)
	if e.Doing != "" {
		fmt.Fprintf(&b, " while asked to %s", e.Doing)
	}
	if e.Detail != "" {
		fmt.Fprintf(&b, ": %s", e.Detail)
	}
	if e.Hint != "" {
		fmt.Fprintf(&b, "\n  %s", e.Hint)
	}
	if tail := strings.TrimRight(e.Stderr, "\n"); tail != "" {
		fmt.Fprintf(&b, "\n  its last output:\n    %s", strings.ReplaceAll(tail, "\n", "\n    "))
	}
	return b.String()
}

// Broken reports whether the process is lost.
func (e *Error) Broken() bool { return e.Kind != Refused }

func hungDetail(silence time.Duration) string {
	return fmt.Sprintf("no message for %v; its processes were killed", silence)
}

// excerpt quotes the start of an untrusted line, so that no raw bytes reach the terminal.
func excerpt(line []byte) string {
	const most = 80
	if len(line) > most {
		return fmt.Sprintf("%q...", line[:most])
	}
	return fmt.Sprintf("%q", line)
}
