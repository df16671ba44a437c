package store

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/internal/server/store/pg"
)

// Link describes a public link to the history of one series. It does not contain the text of the link.
type Link struct {
	Project   int64      `json:"-"`
	ID        int64      `json:"id"`
	Prefix    string     `json:"prefix"` // the first characters, to identify the link
	Series    int64      `json:"series"`
	Name      string     `json:"name"`
	Created   time.Time  `json:"created"`
	CreatedBy string     `json:"created_by"`
	Expires   time.Time  `json:"expires"`
	Revoked   *time.Time `json:"revoked,omitempty"`
}

// Limits of links: how many of a project can work at a time, and for how long.
const (
	mostLinks   = 100
	MaxLinkLife = 366 * 24 * time.Hour
)

// NewLink creates a link from a series, a name, a creator and an expiry. It returns the text of the link, which cannot be
// retrieved again.
func (s *Store) NewLink(ctx context.Context, project int64, k Link) (text string, kept Link, err error) {
	now := s.db.Now()
	switch {
	case k.Name == "" || len(k.Name) > 100:
		return "", Link{}, &pg.InvalidError{What: "a link needs a name of 1 to 100 bytes that says for whom it is"}
	case !k.Expires.After(now) || k.Expires.After(now.Add(MaxLinkLife)):
		return "", Link{}, &pg.InvalidError{What: "a link must expire in the future, at most 366 days from now"}
	}
	if _, err := s.SeriesByID(ctx, project, k.Series); err != nil {
		return "", Link{}, err
	}
	if err := s.room(ctx, project, countedLinks, mostLinks); err != nil {
		return "", Link{}, err
	}
	var secret [keyBytes]byte
	rand.Read(secret[:])
	text = writeKey(linkStart, project, secret)
	hash := sha256.Sum256([]byte(text))
	kept = Link{Project: project, Prefix: prefixOf(text), Series: k.Series, Name: sanitizeText(k.Name), Created: now.UTC(), CreatedBy: k.CreatedBy, Expires: k.Expires.UTC()}
	err = s.db.Of(project).QueryRow(ctx, `insert into pawl.link (project_id, hash, prefix, series_id, name, created, created_by, expires)
		values ($1, $2, $3, $4, $5, $6, $7, $8) returning id`, project, hash[:], kept.Prefix, kept.Series, kept.Name, now, kept.CreatedBy, kept.Expires).Scan(&kept.ID)
	return text, kept, pg.Wrap(pg.Input(err), "cannot create a link of project %d", project)
}

const linkColumns = `id, prefix, series_id, name, created, created_by, expires, revoked`

func (k *Link) targets() []any {
	return []any{&k.ID, &k.Prefix, &k.Series, &k.Name, &k.Created, &k.CreatedBy, &k.Expires, &k.Revoked}
}

// LinkByText returns the link with this text if it is valid now, or [ErrNotFound]. A text that cannot be a link causes no query.
func (s *Store) LinkByText(ctx context.Context, text string) (Link, error) {
	project, ok := readKey(linkStart, text)
	if !ok {
		return Link{}, fmt.Errorf("public link: %w", ErrNotFound)
	}
	type row struct {
		Link
		hash []byte
	}
	rows, err := pg.List(ctx, s.db, project, func(r pgx.CollectableRow) (one row, err error) {
		err = r.Scan(append(one.targets(), &one.hash)...)
		return one, err
	}, `select `+linkColumns+`, hash from pawl.link where project_id = $1 and prefix = $2 limit 16`, project, prefixOf(text))
	if err != nil {
		return Link{}, fmt.Errorf("cannot look up a public link: %w", err)
	}
	hash, now := sha256.Sum256([]byte(text)), s.db.Now()
	for _, r := range rows {
		if subtle.ConstantTimeCompare(r.hash, hash[:]) == 1 && r.Revoked == nil && now.Before(r.Expires) {
			r.Project = project
			return r.Link, nil
		}
	}
	return Link{}, fmt.Errorf("public link: %w", ErrNotFound)
}

// Links lists the links of a project, newest first.
func (s *Store) Links(ctx context.Context, project int64) ([]Link, error) {
	list, err := pg.List(ctx, s.db, project, func(r pgx.CollectableRow) (k Link, err error) {
		err = r.Scan(k.targets()...)
		k.Project, k.Created, k.Expires = project, k.Created.UTC(), k.Expires.UTC()
		return k, err
	}, `select `+linkColumns+` from pawl.link where project_id = $1 order by id desc limit 1000`, project)
	return list, pg.Wrap(err, "cannot list the links of project %d", project)
}

// RevokeLink ends a link immediately.
func (s *Store) RevokeLink(ctx context.Context, project, id int64) error {
	tag, err := s.db.Of(project).Exec(ctx, `update pawl.link set revoked = coalesce(revoked, $3) where project_id = $1 and id = $2`, project, id, s.db.Now())
	return changed(tag.RowsAffected(), err, "link", id)
}
