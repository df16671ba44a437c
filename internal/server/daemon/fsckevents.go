package daemon

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/alert"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/store/fsck"
)

// checkEvents computes the events of a project from its points. It reports series whose stored events
// differ.
func checkEvents(ctx context.Context, s *store.Store, project int64) ([]fsck.Problem, error) {
	var problems []fsck.Problem
	for after := int64(0); ; {
		list, err := s.SeriesList(ctx, project, store.SeriesQuery{Lane: client.Main, After: after})
		if err != nil || len(list) == 0 {
			return problems, err
		}
		ids := make([]int64, len(list))
		for i, one := range list {
			ids[i] = one.ID
		}
		unlike, err := retryWhileBusy(ctx, func() ([]alert.Mismatch, error) { return alert.Check(ctx, s, project, ids) })
		if err != nil {
			return problems, err
		}
		for _, u := range unlike {
			problems = append(problems, fsck.Problem{
				Project: project, Kind: "event", What: fmt.Sprintf("the events of series %d do not match its points (%d would change, %d would be removed)", u.Series, u.Changed, u.Gone),
				Do: "Send any run of the series again, or wait for the next one: its scan corrects the events. If the problem stays, please report it.",
			})
		}
		after = ids[len(ids)-1]
	}
}

// retryWhileBusy retries while another scan of the project is running.
func retryWhileBusy[T any](ctx context.Context, do func() (T, error)) (T, error) {
	for {
		got, err := do()
		if !errors.Is(err, alert.ErrBusy) {
			return got, err
		}
		select {
		case <-ctx.Done():
			return got, ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}
