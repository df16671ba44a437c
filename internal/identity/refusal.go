package identity

import "fmt"

// Reason says by which rule a token was refused. It is part of what a server answers and
// counts, so a reason keeps its name.
type Reason string

// The reasons, in the order in which a token is looked at.
const (
	TooLarge      Reason = "too-large"    // longer than any token of a forge
	Malformed     Reason = "malformed"    // not three parts of base64url, or no JSON that can be trusted
	BadHeader     Reason = "header"       // names keys of its own, or none
	BadAlgorithm  Reason = "algorithm"    // anything but RS256
	BadClaims     Reason = "claims"       // a claim is missing, twice there, or of another type
	WrongIssuer   Reason = "issuer"       // not exactly one that is configured
	BadSignature  Reason = "signature"    // no key of the issuer made it
	Expired       Reason = "expired"      // its time is over
	NotYet        Reason = "not-yet"      // its time has not come
	FromTheFuture Reason = "future"       // issued later than now
	TooLong       Reason = "lifetime"     // valid for longer than it can be remembered
	WrongAudience Reason = "audience"     // for another server, project or report
	WrongRepo     Reason = "repository"   // another repository's number
	WrongOwner    Reason = "owner"        // another owner's number
	WrongEvent    Reason = "event"        // an event that the rule does not name
	WrongRef      Reason = "ref"          // a ref that the event cannot have, or the rule does not name
	Unprotected   Reason = "protection"   // the rule wants a protected ref
	WrongWorkflow Reason = "workflow"     // another file, or the file of another ref or repository
	WrongCallee   Reason = "job-workflow" // another reusable workflow, or another commit of it
	WrongEnv      Reason = "environment"  // another environment, or none
	Replayed      Reason = "replay"       // used before, for something else
	NoRule        Reason = "no-rule"      // nobody may upload to this project
)

// RefusedError is the answer to a token that is no good. Only what a rule compares is
// named in it, never the token.
type RefusedError struct {
	Reason Reason
	Detail string
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("the token is refused (%s): %s", e.Reason, e.Detail)
}

func refuse(r Reason, format string, args ...any) error {
	return &RefusedError{Reason: r, Detail: fmt.Sprintf(format, args...)}
}

// shown is a claim as an error may quote it: what a stranger wrote is neither long nor
// able to move a cursor.
func shown(s string) string {
	const most = 120
	if len(s) > most {
		s = s[:most] + "..."
	}
	return fmt.Sprintf("%+q", s)
}
