package harness

import (
	"fmt"
	"strings"
	"time"
)

// Kind tells in which way a harness failed. Every kind but Refused means that
// the process is gone and cannot be asked again.
type Kind string

// The kinds of failure.
const (
	NotStarted Kind = "did not start"
	Crashed    Kind = "crashed"
	Hung       Kind = "hung"
	Garbage    Kind = "sent something that is no reply"
	OutOfOrder Kind = "answered out of order"
	BadCount   Kind = "miscounted its samples"
	BadSample  Kind = "sent an impossible sample"
	BadVersion Kind = "speaks another protocol version"
	Foreign    Kind = "loaded code of another side"
	Changed    Kind = "is not what was built"
	Refused    Kind = "refused" // an error reply: this request failed, the harness lives
)

// Role is what a process that speaks the protocol is to pawl. Messages go by it.
type Role string

// The roles beside that of a harness, which has no name.
const (
	Oracle   Role = "oracle"
	Launcher Role = "launcher"
)

// called is how messages speak of a process. Where pawl keeps its own launcher tells nobody anything.
func (r Role) called(command string) string {
	switch r {
	case Launcher:
		return "pawl's launcher"
	case Oracle:
		return fmt.Sprintf("oracle %q", command)
	default:
		return fmt.Sprintf("harness %q", command)
	}
}

// Error is a failure of a harness, in words that a person can act on.
type Error struct {
	Kind    Kind
	Role    Role
	Command string // how it was started
	Doing   string // the request it was serving: "measure matmul/N512"
	Detail  string
	Hint    string // what to do next
	Code    string // of a Refused error
	Stderr  string // the last lines it wrote
}

func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", e.Role.called(e.Command), e.Kind)
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

// Broken tells whether the process is lost.
func (e *Error) Broken() bool { return e.Kind != Refused }

func hungDetail(silence time.Duration) string {
	return fmt.Sprintf("no message for %v; its processes were killed", silence)
}

// excerpt shows the start of a hostile line without letting it reach the terminal raw.
func excerpt(line []byte) string {
	const most = 80
	if len(line) > most {
		return fmt.Sprintf("%q...", line[:most])
	}
	return fmt.Sprintf("%q", line)
}
