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

// SetMember gives an account a role in a project. An empty role removes the member, or returns
// [ErrNotFound] if the account is not a member.
func (s *Store) SetMember(ctx context.Context, project, account int64, role Role) error {
	q := db.New(s.db.Of(project))
	var err error
	if role == "" {
		var n int64
		if n, err = q.RemoveMember(ctx, db.RemoveMemberParams{ProjectID: project, AccountID: account}); err == nil && n == 0 {
			return fmt.Errorf("cannot remove the role of account %d: %w", account, ErrNotFound)
		}
	} else {
		err = q.SetMember(ctx, db.SetMemberParams{ProjectID: project, AccountID: account, Role: string(role)})
	}
	switch {
	case pg.Violates(err, "23503"):
		return fmt.Errorf("cannot make account %d a member: %w", account, ErrNotFound)
	case pg.Violates(err, "23514"):
		return &pg.InvalidError{What: fmt.Sprintf("unknown role %q (known: viewer, writer, admin)", role)}
	case err != nil:
		return fmt.Errorf("cannot change the role of account %d: %w", account, pg.Input(err))
	}
	return nil
}

// RoleOf returns an account's role in a project, empty for none.
func (s *Store) RoleOf(ctx context.Context, project, account int64) (Role, error) {
	role, err := db.New(s.db.Of(project)).RoleOf(ctx, db.RoleOfParams{ProjectID: project, AccountID: account})
	if pg.None(err) {
		return "", nil
	}
	return Role(role), pg.Wrap(err, "cannot read the role of account %d", account)
}
