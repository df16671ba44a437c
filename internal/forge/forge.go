// Package forge defines what pawl needs from a code forge: one report on a pull request, a
// check on a commit, a commit on a branch, a draft pull request, and facts about workflow
// runs. It must not know what a verdict is, nor any forge's API: each forge has its own
// package below.
package forge

import "time"

// Repo names a repository.
type Repo struct{ Owner, Name string }

func (r Repo) String() string { return r.Owner + "/" + r.Name }

// Section is one part of the single report that pawl writes on a pull request. Each key has
// one section: writing it again replaces it and leaves the others unchanged.
type Section struct {
	Key   string // lower-case letters, digits, "-", "." and "/": the suite and the testbed
	Body  string // Markdown, already escaped by the caller
	Quiet bool   // do not start a report for it: write only if there is one
}

// Status is the progress of a check.
type Status string

// The states of a check.
const (
	Queued     Status = "queued"
	InProgress Status = "in_progress"
	Completed  Status = "completed"
)

// Conclusion is the result of a completed check.
type Conclusion string

// The conclusions pawl uses. Neutral lets a required check pass without asserting success.
const (
	Success Conclusion = "success"
	Failure Conclusion = "failure"
	Neutral Conclusion = "neutral"
)

// Check is the state of a named check on a commit. A commit has one check per name.
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

// Level is the severity of an annotation.
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
	BaseBranch, BaseSHA string // BaseSHA: tip of the base branch when the forge last checked
	Fork                bool   // its head is in another repository
	Labels              []string
	URL                 string
}

// Head selects the pull requests with exactly this head.
type Head struct {
	Repo        int64 // ID
	Branch, SHA string
}

// Run is one run of a workflow, as reported by the forge, never by the run itself.
type Run struct {
	ID                      int64
	Attempt                 int
	Workflow                string // path of its file, without a ref
	Event                   string // the forge's own name of what started it
	Pull                    bool   // a pull request started it
	Head                    Head
	Fork                    bool // its head is in another repository
	Status, Conclusion, URL string
	Created                 time.Time
}

// Artifact is a file that a run uploaded.
type Artifact struct {
	ID      int64
	Name    string
	Size    int64
	Expired bool
	Run     int64
	Created time.Time
}

// Comment is a user's comment on a pull request.
type Comment struct {
	ID      int64
	Author  string
	Body    string
	Created time.Time
	Edited  bool
	URL     string
}

// Permission is a user's access level in a repository, ascending.
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
	From    string // commit to start the branch at if it does not exist
	Message string
	Files   map[string][]byte // by path; nil deletes
}

// Draft is a pull request to open as a draft. A head has one: if it is already open, it is
// updated.
type Draft struct {
	Head, Base  string // branches
	Title, Body string
}
