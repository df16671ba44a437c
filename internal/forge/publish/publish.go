// Package publish writes the results of a run on its pull request: it finds the pull request,
// fetches the results, judges them again and writes the check, the report and the job summary.
// Where to write comes from the forge, never from the results, which are untrusted. The package
// must not know any forge's API, nor how its result is printed.
package publish

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/forge/accounts"
	"github.com/goatnote-inc/pawl/internal/forge/comment"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
)

// Publisher publishes to one repository, by the suite of the base.
type Publisher struct {
	Client    forge.Client // may be nil for a request that is Offline
	Job       *forge.Job
	Suite     *suite.Suite // of the base; nil if the base has none yet
	SuiteText []byte       // content of its file
	SuitePath string       // of its file in the repository, with slashes
	Help      string       // address of the page on how to read a report
	Server    string       // address of the pawl server that gets the runs, and the project there; for a link
	Project   string
	Now       time.Time
	Log       func(format string, args ...any) // for what is wrong but does not stop publishing
}

// Request says what to publish. If it names nothing before Pull, the event of the job decides.
type Request struct {
	Results    string   // folder of the results
	Devices    []Device // results of several devices, to be joined
	Run        int64    // workflow run whose artifact holds the results
	Start      bool     // report that measuring has started
	Untouched  bool     // report that the change touches no kernel
	Superseded bool     // report that a newer commit replaced this one before it was measured
	Failed     string   // report why there are no results

	Pull     int    // number of the pull request; 0 for that of the event
	SHA      string // head commit; empty for that of the event or the pull request
	Name     string // of the suite, if a repository has several
	Workflow string // path of the gate's workflow; runs of others are refused
	Quiet    bool   // do not start a report if nothing changed
	DryRun   bool   // write nothing

	Trust measure.Trust // at which the change had to be measured; empty for that of the suite
}

// named reports whether the request says what to publish, without the forge.
func (r Request) named() bool {
	return r.Results != "" || len(r.Devices) > 0 || r.Start || r.Untouched || r.Superseded || r.Failed != ""
}

// Offline reports whether the request can do without the forge: a dry run that names no pull request and no run.
func (r Request) Offline() bool { return r.DryRun && r.Run == 0 && r.Pull == 0 }

// Result is what was published, or would be in a dry run.
type Result struct {
	Pull       int              `json:"pull,omitempty"`
	SHA        string           `json:"sha,omitempty"`
	Check      string           `json:"check,omitempty"` // name of the check
	Status     forge.Status     `json:"status,omitempty"`
	Conclusion forge.Conclusion `json:"conclusion,omitempty"`
	Title      string           `json:"title,omitempty"`
	CheckURL   string           `json:"check_url,omitempty"`
	ReportURL  string           `json:"report_url,omitempty"`
	Report     string           `json:"report,omitempty"` // text of the section; only in a dry run
	Skipped    string           `json:"skipped,omitempty"`
}

// ReadSuite takes the content of a file at this path in the repository as the suite of the base. It must not extend others.
func (p *Publisher) ReadSuite(at string, text []byte) (err error) {
	p.Suite, err = suite.Parse(path.Base(at), text)
	p.SuiteText, p.SuitePath = text, at
	return err
}

// skippedError says why nothing is published. It is not a failure.
type skippedError struct{ error }

func skipped(format string, args ...any) error { return skippedError{fmt.Errorf(format, args...)} }

// publication is one request in progress.
type publication struct {
	*Publisher
	want Request
}

// Publish carries out a request. If there is nothing to publish, Result.Skipped says why.
func (p *Publisher) Publish(ctx context.Context, want Request) (Result, error) {
	if p.Client == nil && !want.Offline() {
		return Result{}, forge.ErrNoToken
	}
	done, err := (&publication{p, want}).publish(ctx)
	if nothing, ok := errors.AsType[skippedError](err); ok {
		return Result{Skipped: nothing.Error()}, nil
	}
	return done, err
}

func (p *publication) publish(ctx context.Context) (Result, error) {
	t, err := p.target(ctx)
	if err != nil {
		return Result{}, err
	}
	switch {
	case p.want.Start, t.running:
		return p.post(ctx, t, comment.Notice{Check: comment.Started(p.want.Name, t.sha, t.runURL, p.Now)})
	case p.want.Untouched:
		check := comment.Unaffected(p.want.Name, t.sha)
		check.URL = t.runURL
		return p.post(ctx, t, comment.Notice{Check: check, Summary: check.Summary})
	case p.want.Superseded:
		return p.post(ctx, t, comment.Notice{Check: comment.Superseded(p.want.Name, t.sha)})
	}
	in := comment.Input{
		SHA: t.sha, Suite: p.want.Name, Fork: t.fork, Now: p.Now,
		Links: comment.Links{Run: t.runURL, Help: p.Help, History: p.historyURL(t.sha)},
	}
	if err := p.read(ctx, &t, &in); err != nil {
		return Result{}, err
	}
	in.Gate.Quiet = in.Gate.Quiet || p.want.Quiet
	if p.Client != nil {
		in.Cost = accounts.LatestSummary(ctx, p.Client, p.Now)
	}
	n := comment.New(in)
	n.Check.URL = t.runURL
	n.Section.Quiet = n.Section.Quiet || t.noNewReport
	return p.post(ctx, t, n)
}

// post writes the check, then the report, then the job summary. The check comes first because merging
// waits for it.
func (p *publication) post(ctx context.Context, t target, n comment.Notice) (Result, error) {
	done := Result{SHA: t.sha, Check: n.Check.Name, Status: n.Check.Status, Conclusion: n.Check.Conclusion, Title: n.Check.Title}
	if t.pull != nil {
		done.Pull = t.pull.Number
	}
	if p.want.DryRun {
		done.Report = n.Section.Body
		return done, nil
	}
	var err error
	if done.CheckURL, err = p.Client.SetCheck(ctx, n.Check); err != nil {
		return done, err
	}
	if t.pull != nil && !t.stale && n.Section.Body != "" {
		if done.ReportURL, err = p.Client.Report(ctx, t.pull.Number, n.Section); err != nil {
			return done, err
		}
	}
	return done, p.summarize(n.Summary)
}

// summarize appends text to the job summary.
func (p *publication) summarize(text string) error {
	if p.Job.Summary == "" || text == "" {
		return nil
	}
	f, err := os.OpenFile(p.Job.Summary, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return fmt.Errorf("cannot write the job summary: %w", err)
	}
	if _, err := f.WriteString(text + "\n"); err != nil {
		f.Close()
		return fmt.Errorf("cannot write the job summary: %w", err)
	}
	return f.Close()
}

// historyURL returns the page of a commit's runs on the server; empty without one.
func (p *publication) historyURL(sha string) string {
	if p.Server == "" || p.Project == "" {
		return ""
	}
	return strings.TrimRight(p.Server, "/") + "/p/" + url.PathEscape(p.Project) + "/runs?commit=" + url.QueryEscape(sha)
}
