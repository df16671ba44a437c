package ci

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/forge/identity"
	"github.com/goatnote-inc/pawl/internal/forge/publish"
	"github.com/goatnote-inc/pawl/internal/forge/workflow"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/internal/kernel/discover"
)

// commentFlags are the flags of pawl ci comment.
type commentFlags struct {
	*env.Env
	suite, repo string
	want        publish.Request
	fail, json  bool
}

func newComment(g *env.Env) *cobra.Command {
	f := commentFlags{Env: g}
	cmd := &cobra.Command{
		Use:   "comment",
		Short: "Publish the results of a run on its pull request: one report, one check",
		Long: `Publishes the results of pawl run on GitHub or GitLab: a section of the report on the pull request,
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
	fl.StringVar(&f.want.Results, "results", "", "publish the results in this `folder`")
	fl.Int64Var(&f.want.Run, "from-run", 0, "publish the artifact of the workflow run with this `ID`")
	fl.BoolVar(&f.want.Start, "start", false, "report that measuring has started")
	fl.BoolVar(&f.want.Untouched, "untouched", false, "report that the change touches no kernel")
	fl.StringVarP(&f.suite, "suite", "f", "", "suite `file` of the base (default pawl.yaml)")
	fl.StringVar(&f.want.Name, "name", "", "name of the suite in the check, if a repository has several: pawl / `NAME`")
	fl.StringVar(&f.repo, "repo", "", "`OWNER/NAME` (default: from the workflow)")
	fl.IntVar(&f.want.Pull, "pull", 0, "`number` of the pull request (default: from the event)")
	fl.StringVar(&f.want.SHA, "sha", "", "head `commit` (default: from the event or the pull request)")
	fl.StringVar(&f.want.Workflow, "workflow", workflow.GateFile, "`file` of the gate's workflow; runs of other workflows are refused")
	fl.BoolVar(&f.want.Quiet, "quiet", false, "do not start a report if nothing changed")
	fl.BoolVar(&f.want.DryRun, "dry-run", false, "print what would be written, but write nothing")
	fl.BoolVar(&f.fail, "fail", false, "exit with 1 if the check failed")
	fl.BoolVar(&f.json, "json", false, "what was published as JSON on stdout")
	return cmd
}

// commentMemoryLimit limits the memory that publishing may use. Untrusted results can be as large as the
// limits allow, and the runner has other work.
const commentMemoryLimit = 160 << 20

func (f *commentFlags) main(ctx context.Context) error {
	if f.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(commentMemoryLimit)
	}
	modes := 0
	for _, named := range []bool{f.want.Results != "", f.want.Run != 0, f.want.Start, f.want.Untouched} {
		if named {
			modes++
		}
	}
	if modes > 1 {
		return command.Usage(errors.New("--results, --from-run, --start and --untouched cannot be combined"))
	}
	done, err := f.publish(ctx)
	if err == nil {
		err = f.print(done)
	}
	if err == nil && f.fail && done.Conclusion == forge.Failure {
		err = command.Exit(command.ExitFailed, fmt.Errorf("the check failed: %s", words.Sanitize(done.Title)))
	}
	if err != nil {
		return logSafeError{err}
	}
	return nil
}

// publish publishes by the suite of the base, if there is one, for the CI job of this process.
func (f *commentFlags) publish(ctx context.Context) (publish.Result, error) {
	p := publish.Publisher{
		Help: command.DocsFolder + env.CommentPage, Server: f.Getenv("PAWL_SERVER"), Project: f.Getenv("PAWL_PROJECT"), Now: time.Now(), Log: f.log,
	}
	if f.Now != nil {
		p.Now = f.Now()
	}
	var err error
	if _, p.Job, err = f.CurrentJob(); err != nil {
		return publish.Result{}, command.Usage(err)
	}
	if _, err := os.Stat(discover.SuiteFile); f.suite != "" || !errors.Is(err, fs.ErrNotExist) {
		var file string
		if p.Suite, file, err = env.LoadSuite(f.suite); err != nil {
			return publish.Result{}, err
		}
		if p.SuiteText, err = os.ReadFile(file); err != nil {
			return publish.Result{}, fmt.Errorf("cannot read the suite: %w", err)
		}
		p.SuitePath = suitePath(ctx, file)
	}
	p.Client, _, err = f.AtForge(f.repo, identity.Publishing, f.log)
	if offline := errors.Is(err, forge.ErrNoToken) && f.want.Offline(); err != nil && !offline {
		return publish.Result{}, err
	}
	return p.Publish(ctx, f.want)
}

// suitePath returns the path of a suite's file in its repository, with slashes.
func suitePath(ctx context.Context, file string) string {
	name := filepath.Base(file)
	dir, err := filepath.Abs(filepath.Dir(file))
	if err != nil {
		return name
	}
	repo, err := build.Open(ctx, dir)
	if err != nil {
		return name
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return name
	}
	folder, err := filepath.Rel(repo.Root, dir)
	if err != nil || strings.HasPrefix(folder, "..") {
		return name
	}
	return filepath.ToSlash(filepath.Join(folder, name))
}

func (f *commentFlags) log(format string, args ...any) {
	f.Say(env.LogText(fmt.Sprintf(format, args...)))
}

// print prints what was published.
func (f *commentFlags) print(done publish.Result) error {
	if f.json {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetIndent("", "  ")
		if err := e.Encode(done); err != nil {
			return err
		}
		_, err := f.Out.Write(bytes.ReplaceAll(b.Bytes(), []byte("##["), []byte(`\u0023#[`)))
		return err
	}
	if done.Skipped != "" {
		_, err := fmt.Fprintf(f.Out, "nothing is published: %s\n", env.LogText(done.Skipped))
		return err
	}
	what := string(done.Status)
	if done.Conclusion != "" {
		what = string(done.Conclusion)
	}
	if done.Title != "" {
		what += ": " + done.Title
	}
	fmt.Fprintf(f.Out, "check %q on %.12s is %s\n", env.LogText(done.Check), done.SHA, env.LogText(what))
	switch {
	case done.Report != "":
		for line := range strings.Lines(done.Report) { // the prefix keeps untrusted text from starting a line
			fmt.Fprintf(f.Out, "| %s\n", env.LogText(line))
		}
	case done.ReportURL != "":
		fmt.Fprintf(f.Out, "report on pull request %d: %s\n", done.Pull, env.LogText(done.ReportURL))
	}
	return nil
}

// logSafeError wraps an error so that its text is safe for a workflow log.
type logSafeError struct{ error }

func (e logSafeError) Error() string { return env.LogText(e.error.Error()) }
func (e logSafeError) Unwrap() error { return e.error }
