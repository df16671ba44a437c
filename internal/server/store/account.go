package store

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/failpoint"
	"github.com/goatnote-inc/pawl/internal/server/store/db"
	"github.com/goatnote-inc/pawl/internal/server/store/pg"
)

// Account is a user who has logged in or was invited, identified by issuer and subject.
type Account struct {
	ID      int64     `json:"id"`
	Issuer  string    `json:"issuer"`
	Subject string    `json:"subject"`
	Name    string    `json:"name"`
	Email   string    `json:"-"` // verified by the issuer at the last login; empty means none
	Created time.Time `json:"created"`
}

// SignIn finds or creates the account of a subject. It stores the newest name and the
// address that the issuer has verified, if any.
func (s *Store) SignIn(ctx context.Context, issuer, subject, name, email string) (Account, error) {
	row, err := db.New(s.db.Rows()).SignIn(ctx, db.SignInParams{Issuer: issuer, Subject: subject, Name: name, Email: email, Created: s.db.Now()})
	if err != nil {
		return Account{}, fmt.Errorf("cannot sign in: %w", pg.Input(err))
	}
	failpoint.At("login.account")
	return accountOf(row), nil
}

// Invite finds the account of a subject, or creates one for a user who has not logged in
// yet. The inviter does not learn which.
func (s *Store) Invite(ctx context.Context, issuer, subject string) (Account, error) {
	if issuer == "" || len(issuer) > 500 || subject == "" || len(subject) > 255 {
		return Account{}, &pg.InvalidError{What: "a person needs an issuer and a subject of at most 255 bytes"}
	}
	row, err := db.New(s.db.Rows()).Invite(ctx, db.InviteParams{Issuer: issuer, Subject: subject, Created: s.db.Now()})
	return accountOf(row), pg.Wrap(pg.Input(err), "cannot invite a person")
}

// AccountByID returns the account with id, or [ErrNotFound].
func (s *Store) AccountByID(ctx context.Context, id int64) (Account, error) {
	row, err := db.New(s.db.Rows()).AccountByID(ctx, id)
	return accountOf(row), pg.Wrap(pg.Found(err), "account %d", id)
}

// Accounts lists accounts by name, at most a thousand. If person is set, it lists only
// accounts whose number, subject or name equals it.
func (s *Store) Accounts(ctx context.Context, person string) ([]Account, error) {
	rows, err := db.New(s.db.Rows()).Accounts(ctx, person)
	return each(rows, accountOf), pg.Wrap(pg.Input(err), "cannot list accounts")
}

// AddLogin stores a browser's login. It stores only a hash of the cookie's value, so that
// read access to the database is not enough to log in.
func (s *Store) AddLogin(ctx context.Context, cookie string, account int64, expires time.Time) error {
	hash := sha256.Sum256([]byte(cookie))
	q := db.New(s.db.Rows())
	if err := q.AddLogin(ctx, db.AddLoginParams{Hash: hash[:], AccountID: account, Created: s.db.Now(), Expires: expires}); err != nil {
		return fmt.Errorf("cannot store a login of account %d: %w", account, err)
	}
	failpoint.At("login.kept")
	if err := q.ForgetLogins(ctx, s.db.Now()); err != nil {
		return fmt.Errorf("cannot delete expired logins: %w", err)
	}
	return nil
}

// Login returns the account of a cookie that has not expired and was used since a time, or [ErrNotFound]. It
// records the use, at most once a minute.
func (s *Store) Login(ctx context.Context, cookie string, usedSince time.Time) (Account, error) {
	hash := sha256.Sum256([]byte(cookie))
	now := s.db.Now()
	var a Account
	var used time.Time
	err := s.db.Rows().QueryRow(ctx, `select a.id, a.issuer, a.subject, a.name, a.email, a.created, l.last_used
		from pawl.login l join pawl.account a on a.id = l.account_id
		where l.hash = $1 and l.expires > $2 and l.last_used >= $3`, hash[:], now, usedSince).
		Scan(&a.ID, &a.Issuer, &a.Subject, &a.Name, &a.Email, &a.Created, &used)
	a.Created = a.Created.UTC()
	if err == nil && now.Sub(used) >= time.Minute {
		_, err = s.db.Rows().Exec(ctx, `update pawl.login set last_used = greatest(last_used, $2) where hash = $1`, hash[:], now)
	}
	return a, pg.Wrap(pg.Found(err), "login")
}

// EndLogins deletes all logins of an account, or of every account if it is 0. It returns how many there
// were.
func (s *Store) EndLogins(ctx context.Context, account int64) (int64, error) {
	tag, err := s.db.Rows().Exec(ctx, `delete from pawl.login where $1 = 0 or account_id = $1`, account)
	return tag.RowsAffected(), pg.Wrap(err, "cannot end logins")
}

// EndLogin deletes a login.
func (s *Store) EndLogin(ctx context.Context, cookie string) error {
	hash := sha256.Sum256([]byte(cookie))
	if err := db.New(s.db.Rows()).EndLogin(ctx, hash[:]); err != nil {
		return fmt.Errorf("cannot end a login: %w", err)
	}
	return nil
}

func accountOf(row db.PawlAccount) Account {
	return Account{ID: row.ID, Issuer: row.Issuer, Subject: row.Subject, Name: row.Name, Email: row.Email, Created: row.Created.UTC()}
}

// changed returns [ErrNotFound] if a change matched no row.
func changed(rows int64, err error, what string, id int64) error {
	if err == nil && rows == 0 {
		err = ErrNotFound
	}
	return pg.Wrap(err, "%s %d", what, id)
}
