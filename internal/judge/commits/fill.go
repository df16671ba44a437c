package commits

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"

	"github.com/goatnote-inc/pawl/internal/judge/runner"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
)

// Point is one commit of a history.
type Point struct {
	Commit string
	Path   string       // of its record
	Run    *measure.Run // nil if it could not be measured
	Known  bool         // measured by an earlier call
	Why    string       // why it could not be measured
}

// Every returns each nth commit of a list and its last one.
func Every(list []string, n int) []string {
	var some []string
	for i := len(list) - 1; i >= 0; i -= n {
		some = append([]string{list[i]}, some...)
	}
	return some
}

// Fill measures commits, each into a record of its own in folder. Commits that have one already are not measured again.
// The order is random, so that a machine that gets slower meanwhile does not look like a history that does.
func (g Gate) Fill(ctx context.Context, commits []string, folder string, ended func(Point)) ([]Point, error) {
	points := make([]Point, len(commits))
	for _, i := range rand.Perm(len(commits)) {
		p, err := g.fill(ctx, commits[i], filepath.Join(folder, commits[i]+".json"))
		if err != nil {
			return points, err
		}
		points[i] = p
		ended(p)
	}
	return points, nil
}

// fill measures one commit. A commit that cannot be built or run is no error.
func (g Gate) fill(ctx context.Context, commit, path string) (p Point, err error) {
	p = Point{Commit: commit, Path: path}
	if p.Run, err = measure.Load(path); err == nil && p.Run.End.State == measure.Complete {
		p.Known = true
		return p, nil
	}
	p.Run = nil
	o, remove, err := g.checkout(ctx, commit)
	if err != nil {
		return p, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	if o.Suite, err = suite.Load(filepath.Join(o.Dir, o.Path)); err != nil {
		p.Why = sentence("its suite cannot be read: " + err.Error())
		return p, nil
	}
	o.Out, o.ForceMeasure, o.Accepted = path, true, accepted
	res, err := runner.Run(ctx, o)
	if err != nil && ctx.Err() == nil {
		p.Why = sentence(err.Error())
		return p, nil
	}
	if err != nil {
		return p, err
	}
	if p.Run, err = measure.Load(res.Path); err != nil {
		return p, fmt.Errorf("cannot read the record of %.12s: %w", commit, err)
	}
	p.Path = res.Path
	return p, nil
}

// Open returns a gate for the suite in a folder, and resolves refs of its repository.
func Open(ctx context.Context, dir string, refs ...string) (g Gate, resolved []string, err error) {
	if g.Repo, err = build.Open(ctx, dir); err != nil {
		return g, nil, err
	}
	if g.Inside, err = g.Repo.Inside(dir); err != nil {
		return g, nil, err
	}
	for _, ref := range refs {
		commit, err := g.Repo.Commit(ctx, ref)
		if err != nil {
			return g, nil, &runner.UsageError{Err: err}
		}
		resolved = append(resolved, commit)
	}
	return g, resolved, nil
}
