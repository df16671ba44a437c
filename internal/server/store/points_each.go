package store

import (
	"context"
	"fmt"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/pointcodec"
)

// eachPoints is the maximum number of points per callback; their commits are read together.
const eachPoints = 4096

// EachPoint calls do with all points of a project and their commits, series by series in id order,
// in chunks of one series. A chunk is valid only until do returns. Memory use does not grow with
// the number of points. Points that arrive meanwhile may be missing.
func (s *Store) EachPoint(ctx context.Context, project int64, do func(client.Series, []client.StoredPoint) error) error {
	for after := int64(0); ; {
		list, err := s.SeriesList(ctx, project, SeriesQuery{After: after})
		if err != nil || len(list) == 0 {
			return err
		}
		if err := s.pointsOfEach(ctx, project, list, do); err != nil {
			return fmt.Errorf("cannot read the points of project %d: %w", project, err)
		}
		after = list[len(list)-1].ID
	}
}

func (s *Store) pointsOfEach(ctx context.Context, project int64, list []client.Series, do func(client.Series, []client.StoredPoint) error) error {
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
	err := s.walk(ctx, project, ids, func(series int64, p pointcodec.Point) error {
		if series != ids[at] || len(held) == eachPoints {
			if err := hand(); err != nil {
				return err
			}
			for ids[at] != series { // walk preserves the order of ids
				at++
			}
		}
		held = append(held, keptOf(p))
		return nil
	})
	if err != nil {
		return err
	}
	return hand()
}
