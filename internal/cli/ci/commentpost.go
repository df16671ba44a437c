package ci

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/forge/comment"
)

// published is the JSON output of pawl ci comment.
type published struct {
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

// post writes the check, then the report, then the job summary. The check comes first because merging
// waits for it.
func (p *publisher) post(ctx context.Context, t target, n comment.Notice) error {
	done := published{SHA: t.sha, Check: n.Check.Name, Status: n.Check.Status, Conclusion: n.Check.Conclusion, Title: n.Check.Title}
	reports := t.pull != nil && !t.stale && n.Section.Body != ""
	if t.pull != nil {
		done.Pull = t.pull.Number
	}
	if p.dryRun {
		done.Report = n.Section.Body
		return p.print(done)
	}
	var err error
	if done.CheckURL, err = p.forge.SetCheck(ctx, n.Check); err != nil {
		return err
	}
	if reports {
		if done.ReportURL, err = p.forge.Report(ctx, t.pull.Number, n.Section); err != nil {
			return err
		}
	}
	if err := p.summarise(n.Summary); err != nil {
		return err
	}
	if err := p.print(done); err != nil {
		return err
	}
	if p.fail && n.Check.Conclusion == forge.Failure {
		return command.Exit(command.ExitFailed, fmt.Errorf("the check failed: %s", words.Sanitize(n.Check.Title)))
	}
	return nil
}

// summarise appends text to the job summary.
func (p *publisher) summarise(text string) error {
	path := p.job.Summary
	if path == "" || text == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return fmt.Errorf("cannot write the job summary: %w", err)
	}
	if _, err := f.WriteString(text + "\n"); err != nil {
		f.Close()
		return fmt.Errorf("cannot write the job summary: %w", err)
	}
	return f.Close()
}

// print prints what was published.
func (p *publisher) print(done published) error {
	if p.json {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetIndent("", "  ")
		if err := e.Encode(done); err != nil {
			return err
		}
		_, err := p.Out.Write(bytes.ReplaceAll(b.Bytes(), []byte("##["), []byte(`\u0023#[`)))
		return err
	}
	if done.Skipped != "" {
		_, err := fmt.Fprintf(p.Out, "nothing is published: %s\n", env.LogText(done.Skipped))
		return err
	}
	what := string(done.Status)
	if done.Conclusion != "" {
		what = string(done.Conclusion)
	}
	if done.Title != "" {
		what += ": " + done.Title
	}
	fmt.Fprintf(p.Out, "check %q on %.12s is %s\n", env.LogText(done.Check), done.SHA, env.LogText(what))
	switch {
	case done.Report != "":
		for line := range strings.Lines(done.Report) { // the prefix keeps untrusted text from starting a line
			fmt.Fprintf(p.Out, "| %s\n", env.LogText(line))
		}
	case done.ReportURL != "":
		fmt.Fprintf(p.Out, "report on pull request %d: %s\n", done.Pull, env.LogText(done.ReportURL))
	}
	return nil
}

// logSafeError wraps an error so that its text is safe for a workflow log.
type logSafeError struct{ error }

func (e logSafeError) Error() string { return env.LogText(e.error.Error()) }
func (e logSafeError) Unwrap() error { return e.error }
