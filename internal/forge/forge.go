// Package forge knows what a place where code is reviewed can do for pawl, in plain
// words: one report on a pull request, a check on a commit, a commit on a branch, a draft
// pull request, and what is known of a run of its machines. It takes text and hands out
// facts. It must not know what a verdict is, nor any forge's API: each has a package below.
package forge

import "time"

// Repo names a repository.
type Repo struct{ Owner, Name string }

func (r Repo) String() string { return r.Owner + "/" + r.Name }

// Section is one part of the one report that pawl leaves on a pull request. A key has
// one section: whoever writes it again replaces it, and leaves the others alone.
type Section struct {
	Key   string // of lower-case letters, digits, "-", "." and "/": the suite and the testbed
	Body  string // Markdown; whoever made it has made it harmless
	Quiet bool   // begin no report for it: write only where there is one already
}

// Status is how far a check is.
type Status string

// The states of a check.
const (
	Queued     Status = "queued"
	InProgress Status = "in_progress"
	Completed  Status = "completed"
)

// Conclusion is what a completed check says.
type Conclusion string

// The conclusions pawl uses. Neutral lets a required check pass and promises nothing.
const (
	Success Conclusion = "success"
	Failure Conclusion = "failure"
	Neutral Conclusion = "neutral"
)

// Check is the state of a named check on a commit. There is one of a name on a commit.
type Check struct {
	Name, SHA   string
	Status      Status
	Conclusion  Conclusion // when completed
	Title       string     // one line
	Summary     string     // Markdown
	URL         string     // of the details; empty for the forge's own page
	Started     time.Time  // zero for now
	Annotations []Annotation
}

// Level is how loud an annotation is.
type Level string

// The levels of annotations.
const (
	Notice  Level = "notice"
	Warning Level = "warning"
	Fault   Level = "failure"
)

// Annotation is a remark on lines of a file.
type Annotation struct {
	Path           string // relative to the repository, with slashes
	Line, EndLine  int    // from 1; EndLine 0 for one line
	Level          Level
	Title, Message string // plain text
}

// Pull is a pull request.
type Pull struct {
	Number              int
	Open, Draft         bool
	Author              string
	HeadRepo            int64 // ID; 0 when that repository is gone
	HeadBranch, HeadSHA string
	BaseBranch, BaseSHA string // BaseSHA: where the base branch was when the forge last looked
	Fork                bool   // its head is in another repository
	Labels              []string
	URL                 string
}

// Head says which pull requests are meant: those whose head is exactly this.
type Head struct {
	Repo        int64 // ID
	Branch, SHA string
}

// Run is one run of a workflow, as the forge tells it: never as the run tells it itself.
type Run struct {
	ID                      int64
	Attempt                 int
	Workflow                string // path of its file, without a ref
	Event                   string // "pull_request", "push", ...
	Head                    Head
	Fork                    bool // its head is in another repository
	Status, Conclusion, URL string
	Created                 time.Time
}

// Artifact is a file that a run left.
type Artifact struct {
	ID      int64
	Name    string
	Size    int64
	Expired bool
	Run     int64
	Created time.Time
}

// Comment is what somebody wrote on a pull request.
type Comment struct {
	ID      int64
	Author  string
	Body    string
	Created time.Time
	Edited  bool
	URL     string
}

// Permission is what somebody may do in a repository, rising.
type Permission string

// The permissions.
const (
	NoAccess Permission = "none"
	Read     Permission = "read"
	Triage   Permission = "triage"
	Write    Permission = "write"
	Maintain Permission = "maintain"
	Admin    Permission = "admin"
)

// Change is a commit to make on a branch.
type Change struct {
	Branch  string // where it goes
	From    string // commit to begin the branch at where there is none
	Expect  string // the commit the branch must be at; empty for any
	Message string
	Files   map[string][]byte // by path; nil deletes
}

// Draft is a pull request to open as a draft. There is one of a head: it is updated
// where it is open already.
type Draft struct {
	Head, Base  string // branches
	Title, Body string
}
