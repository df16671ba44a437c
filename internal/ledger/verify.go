package ledger

import (
	"context"
	"errors"
	"fmt"

	"github.com/goatnote-inc/pawl/ratchet"
)

// Report is what a check of a ledger found.
type Report struct {
	Entries  int       `json:"entries"`
	Versions int       `json:"versions"` // changes of the ledger in git that were looked at
	Problems []Problem `json:"problems"`
	Notes    []string  `json:"notes,omitempty"` // what could not be checked, and why
}

// Problem is a place where a ledger is not what pawl wrote.
type Problem struct {
	Commit string `json:"commit,omitempty"` // that changed it; empty means: as it lies here now
	Line   int    `json:"line,omitempty"`
	What   string `json:"what"`
}

func (p Problem) String() string {
	text := p.What
	if p.Line > 0 {
		text = fmt.Sprintf("line %d: %s", p.Line, text)
	}
	if p.Commit != "" {
		text = fmt.Sprintf("commit %.12s: %s", p.Commit, text)
	}
	return text
}

// OK tells whether nothing speaks against the ledger.
func (r Report) OK() bool { return len(r.Problems) == 0 }

func (r *Report) problem(commit string, line int, format string, args ...any) {
	r.Problems = append(r.Problems, Problem{commit, line, fmt.Sprintf(format, args...)})
}

func (r *Report) note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

// Verify checks the ledger as it is now: that every line has its hash and follows the
// one before, and that no entry contradicts those before it. Whoever edits a line can compute
// all hashes anew; so it also checks that every version that git knows is the
// beginning of the next.
func (l *Ledger) Verify(ctx context.Context) (Report, error) {
	r := Report{Problems: []Problem{}}
	v, err := l.backend.load(ctx)
	if errors.Is(err, ErrChanged) {
		r.problem("", 0, "%v", err)
		return r, nil
	}
	if err != nil {
		return r, err
	}
	entries, faults := ratchet.Inspect(v.text)
	r.Entries = len(entries)
	for _, f := range faults {
		r.problem("", f.Line, "%v", f.Err)
	}
	if len(faults) == 0 {
		if _, err := ratchet.Fold(entries); err != nil {
			fault, _ := errors.AsType[*ratchet.LineError](err)
			r.problem("", fault.Line, "%v", fault.Err)
		}
	}
	if len(v.torn) > 0 {
		r.note("%d bytes at the end are the beginning of a line whose writer was stopped; the next write takes them away", len(v.torn))
	}
	return r, l.backend.history(ctx, v, &r)
}
