package runner

import (
	"context"

	"github.com/goatnote-inc/pawl/internal/judge/loop"
)

// explain profiles the cases that changed. It only explains: its errors are
// reported and do not affect the verdict.
func (d *driver) explain(ctx context.Context, a loop.Profile) (loop.Outcome, error) {
	o := d.Options
	o.Names, o.ForceMeasure = a.Cases, true
	whys, err := Profile(ctx, o, ProfileOptions{Time: d.Explain, Last: d.Run})
	d.Whys = whys
	switch {
	case ctx.Err() != nil:
		return nil, err
	case err != nil:
		d.Whys = append(d.Whys, Explanation{Case: a.Cases[0], Err: err})
	}
	return loop.Finished{}, nil
}
