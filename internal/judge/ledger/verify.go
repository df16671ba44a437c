package ledger

import (
	"context"
	"errors"
	"fmt"

	"github.com/goatnote-inc/pawl/ratchet"
)

// Report is the result of checking a ledger.
type Report struct {
	Entries  int       `json:"entries"`
	Versions int       `json:"versions"` // changes of the ledger in git that were checked
	Problems []Problem `json:"problems"`
	Notes    []string  `json:"notes,omitempty"` // what could not be checked, and why
}

// Problem is a place where a ledger differs from what pawl wrote.
type Problem struct {
	Commit string `json:"commit,omitempty"` // commit that changed it; empty for the current ledger
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

// OK reports whether the ledger has no problems.
func (r Report) OK() bool { return len(r.Problems) == 0 }

func (r *Report) problem(commit string, line int, format string, args ...any) {
	r.Problems = append(r.Problems, Problem{commit, line, fmt.Sprintf(format, args...)})
}

func (r *Report) note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

// Verify checks the current ledger: every line has its hash and follows the one before, and no
// entry contradicts earlier ones. An editor of a line could recompute all hashes, so Verify also
// checks that every version in git is the start of the next.
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
		r.note("the last %d bytes are an incomplete line of an interrupted write; the next write removes them", len(v.torn))
	}
	return r, l.backend.history(ctx, v, &r)
}
