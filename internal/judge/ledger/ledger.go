// Package ledger stores baselines: the append-only record of package ratchet, in a file of the tree
// or on a dedicated branch. It contains the handling of files and git, and loses no line to a crash
// or a concurrent writer. It must not know what an entry means beyond what package ratchet says,
// nor when a baseline may move.
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

// Default places of a repository's ledger. The file is beside the suite, where reviewers see it in
// a change and .gitignore does not apply.
const (
	DefaultFile   = "pawl.baselines.jsonl"
	DefaultBranch = "pawl/baselines"
)

// Location is the location of a ledger: a file below Dir, or, with Branch, a branch of the git
// repository that contains Dir. With both, it is that file on that branch.
type Location struct {
	Dir  string
	File string // relative to Dir; empty for DefaultFile, or for the branch's own file

	Branch string // such as DefaultBranch; the working tree is not touched
	Remote string // configured remote, such as origin, whose branch is authoritative; empty for this repository
	// Fetched reads the branch as last fetched into this clone, without network access, for jobs
	// without credentials. Such a ledger cannot be extended.
	Fetched bool

	// Wait returns a random wait before another try, up to the given limit. It is injected because
	// two writers must not draw the same time. Nil means not to wait.
	Wait func(most time.Duration) time.Duration
}

// Ledger is an opened ledger. It caches nothing: every call reads the current state.
type Ledger struct {
	backend backend
	wait    func(time.Duration) time.Duration
}

// State is the current content of a ledger.
type State struct {
	Entries   []ratchet.Entry // oldest first
	Baselines ratchet.Baselines
}

// ErrChanged means that a ledger is not as pawl wrote it.
var ErrChanged = errors.New("the ledger was changed outside pawl or is damaged (run `pawl baseline verify`)")

// backend stores a ledger and extends it unless another writer was faster.
type backend interface {
	// load returns the current ledger.
	load(ctx context.Context) (version, error)
	// extend adds lines to a version. It fails with errConflict or errRefused if the ledger is no
	// longer that version. When it returns nil, the lines are durable.
	extend(ctx context.Context, old version, lines []byte, entries []ratchet.Entry) error
	// history compares the versions in git, and the last one with the one loaded.
	history(ctx context.Context, v version, r *Report) error
}

// version is the content of a ledger, and what a backend needs to recognize it.
type version struct {
	text []byte // whole lines; the last may lack its newline
	torn []byte // start of a line whose writer was killed
	tip  string // commit of a branch
}

var (
	// errConflict means that another writer was faster.
	errConflict = errors.New("another writer extended the ledger at the same time")
	// errRefused means that the ledger could not be extended, most likely because another writer
	// was faster. If none was, there is another reason, and retrying does not help.
	errRefused = errors.New("the ledger was not extended")
)

// Open prepares a ledger. The ledger need not exist yet.
func Open(ctx context.Context, w Location) (*Ledger, error) {
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

// Read returns the current state of the ledger.
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
	// maxTries is the max number of attempts of an append; one writer succeeds each time.
	maxTries = 64
	// maxWait is the max wait between two attempts.
	maxWait = 250 * time.Millisecond
)

// Append calls next with the current state and adds the entries that it returns: all of them, or only the
// first lines if the machine fails in between. If another writer was faster, it calls next again with the new
// state. When it returns without an error, the entries are on disk, and on the remote if there is one.
func (l *Ledger) Append(ctx context.Context, next func(State) ([]ratchet.Entry, error)) ([]ratchet.Entry, error) {
	var last attempt
	for try := range maxTries {
		v, err := l.backend.load(ctx)
		if err != nil {
			return nil, errors.Join(last.err, err)
		}
		switch {
		case last.err == nil:
		case bytes.HasPrefix(v.text, last.text): // the extension arrived, and only the answer was lost
			return last.sealed, nil
		case errors.Is(last.err, errRefused) && bytes.Equal(v.text, last.before):
			return nil, last.err
		}
		last = l.try(ctx, v, next)
		if last.err == nil || !errors.Is(last.err, errConflict) && !errors.Is(last.err, errRefused) {
			return last.sealed, last.err
		}
		most := min(maxWait, time.Millisecond<<min(try, 10))
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("cannot extend the ledger: %w", ctx.Err())
		case <-time.After(min(l.wait(most), most)):
		}
	}
	return nil, fmt.Errorf("%w: gave up after %d attempts; try again when there are fewer writers", last.err, maxTries)
}

// attempt is one try to extend a ledger: the text before, the intended text, and the result.
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
		a.err = fmt.Errorf("cannot extend the ledger: %w", a.err)
	}
	return a
}

// compose returns the lines that extend a version.
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
	folded, err := ratchet.Fold(state.Entries) // fold again: next may have modified its copy
	for _, e := range sealed {
		err = errors.Join(err, folded.Apply(e))
	}
	if err != nil {
		return nil, nil, fmt.Errorf("cannot extend the ledger: %w", err)
	}
	if len(v.text)+len(lines) > ratchet.MaxLedger || len(state.Entries)+len(sealed) > ratchet.MaxEntries {
		return nil, nil, errors.New("the ledger is full: start another one under a new name")
	}
	if len(v.text) > 0 && v.text[len(v.text)-1] != '\n' {
		lines = append([]byte("\n"), lines...)
	}
	return lines, sealed, nil
}
