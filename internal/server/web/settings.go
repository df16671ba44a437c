package web

import (
	"time"

	"github.com/goatnote-inc/pawl/client"
)

// Settings is the page of what an admin of a project may change.
type Settings struct {
	Project                client.Project
	SampleDays, BranchDays int // 0 means the server's default
	Keys                   []Key
	Members                []Member
	Hooks                  []Hook
	CanMail                bool // hooks may send mail
	CanLogin               bool // people can log in, so that there can be members
}

// Title returns the heading.
func (Settings) Title() string { return "Settings" }
func (Settings) tab() string   { return "settings" }

// Key is a key of a project, without its text.
type Key struct {
	ID                int64
	Name, Prefix      string
	Scopes            []string
	CreatedBy         string
	Created, LastUsed time.Time // LastUsed is zero if it was never used
	Expires           time.Time // zero means never
	Expired, Revoked  bool
}

// Member is a person with a role.
type Member struct {
	Account             int64
	Name, Subject, Role string
}

// Roles returns the roles that a member can have.
func (Settings) Roles() []string { return []string{"viewer", "writer", "admin"} }

// Scopes returns the scopes that a key can have.
func (Settings) Scopes() []string { return []string{"read", "report", "report:main", "admin"} }

// Hook is where a project sends its messages.
type Hook struct {
	ID        int64
	Kind, URL string // without what is secret in it
	Created   time.Time
}

// NewKey is the page that shows a new key, once.
type NewKey struct{ Name, Text string }

// Title returns the heading.
func (NewKey) Title() string { return "Copy the key now" }
func (NewKey) tab() string   { return "settings" }
