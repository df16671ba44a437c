// Package fsck checks all stored data for inconsistencies, and says how to fix each.
package fsck

import (
	"context"
	"fmt"
	"iter"

	"github.com/goatnote-inc/pawl/internal/server/blob"
	"github.com/goatnote-inc/pawl/internal/server/store"
)

// Problem is an inconsistency, and how to fix it.
type Problem struct {
	Project int64  `json:"project"`
	Kind    string `json:"kind"` // receipt, report, point, tile, series, blob, audit, event or leftover
	What    string `json:"what"`
	Do      string `json:"do"`
}

func (p Problem) String() string {
	return fmt.Sprintf("project %d: %s: %s. %s", p.Project, p.Kind, p.What, p.Do)
}

// Options selects what is checked.
type Options struct {
	Project int64 // 0 means all, and also what deleted projects left behind

	// Blobs lists the stored bytes of a project, as [blob.Bucket.All] does. Nil skips this check.
	Blobs func(ctx context.Context, project int64) iter.Seq2[blob.Object, error]
	// Collect removes bytes that no row names and that are older than the time a blob may wait
	// for its report. Nil only reports them.
	Collect store.DropBlob
	// Events checks whether the events of a project follow from its points. Nil skips this check.
	Events func(ctx context.Context, project int64) ([]Problem, error)

	Most int // max problems reported per kind and project; 0 means 100
}

// Fixes that several problems share.
const (
	doRestore = "Restore the database from a backup, or remove the report and send it again."
	doLost    = "Restore it from a backup of the object storage, or send the run again."
	doReport  = "This is a bug in pawld: please report it with this line."
)

// Run checks all stored data and returns the problems. It reads every point, in bounded
// portions. The server may keep running: what looks wrong is checked a second time. An error
// means that the check could not be completed.
func Run(ctx context.Context, s *store.Store, o Options) ([]Problem, error) {
	if o.Most <= 0 {
		o.Most = 100
	}
	projects, err := s.DB().Projects(ctx, o.Project)
	if err != nil {
		return nil, err
	}
	var all []Problem
	for _, project := range projects {
		f := fsck{s: s, project: project, o: o, told: map[string]int{}}
		for _, look := range []func(context.Context) error{f.receipts, f.references, f.points, f.blobs, f.audit, f.events} {
			if err := look(ctx); err != nil {
				return all, fmt.Errorf("cannot check project %d: %w", project, err)
			}
		}
		all = append(all, f.problems...)
	}
	if o.Project == 0 {
		left, err := leftovers(ctx, s, projects)
		if err != nil {
			return all, err
		}
		all = append(all, left...)
	}
	return all, nil
}

// fsck is a check of one project.
type fsck struct {
	s        *store.Store
	project  int64
	o        Options
	problems []Problem
	told     map[string]int
	deleted  []int64 // ids of deleted series, ascending
}

func (f *fsck) tell(kind, do, format string, args ...any) {
	f.told[kind]++
	switch n := f.told[kind]; {
	case n <= f.o.Most:
		f.problems = append(f.problems, Problem{f.project, kind, fmt.Sprintf(format, args...), do})
	case n == f.o.Most+1:
		f.problems = append(f.problems, Problem{f.project, kind, "there are more problems of this kind", "Fix these, and run the check again."})
	}
}

func (f *fsck) audit(ctx context.Context) error {
	if _, err := f.s.VerifyAudit(ctx, f.project); err != nil {
		if ctx.Err() != nil {
			return err
		}
		f.tell("audit", "The log was changed outside pawld: compare it with a backup. If audit.key is new, start a server with it first.", "%v", err)
	}
	return nil
}

func (f *fsck) events(ctx context.Context) error {
	if f.o.Events == nil {
		return nil
	}
	found, err := f.o.Events(ctx, f.project)
	f.problems = append(f.problems, found...)
	return err
}
