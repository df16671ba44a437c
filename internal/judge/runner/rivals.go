package runner

import (
	"context"
	"strconv"

	"github.com/goatnote-inc/pawl/internal/judge/trial"
)

// RivalSide returns the name of the side of a rival, by its index in Options.Rivals.
func RivalSide(i int) string { return "rival-" + strconv.Itoa(i+1) }

// rivals checks out the rivals.
func (r *Setup) rivals(ctx context.Context) ([]side, error) {
	var list []side
	for i, commit := range r.Rivals {
		s, err := r.checkout(ctx, RivalSide(i), commit)
		if err != nil {
			return nil, err
		}
		if s.own == nil {
			return nil, &trial.SideError{Side: s.name, Err: s.ownErr}
		}
		if err := r.setSideSuite(&s); err != nil {
			return nil, &trial.SideError{Side: s.name, Err: err}
		}
		list = append(list, s)
	}
	return list, nil
}
