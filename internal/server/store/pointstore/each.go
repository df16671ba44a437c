package pointstore

import (
	"context"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/pointcodec"
)

// eachPoints is the maximum number of points per callback; their commits are read together.
const eachPoints = 4096

// EachOf calls do with all points of series and their commits, in chunks of one series. A chunk is valid
// only until do returns.
func (s *Store) EachOf(ctx context.Context, project int64, list []client.Series, do func(client.Series, []client.StoredPoint) error) error {
	ids := make([]int64, len(list))
	for i := range list {
		ids[i] = list[i].ID
	}
	var held []client.StoredPoint
	at := 0 // index of the series whose points are held
	hand := func() error {
		if len(held) == 0 {
			return nil
		}
		if err := s.nameCommits(ctx, project, list[at].ID, held, true); err != nil {
			return err
		}
		err := do(list[at], held)
		held = held[:0]
		return err
	}
	err := s.Walk(ctx, project, ids, func(series int64, p pointcodec.Point) error {
		if series != ids[at] || len(held) == eachPoints {
			if err := hand(); err != nil {
				return err
			}
			for ids[at] != series { // Walk preserves the order of ids
				at++
			}
		}
		held = append(held, Stored(p))
		return nil
	})
	if err != nil {
		return err
	}
	return hand()
}
