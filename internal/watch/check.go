package watch

import (
	"context"
	"slices"
)

// Unlike is a series whose events are not those that its points give.
type Unlike struct {
	Series        int64
	Changed, Gone int // events that a look would write, and take away
}

// Check computes the events of series from nothing but their points, and names those for
// which others are kept. Series with points that nobody looked at yet are left out.
// Nothing is changed. ErrBusy where somebody looks at the project.
func Check(ctx context.Context, s Store, project int64, series []int64) ([]Unlike, error) {
	var list []Unlike
	err := s.Looking(ctx, project, func(d Desk) error {
		list = nil
		for some := range slices.Chunk(series, seriesAtOnce) {
			histories, err := d.Histories(ctx, some)
			if err != nil {
				return err
			}
			fresh := histories[:0]
			for _, h := range histories {
				if h.Damaged != nil || len(h.Points) == 0 || h.Known.Points != len(h.Points) || !h.Known.Last.Equal(h.Points[len(h.Points)-1].At) {
					continue
				}
				h.Known.State = nil // as if it had never been looked at
				fresh = append(fresh, h)
			}
			outcomes, _, err := examine(ctx, d, fresh, &moved{})
			if err != nil {
				return err
			}
			for _, o := range outcomes {
				if len(o.Changed)+len(o.Gone) > 0 {
					list = append(list, Unlike{o.Series, len(o.Changed), len(o.Gone)})
				}
			}
		}
		return nil
	})
	return list, err
}
