// Package notice knows what a pull request is told: the report, the check and its
// conclusion, who may overrule it and how. It is pure: it reads nothing and posts nothing.
// Everything of a record is a stranger's text and is made harmless on its way through.
// It must not know how anything was measured, nor any forge's API.
package notice

import (
	"fmt"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/account"
	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/report"
	"github.com/goatnote-inc/pawl/internal/suite"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// Input is what a notice is made of. All but SHA, Gate and Now may be left out.
type Input struct {
	SHA   string // the head of the pull request, as the forge tells it
	Suite string // its name, where the repository has several
	Key   string // of the section; empty for Key(Suite, the device's name)

	Run     *measure.Run    // the record; nil where nothing was measured
	Result  *ratchet.Result // judged again from the samples, see Judge; nil where there are none
	Drift   *ratchet.Result // the base against the baseline, where that was measured
	Stages  []report.Stage  // what came before measuring
	Whys    []report.Why    // what profiles say of cases
	Claimed ratchet.Verdict // what the machine that measured said itself

	Fork        bool       // the head is in another repository
	Gate        suite.Gate // the base's
	Quarantined map[string]suite.Quarantine
	Released    map[string]suite.Quarantine // of which the last day is over
	Accepted    *Acceptance                 // of this head
	// ToolFailed says why pawl or its machine has no answer. It is a stranger's text too.
	ToolFailed string

	Folder  string // of the suite in the repository, with slashes; for annotations
	File    string // of the suite in the repository; empty for pawl.yaml
	Links   Links
	Account *account.Account // of this run, as its machine tells it
	Cost    *account.Summary // of earlier runs too; nil where nobody added them up
	Now     time.Time
}

// Links lead to more. What is no web address is left out.
type Links struct {
	Run      string // of the workflow
	Artifact string // everything that was measured
	Report   string // report.html, where it is served
	Help     string // how to read a report
}

// Notice is what a pull request is told.
type Notice struct {
	Section forge.Section
	Check   forge.Check
	Summary string // for the run's own page: Markdown
}

// Limit is how long a section may be, in bytes: a comment has room for 65,536 characters,
// and other suites and testbeds want to be told of too, each in its own section.
const Limit = 60_000

// New says what there is to say.
func New(in Input) Notice {
	o := decide(in)
	d := report.NewDocument(report.Input{
		Run: in.record(), Result: in.Result, Stages: in.Stages, Whys: in.Whys,
		Commit: fmt.Sprintf("%.12s", in.SHA),
	})
	if in.Run == nil {
		d.Facts = nil // nothing was measured, in no way
	}
	body := report.Comment(d, in.head(o, d), in.foot(o), Limit)
	key := in.Key
	if key == "" {
		key = Key(in.Suite, in.device())
	}
	return Notice{
		Section: forge.Section{Key: key, Body: body, Quiet: in.Gate.Quiet && o.silent(in)},
		Check: forge.Check{
			Name: CheckName(in.Suite), SHA: in.SHA, Status: forge.Completed, Conclusion: o.conclusion,
			Title: report.Plain(o.title(in, in.what(o, d))), Summary: body, Annotations: in.annotations(),
		},
		Summary: body,
	}
}

// record is the record as a reader sees it: with one price, that of the whole run.
func (in Input) record() *measure.Run {
	if in.Run == nil || in.Account == nil {
		return in.Run
	}
	run := *in.Run
	run.End.Dollars = 0
	return &run
}

func (in Input) device() string {
	if in.Run == nil {
		return ""
	}
	return in.Run.Device.Name
}

// CheckName is what the check is called: "pawl", or "pawl / SUITE" where there are several.
// It is what a branch protection asks for.
func CheckName(suite string) string {
	if suite == "" {
		return "pawl"
	}
	return "pawl / " + report.Plain(suite)
}

// Key makes the key of a section from the names of a suite and a device.
func Key(names ...string) string {
	var parts []string
	for _, name := range names {
		var b strings.Builder
		for _, r := range strings.ToLower(name) {
			switch {
			case r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '.':
				b.WriteRune(r)
			case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
				b.WriteByte('-')
			}
			if b.Len() == keyLength {
				break
			}
		}
		if part := strings.Trim(b.String(), "-."); part != "" {
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		return "pawl"
	}
	return strings.Join(parts, "/")
}

const keyLength = 60

// Started is the check of a run that has begun.
func Started(suite, sha, url string, now time.Time) forge.Check {
	return forge.Check{
		Name: CheckName(suite), SHA: sha, Status: forge.InProgress, URL: url, Started: now, Title: "measuring",
		Summary: "The change and its base are built and measured side by side on one device. The answer replaces this text.",
	}
}

// Untouched is the check of a change that touches no kernel: green, without a report.
func Untouched(suite, sha string) forge.Check {
	return forge.Check{
		Name: CheckName(suite), SHA: sha, Status: forge.Completed, Conclusion: forge.Success, Title: "no kernel touched",
		Summary: "No file of this change belongs to a kernel of the suite, so there was nothing to measure.",
	}
}
