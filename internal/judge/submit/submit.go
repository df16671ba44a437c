package submit

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
)

// Stage is how far a submission goes. Each stage includes those before it.
type Stage string

// The stages.
const (
	Compile Stage = "compile" // build it
	Smoke   Stage = "smoke"   // and look for wrong results, smallest inputs first
	Quick   Stage = "quick"   // and race it for a few short rounds, also against the best so far
	Full    Stage = "full"    // and judge it as pawl run does
)

// Stages lists the stages in their order.
var Stages = []Stage{Compile, Smoke, Quick, Full}

// DefaultBudget is the time of a submission that sets none, in seconds, and maxBudget the max one.
const (
	DefaultBudget = 60
	maxBudget     = 24 * 3600
)

// refs is where the commits of attempts are kept.
const refs = "refs/pawl/attempts"

// redefined is why a candidate is refused that changes what defines the measurement.
const redefined = "it changes how it is measured"

// ErrUsage reports a submission that is not well-formed. Nothing is recorded of it. ErrSpent reports that there is no
// time left. ErrNoLaunch reports a suite that only trusted candidates can be judged with.
var (
	ErrUsage    = errors.New("invalid submission")
	ErrSpent    = errors.New("the budget for all attempts is used up")
	ErrNoLaunch = errors.New("add launch to every benchmark of the suite, or run `pawl submit grant --trust trusted` if you trust its candidates: pawl's launcher runs those that are not trusted")
)

// Submit judges one submission. The error says why pawl could not; the answer is then recorded with the status error.
func (g *Grant) Submit(ctx context.Context, s Submission) (Answer, error) {
	j, err := g.open(s)
	if err != nil {
		return Answer{}, err
	}
	ctx, j.clock = g.startClock(ctx, j.budget)
	defer j.clock.end()
	err = j.prepare(ctx)
	if err == nil && j.answer.Status == "" {
		err = j.judge(ctx)
	}
	if err != nil && errors.Is(context.Cause(ctx), errTimeUp) {
		j.timeUp()
		err = nil
	}
	return j.finish(ctx, err)
}

// job is one submission on its way.
type job struct {
	*Grant
	Submission
	attempt Attempt
	before  []Attempt // earlier attempts
	budget  time.Duration
	clock   *clock
	tree    *build.Worktree // the candidate; nil before it is checked out
	suite   *suite.Suite
	answer  Answer
	failure error // why pawl could not judge it, in a batch

	waited, worked time.Duration // in earlier steps of a batch
	raced          []float64     // how it compares with the base in each round of the batch's races so far
}

// open creates the attempt of a submission.
func (g *Grant) open(s Submission) (*job, error) {
	if s.Stage == "" {
		s.Stage = Full
	}
	if s.Budget == 0 {
		s.Budget = DefaultBudget
	}
	switch {
	case !slices.Contains(Stages, s.Stage):
		return nil, fmt.Errorf("%w: stage %q: must be compile, smoke, quick or full", ErrUsage, s.Stage)
	case !(s.Budget > 0):
		return nil, fmt.Errorf("%w: budget %v: must be a number of seconds above 0", ErrUsage, s.Budget)
	}
	s.Budget = min(s.Budget, maxBudget)
	before, err := g.Attempts()
	if err != nil {
		return nil, err
	}
	a, err := g.newAttempt()
	if err != nil {
		return nil, err
	}
	a.Record = Record{Created: g.Now().UTC(), Stage: s.Stage, Budget: s.Budget, Note: shorten(s.Note, maxNote)}
	j := &job{Grant: g, Submission: s, attempt: a, before: before, budget: time.Duration(s.Budget * float64(time.Second))}
	j.answer = Answer{ID: a.ID, Stage: s.Stage}
	if left, limited := g.left(before); limited {
		if j.budget = min(j.budget, left); left <= 0 {
			j.answer.Status, j.answer.Reason = Refused, fmt.Sprintf("the budget of %.0f s for all attempts is used up", g.Budget)
		}
	}
	return j, nil
}

// left returns what is left of the grant's budget, if it has one.
func (g *Grant) left(list []Attempt) (time.Duration, bool) {
	if g.Budget == 0 {
		return 0, false
	}
	return time.Duration(max(g.Budget-spent(list), 0) * float64(time.Second)), true
}

// prepare turns the submission into a commit and checks it out.
func (j *job) prepare(ctx context.Context) error {
	if j.answer.Status != "" {
		return j.record(nil)
	}
	list, err := j.changes(ctx, j.Submission)
	if why, ok := errors.AsType[*refusal](err); ok {
		j.refuse(why.reason, why.detail)
		return j.record(nil)
	}
	if err != nil {
		return errors.Join(err, j.record(nil))
	}
	commit, err := j.repo.CommitChanges(ctx, j.Base, refs, "pawl submit", list)
	if err != nil && ctx.Err() == nil {
		j.refuse("git does not accept these files", err.Error())
		return j.record(nil)
	}
	if err != nil {
		return errors.Join(err, j.record(nil))
	}
	j.attempt.Commit = commit
	for _, a := range j.before {
		if a.Commit == commit && j.answer.Same == "" {
			j.answer.Same = a.ID
		}
	}
	diff, err := j.repo.Diff(ctx, j.Base, commit)
	if err := errors.Join(err, j.record(diff)); err != nil {
		return err
	}
	if len(diff) == 0 {
		j.answer.Status = Identical
		return nil
	}
	if j.tree, err = j.repo.Checkout(ctx, commit); err != nil {
		return err
	}
	return j.checkDefinition(ctx, list)
}

func (j *job) refuse(reason, detail string) {
	j.answer.Status, j.answer.Reason, j.answer.Detail = Refused, reason, detail
}

// record saves the submission before anything is built.
func (j *job) record(diff []byte) error {
	j.attempt.Budget = j.budget.Seconds() // what is left may be less than what was asked for
	return errors.Join(j.attempt.write(diffFile, diff), j.attempt.writeJSON(submissionFile, j.attempt.Record))
}

// dir returns the folder of the suite in the candidate's tree.
func (j *job) dir() string { return filepath.Join(j.tree.Dir, filepath.FromSlash(j.inside)) }

// checkDefinition loads the suite and refuses a candidate that changes how it is measured. It may change its
// recipe.
func (j *job) checkDefinition(ctx context.Context, list []build.FileChange) error {
	own, err := suite.Load(filepath.Join(j.dir(), j.Suite))
	if _, known, _ := j.repo.File(ctx, j.Base, path.Join(j.inside, j.Suite)); err != nil && !known {
		return refuseName(j.Folder, "the base has no suite: commit the suite, remove the folder of attempts, and submit again")
	}
	if err != nil {
		j.refuse("its suite cannot be read", err.Error())
		return nil
	}
	j.suite = own
	changed, err := j.changedDefinition(list)
	if err != nil {
		return err
	}
	if len(changed) == 0 && j.touchesSuite(list) {
		if changed, err = j.changedKeys(ctx); err != nil {
			return err
		}
	}
	if len(changed) > 0 {
		j.refuse(redefined, strings.Join(changed, ", "))
		return nil
	}
	if name := withoutLaunch(own); name != "" && j.Trust == measure.Checked {
		j.refuse(ErrNoLaunch.Error(), name)
	}
	return nil
}

// withoutLaunch returns the name of a benchmark for which the suite does not say how to launch a candidate that is not
// trusted, or "" if there is none.
func withoutLaunch(s *suite.Suite) string {
	for _, b := range s.Benchmarks {
		if len(b.Configs) == 0 {
			continue
		}
		if l, err := b.Launch(b.Configs[0].Params); err == nil && l == nil {
			return b.Name
		}
	}
	return ""
}

// changedDefinition returns the changed files that the suite lists under definition.
func (j *job) changedDefinition(list []build.FileChange) ([]string, error) {
	files, err := build.Digests(j.dir(), j.suite.Definition)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, c := range list {
		name, err := filepath.Rel(j.inside, c.Path)
		if err != nil {
			continue
		}
		name = filepath.ToSlash(name)
		is := false
		for _, f := range files {
			is = is || f.Path == name
		}
		for _, glob := range j.suite.Definition { // a deleted file has no digest
			same, _ := filepath.Match(glob, name)
			is = is || c.Mode == "" && (same || strings.HasPrefix(name, strings.TrimSuffix(glob, "/")+"/"))
		}
		if is {
			names = append(names, name)
		}
	}
	return names, nil
}

// touchesSuite reports whether the suite file, or one that it extends, is among the changes.
func (j *job) touchesSuite(list []build.FileChange) bool {
	return slices.ContainsFunc(j.suite.Files, func(name string) bool {
		return slices.ContainsFunc(list, func(c build.FileChange) bool {
			return filepath.Clean(name) == filepath.Join(j.tree.Dir, filepath.FromSlash(c.Path))
		})
	})
}

// changedKeys returns the keys of the suite that belong to the definition and differ from the base's.
func (j *job) changedKeys(ctx context.Context) (keys []string, err error) {
	base, err := j.repo.Checkout(ctx, j.Base)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, base.Remove(ctx)) }()
	was, err := suite.Load(filepath.Join(base.Dir, filepath.FromSlash(j.inside), j.Suite))
	if err != nil {
		return nil, fmt.Errorf("the base has no valid suite: %w", err)
	}
	r := j.suite.RedefinitionOf(was)
	keys = r.Changed
	for _, c := range r.Missing {
		keys = append(keys, c.Name()+" is missing")
	}
	return keys, nil
}

// finish completes the answer and saves it.
func (j *job) finish(ctx context.Context, cause error) (Answer, error) {
	ctx = context.WithoutCancel(ctx)
	if j.tree != nil {
		cause = errors.Join(cause, j.tree.Remove(ctx))
	}
	if cause != nil {
		j.answer.Status, j.answer.Reason, j.answer.Detail = Failed, "pawl or the machine could not judge it", firstLine(cause.Error())
		if why, ok := errors.AsType[*refusal](cause); ok {
			j.answer.Reason, j.answer.Detail = why.reason, why.detail
		}
	}
	if j.tree != nil { // a temporary folder means nothing to the submitter
		j.answer.Detail = strings.ReplaceAll(j.answer.Detail, j.tree.Dir+"/", "")
	}
	waited, worked := j.waited, j.worked
	if j.clock != nil {
		w, k := j.clock.read()
		waited, worked = waited+w, worked+k
	}
	a := &j.answer
	a.Waited, a.Cost = number(waited.Seconds()), number(worked.Seconds())
	own := j.attempt
	own.Answer = a
	now, err := j.Attempts() // others may have finished meanwhile
	if err != nil {
		now = j.before
	}
	now = append(slices.DeleteFunc(now, func(other Attempt) bool { return other.ID == own.ID }), own)
	winner, speedup := best(now)
	a.Best, a.BestSpeedup = winner.ID, number(speedup)
	if left, limited := j.left(now); limited {
		seconds := number(left.Seconds())
		a.Left = &seconds
	}
	text, err := a.Encode()
	return *a, errors.Join(cause, err, j.attempt.write(answerFile, text))
}

func firstLine(text string) string {
	first, _, _ := strings.Cut(text, "\n")
	return first
}
