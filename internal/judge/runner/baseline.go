package runner

import (
	"context"
	"fmt"
	"slices"

	"github.com/goatnote-inc/pawl/internal/judge/loop"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/internal/kernel/device"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
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

// baselineComparer compares a run with the baselines, in addition to its base.
type baselineComparer struct {
	policy    ratchet.Policy
	baselines ratchet.Baselines
}

// change returns the evidence of the difference between base and candidate.
func change(run *measure.Run, base, candidate string) []ratchet.Evidence {
	return ratchet.Gather([]*measure.Run{run}, []*measure.Run{run}, base, candidate)
}

// looked turns a record into evidence for the loop.
func (y baselineComparer) looked(run *measure.Run, over bool) loop.Looked {
	l := loop.Looked{Change: change(run, suite.Base, suite.Candidate), Over: over}
	drift := change(run, BaselineSide, suite.Base)
	for _, e := range change(run, BaselineSide, suite.Candidate) {
		bed := ratchet.NewTestbed(run.Testbed, e.Timer)
		b, ok := y.of(e.Case.Name(), bed)
		switch side := sideOfCommit(run, b.Commit); {
		case !ok || !e.HasCandidate || e.Unchanged == measure.Skipped || e.Case.Metric != "" && !e.Reported:
		case side == BaselineSide:
			l.Drift, l.Gain = append(l.Drift, only(drift, e.Case)...), append(l.Gain, e)
		case side == suite.Base:
			l.Gain = append(l.Gain, only(l.Change, e.Case)...)
		case side == "" && b.Testbed.Key == bed.Key: // times of another testbed are no substitute
			if now, _, err := ratchet.SessionOf(run, e.Case.Name(), suite.Candidate); err == nil {
				l.Gain = append(l.Gain, b.AsBase(y.policy, e, now))
			}
		}
	}
	return l
}

// of returns the baseline of a case on a testbed, or the one that would be carried over to it.
func (y baselineComparer) of(name string, bed ratchet.Testbed) (ratchet.Baseline, bool) {
	if b, ok := y.baselines.Find(name, bed); ok {
		return b, true
	}
	return y.baselines.Nearest(name, bed)
}

// only returns the evidence of one case, if there is any.
func only(list []ratchet.Evidence, key measure.CaseKey) []ratchet.Evidence {
	i := slices.IndexFunc(list, func(e ratchet.Evidence) bool { return e.Case.Name() == key.Name() })
	if i < 0 {
		return nil
	}
	return list[i : i+1]
}

// sideOfCommit returns the side of a run that was built from exactly this commit.
func sideOfCommit(run *measure.Run, commit string) string {
	for _, im := range run.Implementations {
		own := im.Name == suite.Candidate || im.Name == suite.Base || im.Name == BaselineSide
		if own && im.Commit == commit && commit != "" && !im.Dirty {
			return im.Name
		}
	}
	return ""
}
