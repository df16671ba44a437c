package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"syscall"

	"github.com/goatnote-inc/pawl/internal/base/disk"
	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/judge/seal"
	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/internal/kernel/device"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/stats"
)

// ResumeOptions describe how a gate survives the death of its process.
type ResumeOptions struct {
	Allow    bool // seal the journal, and keep it until the gate ends, so that another process can continue
	Continue bool // continue an unfinished run of the same question, if there is one; requires Allow
	AnySeed  bool // then use the seed of that run

	terms string // digest of the policy and the baselines of the gate
}

// findPast looks for an unfinished run. One whose journal cannot be trusted is moved aside. Whether it has the
// same question is known only after the builds.
func (r *Setup) findPast() error {
	journal := measure.JournalPath(r.Out)
	past, err := seal.ReadPast(journal)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, seal.ErrNone):
		return r.forgetPast(err.Error())
	case err != nil:
		return r.moveAside(journal, err)
	case len(past.Rounds) == 0:
		return errors.Join(past.Close(), r.recover())
	}
	r.past = past
	r.AtEnd(func(context.Context) error {
		if r.past != past || r.journal != nil { // given up, or continued
			return nil
		}
		return past.Close()
	})
	if r.Resume.AnySeed {
		r.Seed = past.Plan.Seed
	}
	return nil
}

// moveAside moves a journal that cannot be trusted out of the way. No record is made of it.
func (r *Setup) moveAside(journal string, why error) error {
	path := r.interrupted(".refused")
	if err := os.Rename(journal, path); err != nil {
		return fmt.Errorf("cannot move %s aside: %w", journal, err)
	}
	r.Emit(NotResumed{Why: why.Error(), Path: path})
	return seal.Remove(journal)
}

// forgetPast gives up an unfinished run with another question. Its rounds are saved as those of any crashed run.
func (r *Setup) forgetPast(why string) error {
	var err error
	if r.past != nil {
		err = r.past.Close()
	}
	r.past = nil
	r.Emit(NotResumed{Why: why})
	return errors.Join(err, r.recover())
}

// openJournal continues the journal of an unfinished run, or starts a new one.
func (r *Setup) openJournal(ctx context.Context) error {
	var q seal.Question
	var err error
	if r.Resume.Allow {
		if q, err = r.question(ctx); err != nil {
			return err
		}
	}
	if r.past != nil {
		why, err := r.differs(q)
		if err != nil {
			return err
		}
		if why == "" {
			return r.resume()
		}
		if err := r.forgetPast(why); err != nil {
			return err
		}
	}
	if err := r.setAside(); err != nil {
		return err
	}
	journal := measure.JournalPath(r.Out)
	r.journal, err = measure.CreateJournal(journal, r.header, r.startSeal(journal, q))
	return err
}

// startSeal starts the seal of a new journal, if the run can be resumed. The run needs it only if it is killed, so an
// error does not end it.
func (r *Setup) startSeal(journal string, q seal.Question) measure.Seal {
	if !r.Resume.Allow {
		_ = seal.Remove(journal) // that of an earlier gate would not fit
		return nil
	}
	s, err := seal.Create(journal, q)
	if err != nil {
		r.Notice(device.Notice{Code: "seal", Message: fmt.Sprintf("this run cannot be resumed after a crash: %v", err)})
		return nil
	}
	r.seal = s
	r.AtEnd(func(context.Context) error { return s.Close() })
	return s.Add
}

// question returns what the run depends on beyond its header.
func (r *Setup) question(ctx context.Context) (seal.Question, error) {
	repo, inside, err := r.base(ctx)
	if err != nil {
		return seal.Question{}, err
	}
	tree, err := repo.Snapshot(ctx, r.leftByRuns(ctx, repo, inside))
	return seal.Question{Tree: tree, Terms: r.Resume.terms}, err
}

// resume continues the journal of the unfinished run. Its header stays: the run is the same.
func (r *Setup) resume() error {
	past := r.past
	r.header, r.seal = past.Header, past.Seal
	r.loads.files = past.Loaded
	if r.plain() { // the command listed its cases in its first round
		r.declared = seal.WithoutRounds(past.Cases)
	} else {
		r.declared = append(r.declared, reportedCases(past.Cases)...)
		r.reported.note(past.Cases)
	}
	w := measure.Warning{Code: "resumed", Message: fmt.Sprintf("the run was interrupted and resumed: an earlier process measured its first %s", words.Plural(len(past.Rounds), "round"))}
	r.ending.Warnings = append(r.ending.Warnings, w)
	for _, suffix := range []string{"", ".zst"} { // made of the same journal, which now grows
		if err := os.Remove(r.Out + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("cannot replace the record of the interrupted run: %w", err)
		}
	}
	var err error
	if r.journal, err = measure.ResumeJournal(past.File, past.Size, past.Run, w, past.Seal.Add); err != nil {
		return err
	}
	r.AtEnd(func(context.Context) error { return past.Seal.Close() })
	r.Emit(Resumed{Run: r.header.ID, Rounds: len(past.Rounds)})
	return nil
}

// reportedCases returns the metrics that a harness reported, without their rounds. They are known only after a round.
func reportedCases(cases []measure.Case) []measure.Case {
	return slices.DeleteFunc(seal.WithoutRounds(cases), func(c measure.Case) bool { return !c.Reported })
}

// pastRounds returns the finished rounds of an unfinished run.
func (r *Setup) pastRounds() []trial.PastRound {
	if r.past == nil {
		return nil
	}
	results := map[int][]measure.Result{}
	for _, c := range r.past.Cases {
		for _, cr := range c.Rounds {
			results[cr.Round] = append(results[cr.Round], measure.Result{Case: c.CaseKey, Round: cr})
		}
	}
	var list []trial.PastRound
	for _, round := range r.past.Rounds {
		list = append(list, trial.PastRound{Round: round, Results: results[round.Index]})
	}
	return list
}

// firstRound returns the index of the first round that this process measures.
func (r *Setup) firstRound() int {
	if r.past == nil {
		return 0
	}
	return len(r.past.Rounds)
}

// replayed adds a past round to what Decide gets. The journal has it already.
func (r *Setup) replayed(p trial.PastRound) {
	r.recorded++
	r.reported.mark(p.Results)
	if r.Decide != nil {
		r.see(p.Round, p.Results)
	}
}

// openedBefore takes the calibration at the start of the unfinished run, so that the one at the end shows whether the
// machine changed in between.
func (r *Setup) openedBefore() {
	for _, c := range r.past.Calibration {
		if c.When == "open" {
			r.opened = stats.Median(c.Samples)
		}
	}
}

// checkSeal returns an error if something else wrote to the journal of this run, and moves the journal aside.
func (r *Setup) checkSeal() error {
	if r.seal == nil {
		return nil
	}
	journal := measure.JournalPath(r.Out)
	f, err := disk.OpenNoLink(journal, os.O_RDONLY)
	if err != nil {
		return fmt.Errorf("cannot finish the run record: %w", err)
	}
	defer f.Close()
	_, whole, err := r.seal.Verify(f)
	if err == nil && !whole {
		err = fmt.Errorf("%w: its last line is missing", seal.ErrChanged)
	}
	if err != nil {
		path := r.interrupted(".refused")
		return errors.Join(fmt.Errorf("%s: %w, while the run was measured: no record is made of it, and it is now %s", journal, err, path), os.Rename(journal, path), seal.Remove(journal))
	}
	return nil
}

// removeJournal removes the journal and the seal of a run whose gate has ended, unless another process of pawl now
// writes a record there.
func removeJournal(out, run string) error {
	journal := measure.JournalPath(out)
	lock, err := openLock(out)
	if err != nil {
		return err
	}
	defer lock.Close()
	if syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil || runID(journal) != run {
		return nil
	}
	return errors.Join(os.Remove(journal), seal.Remove(journal))
}

// runID returns the ID of the run in a file; empty if it cannot be read.
func runID(path string) string {
	run, err := measure.ScanFile(path, func(*measure.Case, measure.CaseRound) error { return nil })
	if err != nil {
		return ""
	}
	return run.ID
}

// differs returns how the question of this run differs from that of the unfinished one; empty if it does not.
func (r *Setup) differs(q seal.Question) (string, error) {
	if r.ID != "" && r.ID != r.past.ID {
		return fmt.Sprintf("the ID of the run was %q and is %q", r.past.ID, r.ID), nil
	}
	cases, err := r.casesNow()
	if err != nil {
		return "", err
	}
	return r.past.Differs(r.header, cases, q)
}

// casesNow returns the cases as this run would declare them. A plain command lists its cases only when it
// runs, so for it they are the past ones, as defined and timed now.
func (r *Setup) casesNow() ([]measure.Case, error) {
	cases := append(seal.WithoutRounds(r.declared), reportedCases(r.past.Cases)...)
	if r.plain() {
		cases = seal.WithoutRounds(r.past.Cases)
	}
	r.applyQuarantine(cases)
	return cases, r.addComparability(cases)
}
