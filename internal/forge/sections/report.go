package sections

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/forge"
)

// Errors that a forge's package gives its own names.
var (
	ErrKey  = errors.New("not a valid section key")
	ErrFull = errors.New("the report has as many sections as it can hold")
	ErrBusy = errors.New("other jobs are still writing the report")
)

// maxReads is how often a writer reads the notes before it gives up.
//
// No forge can update a note only if it is unchanged, so two writers can undo each
// other's sections. Three rules make them converge anyway:
//
//  1. A write is sent within half of Settle after reading the notes it is based on;
//     otherwise they are read again. So no write is based on a state older than Settle.
//  2. After a write, the writer keeps reading until one note that contains its section
//     stays unchanged for Settle. Every later write is then based on a state that includes
//     the section, and keeps it.
//  3. Of several notes the oldest is the report: the sections of the others are merged
//     into it before they are deleted.
const maxReads = 60

// Note is one of pawl's own notes that is a report.
type Note struct {
	ID      int64
	Body    string // normalized
	URL     string
	Updated time.Time
}

// IsReport reports whether a note is a report.
func IsReport(body string) bool {
	_, ok := parse(body)
	return ok
}

// Kind is what to do after a read.
type Kind int

// The kinds of actions.
const (
	nothing Kind = iota
	Create
	Edit
	Remove
	full
)

// Action is the next step after a read.
type Action struct {
	Kind Kind
	ID   int64  // of the note; not for Create
	Body string // for Create and Edit
	url  string // of the report, if there is nothing to do
}

// Thread holds the notes of one pull request at a forge.
type Thread interface {
	// Own returns the reports that this account wrote, oldest first, and when the oldest was read.
	Own(ctx context.Context) ([]Note, time.Time, error)
	// Do carries out an action. It returns nil if reading again will show what happened.
	Do(ctx context.Context, a Action) error
	// Pace waits until a write may be sent.
	Pace(ctx context.Context) error
}

// Clock is the time that a writer lives in.
type Clock struct {
	Now    func() time.Time
	Sleep  func(ctx context.Context, d time.Duration) error
	Random func() float64 // in [0,1), for jitter between writers
	Settle time.Duration  // how long a report must stay unchanged to count as settled
}

// CheckKey returns an error for a key that no section can have. A forge's package calls it before it sends anything.
func CheckKey(key string) error {
	if !validKey(key) {
		return fmt.Errorf("%w: %.100q", ErrKey, key)
	}
	return nil
}

// Write writes a section of the report and returns the report's URL; empty if there is no report and the section is quiet. It
// writes nothing if the section is already there.
func Write(ctx context.Context, t Thread, c Clock, s forge.Section) (string, error) {
	if err := CheckKey(s.Key); err != nil {
		return "", err
	}
	w := &writer{mine: newSection(s), quiet: s.Quiet}
	var still []Note // the state before the last pause, if it was as required
	for range maxReads {
		if err := t.Pace(ctx); err != nil { // before the read, because the state ages from then on
			return "", err
		}
		all, asOf, err := t.Own(ctx)
		if err != nil {
			return "", err
		}
		do := w.next(all)
		if do.Kind == full {
			return "", fmt.Errorf("%w: %d", ErrFull, maxSections)
		}
		if do.Kind == nothing {
			if !w.wrote || slices.Equal(all, still) {
				return do.url, nil
			}
			still = all
			if err := c.Sleep(ctx, c.Settle); err != nil {
				return "", err
			}
			continue
		}
		still = nil
		if w.wrote { // another writer is active: add jitter
			if err := c.Sleep(ctx, time.Duration(c.Random()*float64(c.Settle)/4)); err != nil {
				return "", err
			}
		}
		if do.Kind != Create && c.Now().Sub(asOf) > c.Settle/2 {
			continue
		}
		w.wrote = true
		if err := t.Do(ctx, do); err != nil {
			return "", err
		}
	}
	return "", fmt.Errorf("%w after %d reads", ErrBusy, maxReads)
}

// writer decides what to do about the current state. It is independent of time and forge.
type writer struct {
	mine  section
	quiet bool
	wrote bool
	old   []string // digests of this section from before the first write
}

func (w *writer) next(all []Note) Action {
	if len(all) == 0 {
		if w.quiet {
			return Action{}
		}
		return Action{Kind: Create, Body: render([]section{w.mine})}
	}
	sections := merge(all)
	if !w.overtaken(sections) {
		sections = put(sections, w.mine)
	}
	if len(sections) > maxSections {
		return Action{Kind: full}
	}
	report := all[0]
	body := render(sections)
	switch {
	case strings.TrimSpace(body) != strings.TrimSpace(report.Body):
		return Action{Kind: Edit, ID: report.ID, Body: body}
	case len(all) > 1:
		return Action{Kind: Remove, ID: all[len(all)-1].ID}
	}
	return Action{url: report.URL}
}

// overtaken reports whether another writer wrote this section later, so that its version is
// newer. Seeing a version from before the first write only means that a slow writer undid
// it.
func (w *writer) overtaken(sections []section) bool {
	i := slices.IndexFunc(sections, func(s section) bool { return s.key == w.mine.key })
	if i < 0 || sections[i].digest == w.mine.digest {
		// The same section, possibly shortened since: do not restore what others cut.
		if i >= 0 {
			w.mine.text = sections[i].text
		}
		return false
	}
	if !w.wrote {
		w.old = append(w.old, sections[i].digest)
	}
	return !slices.Contains(w.old, sections[i].digest)
}

// merge collects the sections of all notes. For each key, the last written note wins.
func merge(all []Note) []section {
	byAge := slices.Clone(all)
	slices.SortStableFunc(byAge, func(a, b Note) int { return a.Updated.Compare(b.Updated) })
	var sections []section
	for _, f := range byAge {
		own, _ := parse(f.Body)
		for _, s := range own {
			sections = put(sections, s)
		}
	}
	return sections
}
