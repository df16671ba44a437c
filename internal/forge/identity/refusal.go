package identity

import "fmt"

// Reason is the rule by which a token was refused. It is part of a server's responses and
// metrics, so the names must not change.
type Reason string

// The reasons, in the order in which a token is checked.
const (
	TooLarge         Reason = "too-large"    // longer than any token of a forge
	Malformed        Reason = "malformed"    // not three parts of base64url, or invalid or ambiguous JSON
	BadHeader        Reason = "header"       // names its own keys, or none
	BadAlgorithm     Reason = "algorithm"    // not RS256
	BadClaims        Reason = "claims"       // a claim is missing, duplicated, or of another type
	WrongIssuer      Reason = "issuer"       // not exactly a configured issuer
	BadSignature     Reason = "signature"    // not made by a key of the issuer
	Expired          Reason = "expired"      // no longer valid
	NotYet           Reason = "not-yet"      // not yet valid
	IssuedInFuture   Reason = "future"       // issued in the future
	TooLong          Reason = "lifetime"     // valid for longer than it can be remembered
	WrongAudience    Reason = "audience"     // for another server, project or report
	WrongRepo        Reason = "repository"   // ID of another repository
	WrongOwner       Reason = "owner"        // ID of another owner
	WrongEvent       Reason = "event"        // an event that the rule does not name
	WrongRef         Reason = "ref"          // a ref that the event cannot have, or that the rule does not name
	Unprotected      Reason = "protection"   // the rule requires a protected ref
	WrongWorkflow    Reason = "workflow"     // another file, or the file of another ref or repository
	WrongJobWorkflow Reason = "job-workflow" // another reusable workflow, or another commit of it
	WrongEnv         Reason = "environment"  // another environment, or none
	Replayed         Reason = "replay"       // used before, for another report
	NoRule           Reason = "no-rule"      // the project has no rule for uploads
)

// RefusedError is the error for a refused token. It contains only what a rule compares,
// never the token.
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

// quoteClaim returns an untrusted claim in a form that is safe in an error: short and without
// control characters.
func quoteClaim(s string) string {
	const most = 120
	if len(s) > most {
		s = s[:most] + "..."
	}
	return fmt.Sprintf("%+q", s)
}
