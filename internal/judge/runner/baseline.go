package runner

import (
	"context"
	"fmt"

	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/internal/kernel/device"
)

// BaselineSide is the name of the side built from the baseline's commit, if that commit is neither
// the candidate's nor the base's.
const BaselineSide = "baseline"

// baseline checks out the baseline's commit. If that fails, it reports a notice and the change is
// judged against its base only.
func (r *Setup) baseline(ctx context.Context, base string) (side, bool) {
	if r.Baseline == nil {
		return side{}, false
	}
	commit := r.Baseline(r.Device())
	if commit == "" || commit == base {
		return side{}, false
	}
	if repo, err := build.Open(ctx, r.Dir); err == nil {
		if head, dirty, err := repo.Head(ctx); err == nil && head == commit && !dirty {
			return side{}, false // the candidate itself
		}
	}
	s, err := r.checkout(ctx, BaselineSide, commit)
	if err == nil && s.own == nil {
		err = s.ownErr // with another commit's recipe it would not be that commit
	}
	if err == nil {
		s.overlay, err = r.changedDefinitionFiles(s)
	}
	if err != nil {
		r.without(commit, err)
		return side{}, false
	}
	return s, true
}

func (r *Setup) without(commit string, err error) {
	r.Notice(device.Notice{
		Code:    "baseline",
		Message: fmt.Sprintf("the baseline's commit %.12s is not measured again: %v", commit, err),
	})
}
