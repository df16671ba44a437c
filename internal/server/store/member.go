package store

import (
	"context"
	"fmt"

	"github.com/goatnote-inc/pawl/internal/server/store/db"
	"github.com/goatnote-inc/pawl/internal/server/store/pg"
)

// Role is the set of permissions of a member in a project.
type Role string

// The roles. Each includes the permissions of those before it.
const (
	Viewer Role = "viewer"
	Writer Role = "writer"
	Admin  Role = "admin"
)

// Member is an account with its role in a project.
type Member struct {
	Account
	Role Role `json:"role"`
}

// Members lists the members of a project by name.
func (s *Store) Members(ctx context.Context, project int64) ([]Member, error) {
	rows, err := db.New(s.db.Of(project)).Members(ctx, project)
	if err != nil {
		return nil, fmt.Errorf("cannot list the members of project %d: %w", project, err)
	}
	return each(rows, func(r db.MembersRow) Member {
		return Member{accountOf(db.PawlAccount{ID: r.ID, Issuer: r.Issuer, Subject: r.Subject, Name: r.Name, Created: r.Created}), Role(r.Role)}
	}), nil
}

// SetMember gives an account a role in a project.
func (s *Store) SetMember(ctx context.Context, project, account int64, role Role) error {
	had, err := s.RoleOf(ctx, project, account)
	if err != nil {
		return err
	}
	if had == "" {
		if err := s.room(ctx, project, countedMembers, s.bounds.Members); err != nil {
			return err
		}
	}
	err = db.New(s.db.Of(project)).SetMember(ctx, db.SetMemberParams{ProjectID: project, AccountID: account, Role: string(role)})
	switch {
	case pg.Violates(err, "23503"):
		err = ErrNotFound
	case pg.Violates(err, "23514"):
		return &pg.InvalidError{What: fmt.Sprintf("unknown role %q (known: viewer, writer, admin)", role)}
	}
	return pg.Wrap(pg.Input(err), "cannot make account %d a member", account)
}

// RemoveMember removes the role of an account, or returns [ErrNotFound] if it has none.
func (s *Store) RemoveMember(ctx context.Context, project, account int64) error {
	n, err := db.New(s.db.Of(project)).RemoveMember(ctx, db.RemoveMemberParams{ProjectID: project, AccountID: account})
	return changed(n, err, "member", account)
}

// RoleOf returns an account's role in a project, empty for none.
func (s *Store) RoleOf(ctx context.Context, project, account int64) (Role, error) {
	role, err := db.New(s.db.Of(project)).RoleOf(ctx, db.RoleOfParams{ProjectID: project, AccountID: account})
	if pg.None(err) {
		return "", nil
	}
	return Role(role), pg.Wrap(err, "cannot read the role of account %d", account)
}
