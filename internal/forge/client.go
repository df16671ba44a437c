package forge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// Errors that callers can distinguish, whatever the forge.
var (
	ErrNotFound = errors.New("not found at the forge")
	ErrNoToken  = errors.New("no credentials for the forge")
)

// InputError is a request that cannot be carried out as it is: the user must change it, or a file that it names.
type InputError struct{ err error }

// Invalid returns an InputError. It formats its text as fmt.Errorf does.
func Invalid(format string, args ...any) error { return &InputError{fmt.Errorf(format, args...)} }

func (e *InputError) Error() string { return e.err.Error() }

func (e *InputError) Unwrap() error { return e.err }

// Forge is one kind of code forge. A package below this one implements it, and internal/cli lists it.
type Forge interface {
	// Job returns the CI job of this forge that the environment describes; nil outside its CI.
	Job(getenv func(string) string) (*Job, error)
	// Open returns a client for a repository. Without credentials the error wraps ErrNoToken.
	Open(a Access) (Client, error)
}

// Access selects a repository and limits what the client may do there.
type Access struct {
	Repo   Repo
	May    map[string]string // permissions to request, where the forge can limit them
	Getenv func(string) string
	Now    func() time.Time                                 // nil for the real clock
	Sleep  func(ctx context.Context, d time.Duration) error // nil for the real clock
	Log    func(format string, args ...any)                 // called for every wait; nil for silence
}

// Client is what pawl needs of one repository.
type Client interface {
	Pull(ctx context.Context, number int) (Pull, error)
	PullsOf(ctx context.Context, head Head) ([]Pull, error)
	Comments(ctx context.Context, pull int) ([]Comment, error)
	Permission(ctx context.Context, user string) (Permission, error)
	File(ctx context.Context, ref, path string) ([]byte, error)
	MergeBase(ctx context.Context, base, head string) (string, error)

	Run(ctx context.Context, id int64) (Run, error)
	Runs(ctx context.Context, q RunQuery) ([]Run, error)
	Artifacts(ctx context.Context, run int64) ([]Artifact, error)
	ArtifactsNamed(ctx context.Context, name string) ([]Artifact, error)
	Download(ctx context.Context, a Artifact, w io.Writer, limit int64) error

	Report(ctx context.Context, pull int, s Section) (string, error)
	SetCheck(ctx context.Context, c Check) (string, error)
	Commit(ctx context.Context, c Change) (string, error)
	OpenDraft(ctx context.Context, d Draft) (Pull, error)

	Visibility(ctx context.Context) (public bool, err error)
}

// RunQuery selects runs. Empty fields match everything.
type RunQuery struct {
	Workflow string // file of the workflow, with or without its folder
	HeadSHA  string
}

// Job is the CI job that this process is part of, as the forge describes it.
type Job struct {
	Repo    string // OWNER/NAME
	Actor   string // account that started the job, or the forge's own name
	Event   Event
	Ref     string // full ref that started the job, such as refs/heads/main
	Branch  string // branch of the change; of a pull request, the branch of its head
	Commit  string // commit that the job runs for; of a pull request, its merge with the base
	Pull    int    // number of the pull request; 0 if there is none
	RunURL  string // page of the run; empty if unknown
	Outputs string // file for the outputs of the step; empty if there is none
	Summary string // file for the summary of the job; empty if there is none
	// Identity reports whether the forge issues identity tokens to the job. See package identity.
	Identity bool
}

// EventKind is what started a job.
type EventKind string

// The kinds of events. The zero kind is any other event.
const (
	OnMain    EventKind = "main"    // a push, a schedule or a person: only merged code can cause it
	OnPull    EventKind = "pull"    // a pull request changed; the job runs its merge with the base
	OnTarget  EventKind = "target"  // likewise, but the job runs the base
	OnQueue   EventKind = "queue"   // a merge queue tries a change
	OnRun     EventKind = "run"     // another run started or ended
	OnComment EventKind = "comment" // a new comment on a pull request
)

// Event is what started a job. Its text is untrusted.
type Event struct {
	Kind EventKind
	Name string // the forge's own name for it

	Head, Base string // commits, of a pull request or a merge queue
	Fork       bool   // the head is in another repository
	Run        int64  // OnRun: its number
	Pull       int    // OnComment: where it was written; 0 if not on a pull request, or not new
	Comment    string // OnComment: its text
}
