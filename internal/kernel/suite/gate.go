package suite

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/base/strictyaml"
	"github.com/goatnote-inc/pawl/measure"
)

// The modes of a gate.
const (
	Enforce = "enforce"
	Advise  = "advise"
)

// FailOnError is the word in fail-on for a failure of pawl or of its machine. All other words
// are verdicts.
const FailOnError = "error"

// Gate defines what happens because of a verdict: what a pull request shows, what fails its
// check, and the permission needed to overrule that. The base's gate applies, never the change's own.
type Gate struct {
	Mode   string    // Enforce or Advise
	Since  time.Time // when Advise started; zero means unset
	FailOn []string  // verdicts, and FailOnError
	Quiet  bool      // start no report if nothing changed
	Paths  []string  // globs of additional files that affect a kernel
	Ignore []string  // globs of files that no build and no kernel reads
	Accept string    // minimum permission to accept: "write", "maintain" or "admin"
}

// Fails reports whether a verdict, or FailOnError, fails a check in mode Enforce.
func (g Gate) Fails(word string) bool { return slices.Contains(g.FailOn, word) }

// Quarantine exempts cases until the end of a day: they are measured and shown, but cannot
// fail a check.
type Quarantine struct {
	Case   string // a glob over names or benchmarks
	Owner  string
	Until  time.Time // start of the last day, in UTC
	Reason string
}

// String returns the owner of the cases, the last day and the reason.
func (q Quarantine) String() string {
	return fmt.Sprintf("%s, until %s: %s", q.Owner, q.Until.Format(time.DateOnly), q.Reason)
}

// Ended reports whether the last day is over.
func (q Quarantine) Ended(now time.Time) bool { return !now.Before(q.Until.AddDate(0, 0, 1)) }

// Quarantined returns the quarantine that a case is in. If several match, the one that lasts
// longest applies.
func (s *Suite) Quarantined(name, benchmark string, now time.Time) (Quarantine, bool) {
	q, ok := s.quarantine(name, benchmark)
	return q, ok && !q.Ended(now)
}

// Released returns the quarantine of a case that has ended. The case can fail a change again,
// and reports explain why.
func (s *Suite) Released(name, benchmark string, now time.Time) (Quarantine, bool) {
	q, ok := s.quarantine(name, benchmark)
	return q, ok && q.Ended(now)
}

func (s *Suite) quarantine(name, benchmark string) (last Quarantine, found bool) {
	for _, q := range s.Quarantine {
		if measure.MatchCase(q.Case, name, benchmark) && (!found || q.Until.After(last.Until)) {
			last, found = q, true
		}
	}
	return last, found
}

func (r *resolver) gate() {
	d := r.doc.Gate
	r.suite.Gate = Gate{Mode: string(d.Mode), Since: d.Since.Time, Quiet: value(d.Quiet), Accept: string(d.Accept)}
	for _, word := range d.FailOn {
		r.suite.Gate.FailOn = append(r.suite.Gate.FailOn, string(word))
	}
	for _, glob := range d.Paths {
		r.glob(glob, "paths")
		r.suite.Gate.Paths = append(r.suite.Gate.Paths, glob.string)
	}
	for _, glob := range d.Ignore {
		r.glob(glob, "ignore")
		r.suite.Gate.Ignore = append(r.suite.Gate.Ignore, glob.string)
	}
	for _, q := range r.doc.Quarantine {
		r.glob(q.Case, "case")
		for _, t := range []struct {
			text
			key string
		}{{q.Owner, "owner"}, {q.Reason, "reason"}} {
			if t.at != nil && strings.TrimSpace(t.string) == "" {
				r.Add(t.at, "a quarantine requires an owner and a reason", "%s is empty", t.key)
			}
		}
		r.suite.Quarantine = append(r.suite.Quarantine, Quarantine{q.Case.string, q.Owner.string, q.Until.Time, q.Reason.string})
	}
}

func (r *resolver) glob(t text, key string) {
	if _, err := path.Match(t.string, ""); err != nil {
		r.Add(t.at, "use *, ? and [...] as in a shell", "%s: %q is not a glob", key, t.string)
	}
}

// checkQuarantine warns about a quarantine that matches no case, which was renamed or removed.
func (r *resolver) checkQuarantine() {
	if r.broken || r.suite.NeedsHarness() {
		return
	}
	for i, q := range r.suite.Quarantine {
		matches := func(c Case) bool { return measure.MatchCase(q.Case, c.Name(), c.Benchmark) }
		if at := r.doc.Quarantine[i].Case.at; at != nil && !slices.ContainsFunc(r.suite.cases, matches) {
			r.warnings.Add(at, "", "quarantine: %q matches no case", q.Case)
		}
	}
}

// date is a calendar day.
type date struct {
	time.Time
	at *strictyaml.Node
}

const datePattern = `^[0-9]{4}-[0-9]{2}-[0-9]{2}$`

var dateSpelling = lazyregexp.New(datePattern)

func (t *date) ReadYAML(d *strictyaml.Decoder, n *strictyaml.Node, f strictyaml.Field) {
	day, err := time.Parse(time.DateOnly, n.Text)
	if !n.IsText() || err != nil || !dateSpelling.MatchString(n.Text) {
		d.Add(n, "write YYYY-MM-DD", "%s: expected a date such as 2026-12-31, got %s", f.Key, n.Describe())
		return
	}
	*t = date{day, n}
}

func (*date) schema(*schemaWriter, strictyaml.Field) object {
	return object{"type": "string", "pattern": datePattern}
}
