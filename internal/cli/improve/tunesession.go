package improve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/internal/cli/progress"
	"github.com/goatnote-inc/pawl/internal/judge/ledger"
	"github.com/goatnote-inc/pawl/internal/judge/runner"
	"github.com/goatnote-inc/pawl/internal/judge/tuning"
	"github.com/goatnote-inc/pawl/internal/tune"
)

// tuneSession is a running search with its proof.
type tuneSession struct {
	*tuneFlags
	bench runner.Options
	what  tuning.Options
	total time.Duration // time for search and proof; 0 for no limit
	began time.Time
}

// How much time a proof gets.
const (
	proofDivisor     = 4               // divisor: the proof gets a quarter of the budget
	maxProofTime     = 5 * time.Minute // maximum; also used without a budget
	maxProofFuzzTime = 20 * time.Second
)

func (f *tuneFlags) session(o runner.Options, args []string) *tuneSession {
	t := &tuneSession{tuneFlags: f, bench: o, began: time.Now()}
	if !f.IsSet("evals") || f.IsSet("budget") {
		t.total = f.Budget
	}
	f.dir = cmp.Or(f.dir, filepath.Join(o.Dir, "tuning"))
	t.what = tuning.Options{
		Strategy: f.strategy, Evals: f.evals, Resume: f.resume, WarmStart: f.warmStart, Jobs: f.jobs,
		Journal: filepath.Join(f.dir, "journal.jsonl"),
	}
	if t.total > 0 {
		t.what.Budget = t.total - t.proofTime(0)
	}
	if len(args) > 0 {
		t.what.Case = args[0]
	}
	return t
}

// proofTime returns the time reserved for the proof, or, after the search, the time left for it.
func (t *tuneSession) proofTime(elapsed time.Duration) time.Duration {
	switch {
	case t.noProof:
		return 0
	case t.total == 0:
		return maxProofTime
	case elapsed > 0:
		return max(time.Second, t.total-elapsed)
	default:
		return min(t.total/proofDivisor, maxProofTime)
	}
}

func (t *tuneSession) run(ctx context.Context) error {
	progress := progress.New(t.Env, t.JSON)
	o := t.bench
	o.Emit = progress.Event
	r, err := tuning.Search(ctx, o, t.what)
	if r == nil || len(r.Evaluations) == 0 {
		progress.Close()
		return t.explain(ctx, r, err)
	}
	r.Command = t.command(r.Header.Case)
	switch {
	case err != nil:
		r.Unproven = "the search did not finish"
	case t.noProof:
		r.Unproven = "--no-proof is set"
	default:
		err = t.prove(ctx, o, r)
	}
	progress.Close()
	err = t.explain(ctx, r, err)
	t.Record(r)
	if shown := t.show(r); shown != nil || err != nil {
		return errors.Join(err, shown)
	}
	if r.Proof != nil && r.Proof.Answer == tune.Inconclusive {
		return command.Exit(command.ExitNoAnswer, fmt.Errorf("no answer: run `%s --evals %d` to measure the finalists again; a larger --budget gives them more rounds", t.resumeCommand(), len(r.Evaluations)))
	}
	return nil
}

// prove measures the best few against the defaults.
func (t *tuneSession) prove(ctx context.Context, o runner.Options, r *tune.Report) error {
	what := tuning.ProofOptions{Budget: t.proofTime(time.Since(t.began))}
	what.Fuzz = min(what.Budget/10, maxProofFuzzTime)
	if s := t.bench.Suite; s.Baseline.Keep != "none" {
		l, err := ledger.Open(ctx, env.LedgerLocation(s.Baseline, o.Dir))
		if err != nil {
			return err
		}
		what.Ledger = l
	}
	proof, err := tuning.Prove(ctx, o, r, what)
	if r.Proof = proof; err != nil {
		r.Proof, r.Unproven = nil, "the proof did not finish: "+firstLineOf(err)
	}
	return err
}

func firstLineOf(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// command returns the command that repeats the search.
func (t *tuneSession) command(name string) string {
	words := []string{"pawl", "tune", name}
	if t.what.Evals > 0 {
		words = append(words, "--evals", fmt.Sprint(t.what.Evals))
	}
	if t.total > 0 {
		words = append(words, "--budget", t.total.String())
	}
	if t.strategy != "auto" {
		words = append(words, "--strategy", t.strategy)
	}
	for _, file := range t.warmStart {
		words = append(words, "--warm-start", file)
	}
	if t.Suite != "" {
		words = append(words, "--suite", t.Suite)
	}
	return strings.Join(append(words, "--seed", fmt.Sprint(t.bench.Seed)), " ")
}

// resumeCommand returns the command that resumes the search.
func (t *tuneSession) resumeCommand() string {
	words := []string{"pawl", "tune"}
	if t.what.Case != "" {
		words = append(words, t.what.Case)
	}
	if t.IsSet("out") {
		words = append(words, "--out", t.dir)
	}
	if t.Suite != "" {
		words = append(words, "--suite", t.Suite)
	}
	return strings.Join(append(words, "--resume"), " ")
}

// explain replaces the error of an interrupted search by one that says what was kept.
func (t *tuneSession) explain(ctx context.Context, found *tune.Report, err error) error {
	if err == nil || !errors.Is(context.Cause(ctx), command.ErrInterrupted) {
		return err
	}
	if found == nil || len(found.Evaluations) == 0 {
		return fmt.Errorf("%w before the first evaluation was done: nothing was saved", command.ErrInterrupted)
	}
	return fmt.Errorf("%w after %s, all saved in %s\n  run `%s` to continue", command.ErrInterrupted,
		words.Plural(len(found.Evaluations), "evaluation"), found.Journal, t.resumeCommand())
}
