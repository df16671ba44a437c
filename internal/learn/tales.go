package learn

import (
	"errors"
	"fmt"
	"time"

	"github.com/goatnote-inc/pawl/internal/learn/journal"
	"github.com/goatnote-inc/pawl/internal/learn/keep"
)

// Tales tells all sessions of a folder; what is not named as pawl names journals is none.
// Journals that cannot be read are named in problems,
// with what can be told of them.
func Tales(f journal.Folder, now time.Time) (tales []Tale, problems []string, err error) {
	list, err := keptTales(f, now).All()
	if err != nil {
		return nil, nil, fmt.Errorf("tell sessions: %w", err)
	}
	tales = make([]Tale, 0, len(list)+1)
	for i := range list {
		if list[i].Value.ID != "" {
			tales = append(tales, list[i].Value.Tale)
		}
		if list[i].Value.problem != "" {
			problems = append(problems, list[i].Value.problem)
		}
	}
	switch w, err := f.Open(); {
	case err == nil:
		tales = append(tales, Tell(w.Session(), now))
	case !errors.Is(err, journal.ErrNoSession):
		problems = append(problems, err.Error())
	}
	return tales, problems, nil
}

// told is what a journal tells, and why not more.
type told struct {
	Tale
	problem string
}

// keptTales remembers the tales of sessions that ended.
func keptTales(f journal.Folder, now time.Time) *keep.Folder[told] {
	kept := journal.Kept[told](f, "tales")
	kept.Form = "pawl tales 4\n" // changes with Tale, or with how one is told
	kept.Read = func(path string) (told, bool) { return tellFile(path, now) }
	kept.Pack = func(p *keep.Pack, t *told) { packTale(p, &t.Tale) }
	kept.Unpack = func(u *keep.Unpack, t *told) { unpackTale(u, &t.Tale) }
	return kept
}

// tellFile reads a journal and tells it. One that is broken is told as far as it can be read,
// and not kept; nor is one without an end, which has no length yet.
func tellFile(path string, now time.Time) (t told, whole bool) {
	s, err := journal.ReadFile(path)
	if s != nil && s.ID != "" {
		t.Tale = Tell(s, now)
	}
	if err != nil {
		t.problem = err.Error()
	}
	return t, err == nil && s.Ended != nil
}
