package alert

import "context"

// Mismatch is a series whose stored events differ from those that its points give.
type Mismatch struct {
	Series        int64
	Changed, Gone int // events that a scan would write and delete
}

// Check computes the events of series from their points alone and returns the series whose stored events
// differ. It skips series with points that were not scanned yet. It changes nothing. It returns ErrBusy
// if the project is being scanned.
func Check(ctx context.Context, s Store, project int64, series []int64) ([]Mismatch, error) {
	var list []Mismatch
	err := s.WithScanLock(ctx, project, func(d ScanTx) error {
		list = nil
		for histories, err := range d.Histories(ctx, series) {
			if err != nil {
				return err
			}
			fresh := histories[:0]
			for _, h := range histories {
				if h.Damaged != nil || len(h.Points) == 0 || h.Known.Version == 0 || h.Known.Points != len(h.Points) || !h.Known.Last.Equal(h.Points[len(h.Points)-1].At) {
					continue
				}
				h.Known.State = nil // as if it had never been scanned
				fresh = append(fresh, h)
			}
			outcomes, _, err := examine(ctx, d, fresh, &regroupPlan{})
			if err != nil {
				return err
			}
			for _, o := range outcomes {
				if len(o.Changed)+len(o.Gone) > 0 {
					list = append(list, Mismatch{o.Series, len(o.Changed), len(o.Gone)})
				}
			}
		}
		return nil
	})
	return list, err
}
