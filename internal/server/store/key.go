package store

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"slices"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/failpoint"
	"github.com/goatnote-inc/pawl/internal/server/store/db"
	"github.com/goatnote-inc/pawl/internal/server/store/pg"
)

// Scope is a permission of a key.
type Scope string

// The scopes.
const (
	ScopeRead       Scope = "read"
	ScopeReport     Scope = "report"      // may send reports of branches
	ScopeReportMain Scope = "report:main" // may send reports of the default branch
	ScopeAdmin      Scope = "admin"       // may do all that an admin of the project can
)

// Key describes an API key. It does not contain the key itself.
type Key struct {
	Project   int64      `json:"-"`
	ID        int64      `json:"id"`
	Prefix    string     `json:"prefix"` // the first characters, to identify the key
	Name      string     `json:"name"`
	Scopes    []Scope    `json:"scopes"`
	Created   time.Time  `json:"created"`
	CreatedBy string     `json:"created_by"`
	Expires   *time.Time `json:"expires,omitempty"`
	LastUsed  *time.Time `json:"last_used,omitempty"`
	Revoked   *time.Time `json:"revoked,omitempty"`
}

// Has reports whether the key has scope s.
func (k Key) Has(s Scope) bool { return slices.Contains(k.Scopes, s) }

// NewKey creates a key from a name, scopes, a creator and optionally an expiry. It returns the
// text of the key, which cannot be retrieved again.
func (s *Store) NewKey(ctx context.Context, project int64, k Key) (text string, kept Key, err error) {
	if len(k.Scopes) == 0 {
		return "", Key{}, &pg.InvalidError{What: "a key needs at least one scope: read, report, report:main or admin"}
	}
	scopes := make([]string, len(k.Scopes))
	for n, scope := range k.Scopes {
		if !slices.Contains([]Scope{ScopeRead, ScopeReport, ScopeReportMain, ScopeAdmin}, scope) {
			return "", Key{}, &pg.InvalidError{What: fmt.Sprintf("unknown scope %q (known: read, report, report:main, admin)", scope)}
		}
		scopes[n] = string(scope)
	}
	if err := s.room(ctx, project, countedKeys, s.bounds.Keys); err != nil {
		return "", Key{}, err
	}
	var secret [keyBytes]byte
	rand.Read(secret[:])
	text = writeKey(keyStart, project, secret)
	hash := sha256.Sum256([]byte(text))
	row, err := db.New(s.db.Of(project)).AddKey(ctx, db.AddKeyParams{
		ProjectID: project, Hash: hash[:], Prefix: prefixOf(text), Name: k.Name, Scopes: scopes,
		Created: s.db.Now(), CreatedBy: k.CreatedBy, Expires: k.Expires,
	})
	if err != nil {
		return "", Key{}, fmt.Errorf("cannot create a key of project %d: %w", project, pg.Input(err))
	}
	failpoint.At("key.kept")
	return text, keyOf(row), nil
}

// KeyByText returns the key with this text if it is valid now, or [ErrNotFound]. It records the use of
// the key, at most once a minute. A text that cannot be a key causes no query.
func (s *Store) KeyByText(ctx context.Context, text string) (Key, error) {
	project, ok := readKey(keyStart, text)
	if !ok {
		return Key{}, fmt.Errorf("API key: %w", ErrNotFound)
	}
	q := db.New(s.db.Of(project))
	rows, err := q.KeysByPrefix(ctx, db.KeysByPrefixParams{ProjectID: project, Prefix: prefixOf(text)})
	if err != nil {
		return Key{}, fmt.Errorf("cannot look up an API key: %w", err)
	}
	hash, now := sha256.Sum256([]byte(text)), s.db.Now()
	for _, row := range rows {
		if subtle.ConstantTimeCompare(row.Hash, hash[:]) != 1 {
			continue
		}
		if row.Revoked != nil || row.Expires != nil && !now.Before(*row.Expires) {
			break
		}
		if row.LastUsed == nil || !now.Before(row.LastUsed.Add(time.Minute)) {
			if err := q.UseKey(ctx, db.UseKeyParams{ProjectID: project, ID: row.ID, Now: now}); err != nil {
				return Key{}, fmt.Errorf("cannot record the use of key %d: %w", row.ID, err)
			}
		}
		return keyOf(row), nil
	}
	return Key{}, fmt.Errorf("API key: %w", ErrNotFound)
}

// Keys lists the keys of a project, newest first.
func (s *Store) Keys(ctx context.Context, project int64) ([]Key, error) {
	rows, err := db.New(s.db.Of(project)).Keys(ctx, project)
	return each(rows, keyOf), pg.Wrap(err, "cannot list the keys of project %d", project)
}

// RevokeKey ends a key immediately.
func (s *Store) RevokeKey(ctx context.Context, project, id int64) error {
	n, err := db.New(s.db.Of(project)).RevokeKey(ctx, db.RevokeKeyParams{ProjectID: project, ID: id, Now: s.db.Now()})
	return changed(n, err, "key", id)
}

func keyOf(row db.PawlApiKey) Key {
	k := Key{
		Project: row.ProjectID, ID: row.ID, Prefix: row.Prefix, Name: row.Name, Created: row.Created.UTC(), CreatedBy: row.CreatedBy,
		Expires: row.Expires, LastUsed: row.LastUsed, Revoked: row.Revoked,
	}
	for _, scope := range row.Scopes {
		k.Scopes = append(k.Scopes, Scope(scope))
	}
	return k
}
