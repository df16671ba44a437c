package share

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/cli/command"
)

// pushDocument is the JSON output of pawl push.
type pushDocument struct {
	Schema   string           `json:"schema"` // pawl.push/v1
	Server   string           `json:"server"`
	Project  string           `json:"project"`
	Receipts []client.Receipt `json:"receipts"`
	Refused  []pushFailure    `json:"refused,omitempty"` // reports that the server will never accept
	Waiting  []pushFailure    `json:"waiting,omitempty"` // reports that stay in the spool
}

type pushFailure struct {
	Run   string `json:"run"`
	Error string `json:"error"`
	Where string `json:"where,omitempty"`
}

// sendAll sends reports one after the other, the oldest first. If the server cannot be reached, the
// remaining reports are not tried.
func (f *pushFlags) sendAll(ctx context.Context, spool client.Spool, list []*client.Spooled) error {
	c := f.Client()
	doc := pushDocument{Schema: "pawl.push/v1", Server: f.URL, Project: f.Project, Receipts: []client.Receipt{}}
	var stopped error
	for _, p := range list {
		if stopped != nil {
			doc.Waiting = append(doc.Waiting, pushFailure{Run: p.Run, Error: "not tried"})
			continue
		}
		receipt, err := c.Push(ctx, p)
		switch {
		case err == nil:
			if err := spool.Done(p); err != nil {
				return err
			}
			doc.Receipts = append(doc.Receipts, receipt)
			f.showReceipt(receipt)
		case isPermanent(err):
			where, aside := spool.Reject(p, err.Error())
			if aside != nil {
				return errors.Join(err, aside)
			}
			doc.Refused = append(doc.Refused, pushFailure{Run: p.Run, Error: err.Error(), Where: where})
		default:
			stopped = err
			doc.Waiting = append(doc.Waiting, pushFailure{Run: p.Run, Error: err.Error(), Where: spool.Dir})
		}
	}
	if f.json {
		if err := command.WriteJSON(f.Out, doc); err != nil {
			return err
		}
	}
	return f.outcome(doc, stopped)
}

// isPermanent reports whether the server will always refuse the report. A client without permission may get it
// later.
func isPermanent(err error) bool {
	problem, ok := errors.AsType[*client.ProblemError](err)
	if !ok || errors.Is(err, client.ErrUnavailable) {
		return false
	}
	switch problem.Status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound:
		return false
	default:
		return true
	}
}

// outcome returns the error for all reports. Refusals outrank retries.
func (f *pushFlags) outcome(doc pushDocument, stopped error) error {
	var text []string
	for _, r := range doc.Refused {
		text = append(text, words.Sanitize(r.Error)+"\n  it is set aside in "+r.Where)
	}
	if stopped != nil {
		text = append(text, words.Sanitize(stopped.Error())+f.advice(stopped)+
			fmt.Sprintf("\n  %s in %s; run `pawl push --resume` to send again", waits(len(doc.Waiting)), doc.Waiting[0].Where))
	}
	if len(text) == 0 {
		return nil
	}
	err := errors.New(strings.Join(text, "\n"))
	switch {
	case len(doc.Refused) > 0:
		return command.Exit(command.ExitFailed, err)
	case errors.Is(stopped, context.Canceled):
		return err // exitCode handles the interrupt
	default:
		if e, ok := errors.AsType[*command.UsageError](stopped); ok {
			return command.Usage(errors.Join(errors.Unwrap(e), err))
		}
		return command.Exit(command.ExitCannot, err)
	}
}

func waits(n int) string {
	if n == 1 {
		return "it is kept"
	}
	return fmt.Sprintf("%d reports are kept", n)
}

// advice returns what to do about an answer of the server; empty if unknown.
func (f *pushFlags) advice(err error) string {
	problem, ok := errors.AsType[*client.ProblemError](err)
	if !ok {
		return ""
	}
	switch problem.Status {
	case http.StatusUnauthorized:
		if f.Getenv("PAWL_TOKEN") == "" && !f.HasIdentity() {
			return "\n  PAWL_TOKEN is not set: set it to a key of the project"
		}
		return "\n  the project does not accept this key or job token"
	case http.StatusForbidden:
		return "\n  the key cannot send reports: it needs the scope report, or report:main for the default branch"
	case http.StatusNotFound:
		return fmt.Sprintf("\n  there is no project %s on that server, or the key belongs to another project", words.Sanitize(f.Project))
	default:
		return ""
	}
}

func (f *pushFlags) showReceipt(r client.Receipt) {
	if f.json {
		return
	}
	verb := "kept"
	if r.Again {
		verb = "already kept"
	}
	fmt.Fprintf(f.Out, "%s: run %s, %s, lane %s\n", verb, words.Sanitize(r.Run), words.Plural(r.Points, "point"), words.Sanitize(string(r.Lane)))
	if r.URL != "" {
		fmt.Fprintln(f.Out, words.Sanitize(r.URL))
	}
}

// describe prints what will be sent, and its size.
func (f *pushFlags) describe(r *client.Report, files []client.File) {
	at := cmp.Or(words.Sanitize(r.Branch), "no branch")
	if r.Pull > 0 {
		at = fmt.Sprintf("pull request %d", r.Pull)
	}
	if r.Dirty {
		at += ", with uncommitted changes"
	}
	f.Say(fmt.Sprintf("run %s of %s: %s at %.12s (%s), %s before it", r.Run, words.Sanitize(r.Suite), words.Plural(len(r.Points), "point"), r.Commit.SHA, at, words.Plural(len(r.History), "commit")))
	total := int64(0)
	for _, file := range files {
		f.Say(fmt.Sprintf("  %-8s %9s  %s", file.Kind, words.Bytes(file.Size), words.Sanitize(file.Name)))
		total += file.Size
	}
	if body, err := client.Encode(r); err == nil {
		f.Say(fmt.Sprintf("  %-8s %9s", "report", words.Bytes(int64(len(body)))))
		total += int64(len(body))
	}
	where := "not set (use --server and --project)"
	if f.URL != "" && f.Project != "" {
		where = fmt.Sprintf("%s at %s (files it already has are skipped)", words.Sanitize(f.Project), words.Sanitize(f.URL))
	}
	f.Say(fmt.Sprintf("%s in total; destination: %s", words.Bytes(total), where))
}
