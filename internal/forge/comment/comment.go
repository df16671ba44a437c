// Package comment composes the feedback on a pull request: the report, the check and its
// conclusion, and how it can be overruled and by which users. It is pure: it reads nothing
// and posts nothing. All text of a record is untrusted and is sanitized. The package must
// not know how anything was measured, nor any forge's API.
package comment

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/judge/cost"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/internal/report"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// Input is the source of a notice. All fields but SHA, Gate and Now are optional.
type Input struct {
	SHA   string // head of the pull request, as reported by the forge
	Suite string // suite name if the repository has several
	Key   string // of the section; empty for Key(Suite, the device's name)

	Run     *measure.Run    // the record; nil if nothing was measured, or on several devices
	Devices []string        // names of several devices whose results are joined in Result
	Result  *ratchet.Result // judged again from the samples, see Judge; nil without samples
	Drift   *ratchet.Result // the base compared with the baseline, if measured
	Stages  []report.Stage  // the steps before measuring
	Whys    []report.Why    // what profiles show about cases
	Claimed ratchet.Verdict // the verdict reported by the machine that measured

	Fork        bool       // the head is in another repository
	Gate        suite.Gate // gate settings of the base
	Quarantined map[string]suite.Quarantine
	Released    map[string]suite.Quarantine // expired quarantines
	Accepted    *Acceptance                 // of this head
	// ToolFailed says why pawl or its machine has no answer. It is untrusted text.
	ToolFailed string

	Folder  string // of the suite in the repository, with slashes; for annotations
	File    string // of the suite in the repository; empty for pawl.yaml
	Links   Links
	Account *cost.RunCost // of this run, as reported by its machine
	Cost    *cost.Summary // includes earlier runs; nil if not summed up
	Now     time.Time
}

// Links point to details. Entries that are not web addresses are left out.
type Links struct {
	Run      string // the workflow run
	Artifact string // all measured data
	Report   string // report.html, if it is served
	History  string // runs of the commit on a pawl server
	Help     string // how to read a report
}

// Notice is the feedback on a pull request.
type Notice struct {
	Section forge.Section
	Check   forge.Check
	Summary string // Markdown for the run's own page
}

// Limit is the max length of a section in bytes. A comment holds 65,536 characters, and
// other suites and testbeds have their own sections in it.
const Limit = 60_000

// New composes a notice.
func New(in Input) Notice {
	o := decide(in)
	d := report.NewDocument(report.Input{
		Run: in.record(), Result: in.Result, Stages: in.Stages, Whys: in.Whys,
		Commit: fmt.Sprintf("%.12s", in.SHA), Name: strings.Join(in.Devices, ", "),
	})
	if in.Run == nil { // nothing was measured, or on several devices
		d.Facts = slices.DeleteFunc(d.Facts, func(f report.Fact) bool { return f.Label != report.CalibrationLabel })
	}
	body := report.Comment(d, in.head(o, d), in.foot(o), Limit)
	key := in.Key
	if key == "" {
		key = Key(in.Suite, in.device(), strings.Join(in.Devices, "-"))
	}
	return Notice{
		Section: forge.Section{Key: key, Body: body, Quiet: in.Gate.Quiet && o.needsNoReport(in)},
		Check: forge.Check{
			Name: CheckName(in.Suite), SHA: in.SHA, Status: forge.Completed, Conclusion: o.conclusion,
			Title: words.Sanitize(o.title(in, in.headline(o, d))), Summary: body, Annotations: in.annotations(),
		},
		Summary: body,
	}
}

// record returns the record as shown to readers, without its own price if the account has
// that of the whole run.
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

// CheckName returns the name of the check: "pawl", or "pawl / SUITE" if there are several.
// Branch protection rules refer to it.
func CheckName(suite string) string {
	if suite == "" {
		return "pawl"
	}
	return "pawl / " + words.Sanitize(suite)
}

// Key returns the key of a section, made from the names of a suite and a device.
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

// Started returns the check of a run that has started.
func Started(suite, sha, url string, now time.Time) forge.Check {
	return forge.Check{
		Name: CheckName(suite), SHA: sha, Status: forge.InProgress, URL: url, Started: now, Title: "measuring",
		Summary: "The change and its base are being built and measured side by side on one device. The result will replace this text.",
	}
}

// Superseded returns the check of a commit that a newer one replaced before it was measured.
func Superseded(suite, sha string) forge.Check {
	return forge.Check{
		Name: CheckName(suite), SHA: sha, Status: forge.Completed, Conclusion: forge.Neutral, Title: "superseded",
		Summary: "A newer commit replaced this one, so its gate was canceled.",
	}
}

// Unaffected returns the check of a change that affects no kernel: green, without a report.
func Unaffected(suite, sha string) forge.Check {
	return forge.Check{
		Name: CheckName(suite), SHA: sha, Status: forge.Completed, Conclusion: forge.Success, Title: "no kernel touched",
		Summary: "This change touches no file that belongs to a kernel of the suite, so there was nothing to measure.",
	}
}
