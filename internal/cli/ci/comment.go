package ci

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/forge/comment"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
)

// commentFlags are the flags of pawl ci comment.
type commentFlags struct {
	*env.Env
	suite, name      string
	results          string
	run              int64
	start, untouched bool
	repo, sha        string
	pull             int
	workflow         string
	dryRun, quiet    bool
	fail, json       bool
}

func newComment(g *env.Env) *cobra.Command {
	f := commentFlags{Env: g}
	cmd := &cobra.Command{
		Use:   "comment",
		Short: "Publish the results of a run on its pull request: one report, one check",
		Long: `Publishes the results of pawl run on GitHub: a section of the report on the pull request,
and the check "pawl" on its head commit. It runs where no code of the change runs: in a
checkout of the base, with a token that may write.

The results are treated as untrusted. The verdict is computed again from the samples, with
the policy, the gate and the quarantines of the suite in this folder. The pull request and
the commit come from GitHub, never from the results. Results that a fork measured are
labeled, and their check is neutral, never green.

In GitHub Actions the repository, the pull request and the commit are found automatically.
Without flags the event decides what to do: publish a run of the gate that started or
ended (workflow_run), or apply a comment that accepts a regression (issue_comment).

Exit code: 0 published, whatever the conclusion, or nothing to publish; 1 with --fail if
the check failed; 3 if GitHub refuses.`,
		Example: `  pawl ci comment --start                  # mark the check as in progress
  pawl ci comment --results results        # the results of pawl run --out results
  pawl ci comment --from-run 123456789     # the artifact of another workflow run
  pawl ci comment --results results --pull 7 --dry-run`,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.main(cmd.Context()) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.results, "results", "", "publish the results in this `folder`")
	fl.Int64Var(&f.run, "from-run", 0, "publish the artifact of the workflow run with this `ID`")
	fl.BoolVar(&f.start, "start", false, "report that measuring has started")
	fl.BoolVar(&f.untouched, "untouched", false, "report that the change touches no kernel")
	fl.StringVarP(&f.suite, "suite", "f", "", "suite `file` of the base (default pawl.yaml)")
	fl.StringVar(&f.name, "name", "", "name of the suite in the check, if a repository has several: pawl / `NAME`")
	fl.StringVar(&f.repo, "repo", "", "`OWNER/NAME` (default: from the workflow)")
	fl.IntVar(&f.pull, "pull", 0, "`number` of the pull request (default: from the event)")
	fl.StringVar(&f.sha, "sha", "", "head `commit` (default: from the event or the pull request)")
	fl.StringVar(&f.workflow, "workflow", gateWorkflow, "`file` of the gate's workflow; runs of other workflows are refused")
	fl.BoolVar(&f.quiet, "quiet", false, "do not start a report if nothing changed")
	fl.BoolVar(&f.dryRun, "dry-run", false, "print what would be written, but write nothing")
	fl.BoolVar(&f.fail, "fail", false, "exit with 1 if the check failed")
	fl.BoolVar(&f.json, "json", false, "what was published as JSON on stdout")
	return cmd
}

// gateWorkflow is the path to which pawl init --github writes the gate.
const gateWorkflow = ".github/workflows/pawl-gate.yml"

// commentMemoryLimit limits the memory that publishing may use. Untrusted results can be as large as the
// limits allow, and the runner has other work.
const commentMemoryLimit = 160 << 20

func (f *commentFlags) main(ctx context.Context) error {
	if f.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(commentMemoryLimit)
	}
	modes := 0
	for _, named := range []bool{f.results != "", f.run != 0, f.start, f.untouched} {
		if named {
			modes++
		}
	}
	if modes > 1 {
		return command.Usage(errors.New("--results, --from-run, --start and --untouched cannot be combined"))
	}
	p, err := f.publisher()
	if err == nil {
		err = p.publish(ctx)
	}
	if nothing, ok := errors.AsType[skippedError](err); ok {
		err = p.print(published{Skipped: nothing.Error()})
	}
	if err != nil {
		return logSafeError{err}
	}
	return nil
}

// skippedError says why nothing is published. It is not a failure.
type skippedError struct{ error }

func skipped(format string, args ...any) error { return skippedError{fmt.Errorf(format, args...)} }

// publisher is one invocation of pawl ci comment.
type publisher struct {
	*commentFlags
	forge forge.Client
	job   *forge.Job
	repo  forge.Repo
	base  *suite.Suite // suite of this checkout; nil if the base has none yet
	path  string       // path of its file
	now   time.Time

	offline bool // a dry run without a token: the forge is not called
}

func (p *publisher) publish(ctx context.Context) error {
	t, err := p.target(ctx)
	if err != nil {
		return err
	}
	url := t.runURL
	switch {
	case p.start, t.running:
		return p.post(ctx, t, comment.Notice{Check: comment.Started(p.name, t.sha, url, p.now)})
	case p.untouched:
		check := comment.Unaffected(p.name, t.sha)
		check.URL = url
		return p.post(ctx, t, comment.Notice{Check: check, Summary: check.Summary})
	}
	in := comment.Input{
		SHA: t.sha, Suite: p.name, Fork: t.fork, Now: p.now,
		Links: comment.Links{Run: url, Help: command.DocsFolder + env.CommentPage},
	}
	if err := p.readResults(ctx, &t, &in); err != nil {
		return err
	}
	in.Gate.Quiet = in.Gate.Quiet || p.quiet
	if !p.offline {
		in.Cost = latestCostSummary(ctx, p.forge, p.now)
	}
	n := comment.New(in)
	n.Check.URL = url
	n.Section.Quiet = n.Section.Quiet || t.noNewReport
	return p.post(ctx, t, n)
}
