package fleetstore

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/internal/server/store/pg"
)

// Silent is a part of a gate that has not ended and was not changed for long, so that its workflow may be lost.
type Silent struct {
	ProjectID int64
	Project   string
	Gate      string
	Model     string
	Changed   time.Time
}

// Silent returns parts of gates that no workflow has touched since the time unstarted, and those that were not changed since the
// time old. Row security requires a query per project; many queries share one round trip.
func (s *Store) Silent(ctx context.Context, unstarted, old time.Time) (list []Silent, err error) {
	ids, err := s.db.Projects(ctx, 0)
	if err != nil {
		return nil, err
	}
	for some := range slices.Chunk(ids, 500) {
		b := &pgx.Batch{}
		found := make([][]Silent, len(some))
		for i, id := range some {
			b.Queue(pg.SelectProject, strconv.FormatInt(id, 10))
			// The first thing that a workflow does is to raise the attempt.
			pg.Queue(b, pgx.RowToStructByPos[Silent], &found[i], `select p.id, p.slug, g.id, g.model, g.changed from pawl.gate g join pawl.project p on p.id = g.project_id
				where g.project_id = $1 and g.state in ('waiting', 'measuring') and (g.attempt = 0 and g.changed < $2 or g.changed < $3)
				order by g.changed, g.id, g.model limit `+pg.Limit(0), id, unstarted, old)
		}
		if err := s.db.Pool.SendBatch(ctx, b).Close(); err != nil {
			return nil, pg.Wrap(err, "cannot look for lost gates in %d projects", len(some))
		}
		list = append(list, slices.Concat(found...)...)
	}
	return list, nil
}

// EndSilent ends a part of a gate as failed, unless it was changed meanwhile. A workflow that starts later opens it again.
func (s *Store) EndSilent(ctx context.Context, p Silent, reason string) error {
	_, err := s.db.Of(p.ProjectID).Exec(ctx, `update pawl.gate set state = 'failed', reason = $5, changed = $6
		where project_id = $1 and id = $2 and model = $3 and changed = $4 and state in ('waiting', 'measuring')`,
		p.ProjectID, p.Gate, p.Model, p.Changed, cut(reason), s.db.Now())
	return pg.Wrap(pg.Input(err), "cannot end gate %s", p.Gate)
}
