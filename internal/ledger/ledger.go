// Package ledger keeps baselines: the append-only record of package ratchet, in a
// file of the tree or on a branch of its own. It knows files and git, and how not to
// lose a line to a crash or to another writer. It must not know what an entry means
// beyond what package ratchet says, nor when a baseline may move.
package ledger

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/goatnote-inc/pawl/ratchet"
)

// Where the ledger of a repository lies, if nobody says otherwise. The file stands
// beside the suite, where people see it in a change and .gitignore does not reach.
const (
	DefaultFile   = "pawl.baselines.jsonl"
	DefaultBranch = "pawl/baselines"
)

// Where says where a ledger lies: in a file below Dir, or, with Branch, in the git
// repository that Dir belongs to; with both, in that file of that branch.
type Where struct {
	Dir  string
	File string // relative to Dir; empty means DefaultFile, or a file of the branch's own

	Branch string // such as DefaultBranch; no working tree is touched
	Remote string // a configured remote such as origin, whose branch is the truth; empty means this repository's own
	// Fetched reads the branch as this clone has it and asks nobody, so that a job without
	// credentials can: such a ledger cannot be extended.
	Fetched bool

	Committer Identity // of commits on the branch
	// Wait draws how long to wait before another try, at most so long. It comes from
	// outside because it is chance, and two writers must not draw alike; nil
	// means not to wait.
	Wait func(most time.Duration) time.Duration
}

// Identity is who a commit is by.
type Identity struct{ Name, Email string }

// Ledger is an opened ledger. It holds nothing: every call reads what is there.
type Ledger struct {
	backend backend
	wait    func(time.Duration) time.Duration
}

// State is what a ledger says now.
type State struct {
	Entries   []ratchet.Entry // the oldest first
	Baselines ratchet.Baselines
}

// ErrChanged says that a ledger is not as pawl wrote it.
var ErrChanged = errors.New("the ledger was changed by other hands, or is damaged: see pawl baseline verify")

// backend is a place for a ledger that can be extended if nobody was faster.
type backend interface {
	// load gives the ledger as it is now.
	load(ctx context.Context) (version, error)
	// extend adds lines to a version, or fails with errConflict or errRefused when the
	// ledger is not that version any more. When it returns nil the lines are there for good.
	extend(ctx context.Context, old version, lines []byte, entries []ratchet.Entry) error
	// history compares the versions that git knows, the last with the one loaded.
	history(ctx context.Context, v version, r *Report) error
}

// version is the content of a ledger, and what a backend needs to know it again.
type version struct {
	text []byte // whole lines; the last may lack its newline
	torn []byte // the beginning of a line whose writer was killed
	tip  string // commit of a branch
}

var (
	// errConflict says that somebody else was faster.
	errConflict = errors.New("the ledger was extended by somebody else meanwhile")
	// errRefused says that the ledger could not be extended, most likely because somebody
	// else was faster; if nobody was, there is another reason, and no use in trying again.
	errRefused = errors.New("the ledger was not extended")
)

// Open prepares a ledger. There need not be one yet.
func Open(ctx context.Context, w Where) (*Ledger, error) {
	l := &Ledger{wait: w.Wait}
	if l.wait == nil {
		l.wait = func(time.Duration) time.Duration { return 0 }
	}
	var err error
	if w.Branch != "" {
		l.backend, err = openBranch(ctx, w)
	} else {
		l.backend, err = openFile(w)
	}
	return l, err
}

// Read gives the ledger as it is now.
func (l *Ledger) Read(ctx context.Context) (State, error) {
	v, err := l.backend.load(ctx)
	if err != nil {
		return State{}, err
	}
	return read(v)
}

func read(v version) (State, error) {
	entries, faults := ratchet.Inspect(v.text)
	if len(faults) > 0 {
		return State{}, fmt.Errorf("%w: %w", ErrChanged, faults[0])
	}
	folded, err := ratchet.Fold(entries)
	if err != nil {
		return State{}, fmt.Errorf("%w: %w", ErrChanged, err)
	}
	return State{Entries: entries, Baselines: folded}, nil
}

const (
	// tries bounds how often an append starts over; somebody gets through each time.
	tries = 64
	// longestWait bounds the wait between two tries.
	longestWait = 250 * time.Millisecond
)

// Append asks what is to be added to the ledger as it is, and adds it: all of it,
// or, where the machine fails in between, the first lines of it. When somebody else was
// faster it asks again, with what the other wrote in the state. When it returns without an
// error, the entries are on disk, and on the remote where there is one.
func (l *Ledger) Append(ctx context.Context, next func(State) ([]ratchet.Entry, error)) ([]ratchet.Entry, error) {
	var last attempt
	for try := range tries {
		v, err := l.backend.load(ctx)
		if err != nil {
			return nil, errors.Join(last.err, err)
		}
		switch {
		case last.err == nil:
		case bytes.HasPrefix(v.text, last.text): // it arrived, and only the answer did not
			return last.sealed, nil
		case errors.Is(last.err, errRefused) && bytes.Equal(v.text, last.before):
			return nil, last.err
		}
		last = l.try(ctx, v, next)
		if last.err == nil || !errors.Is(last.err, errConflict) && !errors.Is(last.err, errRefused) {
			return last.sealed, last.err
		}
		most := min(longestWait, time.Millisecond<<min(try, 10))
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("extend the ledger: %w", ctx.Err())
		case <-time.After(min(l.wait(most), most)):
		}
	}
	return nil, fmt.Errorf("%w: given up after %d tries; try again when there are fewer writers", last.err, tries)
}

// attempt is a try to extend a ledger: what it was, what it was to become, and what
// came of it.
type attempt struct {
	before, text []byte
	sealed       []ratchet.Entry
	err          error
}

func (l *Ledger) try(ctx context.Context, v version, next func(State) ([]ratchet.Entry, error)) attempt {
	lines, sealed, err := compose(v, next)
	if err != nil || len(sealed) == 0 {
		return attempt{err: err}
	}
	a := attempt{before: v.text, text: slices.Concat(v.text, lines), sealed: sealed}
	if a.err = l.backend.extend(ctx, v, lines, sealed); a.err != nil {
		a.err = fmt.Errorf("extend the ledger: %w", a.err)
	}
	return a
}

// compose gives the lines by which a version is to be extended.
func compose(v version, next func(State) ([]ratchet.Entry, error)) (lines []byte, sealed []ratchet.Entry, err error) {
	state, err := read(v)
	if err != nil {
		return nil, nil, err
	}
	entries, err := next(state)
	if err != nil || len(entries) == 0 {
		return nil, nil, err
	}
	var head ratchet.Head
	if n := len(state.Entries); n > 0 {
		head = ratchet.Head{Seq: n, Hash: state.Entries[n-1].Hash}
	}
	if lines, sealed, err = head.Seal(entries); err != nil {
		return nil, nil, err
	}
	folded, err := ratchet.Fold(state.Entries) // anew: next may have tried things on the one it was given
	for _, e := range sealed {
		err = errors.Join(err, folded.Apply(e))
	}
	if err != nil {
		return nil, nil, fmt.Errorf("extend the ledger: %w", err)
	}
	if len(v.text)+len(lines) > ratchet.MaxLedger || len(state.Entries)+len(sealed) > ratchet.MaxEntries {
		return nil, nil, errors.New("the ledger is full: begin another under a new name")
	}
	if len(v.text) > 0 && v.text[len(v.text)-1] != '\n' {
		lines = append([]byte("\n"), lines...)
	}
	return lines, sealed, nil
}
