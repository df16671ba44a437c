package store

import (
	"context"
	"fmt"
	"iter"
	"time"
)

// Problem is something that should not be, and what to do about it.
type Problem struct {
	Project int64  `json:"project"`
	Kind    string `json:"kind"` // receipt, report, point, tile, series, blob, audit, event or leftover
	What    string `json:"what"`
	Do      string `json:"do"`
}

func (p Problem) String() string {
	return fmt.Sprintf("project %d: %s: %s. %s", p.Project, p.Kind, p.What, p.Do)
}

// KeptBlob is a blob as its bytes are kept.
type KeptBlob struct {
	Digest string
	Size   int64
	At     time.Time // when they were written
}

// FsckOptions say what is looked at.
type FsckOptions struct {
	Project int64 // 0 for all, and for what deleted projects left behind

	// Blobs lists the bytes that are kept for a project; nil leaves them out.
	Blobs func(ctx context.Context, project int64) iter.Seq2[KeptBlob, error]
	// Collect removes bytes that no row names and that are older than the time a blob may
	// wait for its report. Nil only tells of them.
	Collect DropBlob
	// Events looks whether the events of a project follow from its points; nil leaves it out.
	Events func(ctx context.Context, project int64) ([]Problem, error)

	Most int // problems of a kind in a project that are told of; 0 for 100
}

// What to do, where it is the same for many.
const (
	doRestore = "Restore the database from a backup, or remove the report and send it again."
	doLost    = "Restore it from a backup of the object storage, or send the run again."
	doReport  = "This is a fault of pawld: please report it with this line."
)

// Fsck looks at everything that is kept and tells what is wrong. It reads every point,
// in bounded portions, and the server may work meanwhile: what looks wrong is looked at
// twice. An error means that it could not look.
func (s *Store) Fsck(ctx context.Context, o FsckOptions) ([]Problem, error) {
	if o.Most <= 0 {
		o.Most = 100
	}
	projects, err := s.projectsOr(ctx, o.Project)
	if err != nil {
		return nil, err
	}
	var all []Problem
	for _, project := range projects {
		f := fsck{s: s, project: project, o: o, told: map[string]int{}}
		for _, look := range []func(context.Context) error{f.receipts, f.references, f.points, f.blobs, f.audit, f.events} {
			if err := look(ctx); err != nil {
				return all, fmt.Errorf("looking at project %d: %w", project, err)
			}
		}
		all = append(all, f.problems...)
	}
	if o.Project == 0 {
		left, err := s.leftovers(ctx, projects)
		if err != nil {
			return all, err
		}
		all = append(all, left...)
	}
	return all, nil
}

// fsck is a look at one project.
type fsck struct {
	s        *Store
	project  int64
	o        FsckOptions
	problems []Problem
	told     map[string]int
}

func (f *fsck) tell(kind, do, format string, args ...any) {
	f.told[kind]++
	switch n := f.told[kind]; {
	case n <= f.o.Most:
		f.problems = append(f.problems, Problem{f.project, kind, fmt.Sprintf(format, args...), do})
	case n == f.o.Most+1:
		f.problems = append(f.problems, Problem{f.project, kind, "there are more of this kind", "Mend these, and look again."})
	}
}

func (f *fsck) audit(ctx context.Context) error {
	if _, err := f.s.VerifyAudit(ctx, f.project); err != nil {
		if ctx.Err() != nil {
			return err
		}
		f.tell("audit", "Somebody changed the log outside pawld: compare it with a backup.", "%v", err)
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
