package runner

import (
	"context"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/kernel/affected"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
)

// identical reports whether no build and no kernel reads any of the files that differ from the
// base. Then there is nothing to build or measure. Equal build outputs would not prove it: a kernel
// also reads data files, launch files and libraries.
func (r *Setup) identical(ctx context.Context) (bool, error) {
	if r.Base == "" || r.Again || r.ForceMeasure || len(r.Points) > 0 || r.measuresReferences() {
		return false, nil
	}
	repo, inside, err := r.base(ctx)
	if err != nil {
		return false, err
	}
	if r.Path == "" || !repo.Has(ctx, r.Base, r.Path) {
		return false, nil
	}
	commit, err := repo.Commit(ctx, r.Base)
	if err != nil {
		return false, err
	}
	changed, err := repo.Changed(ctx, commit)
	if err != nil {
		return false, err
	}
	// These are the rules of the change. That is safe: changing the rules
	// changes the suite, which always counts.
	rules := affected.Of(r.Suite, inside)
	others := slices.DeleteFunc(slices.Clone(changed), r.leftByRuns(ctx, repo, inside))
	files, err := rules.Affecting(ctx, others, repo.Mentions)
	if err != nil || len(files) > 0 {
		return false, err
	}
	r.Emit(Identical{Base: commit, Ignored: len(changed)})
	return true, nil
}

// leftByRuns returns a function that reports whether a file of the repository was left by an earlier run. inside is
// the path of the suite's folder.
func (r *Setup) leftByRuns(ctx context.Context, repo *build.Repository, inside string) func(file string) bool {
	own := []string{path.Join(inside, ".pawl"), path.Join(inside, within(r.Dir, filepath.Dir(r.Out)))}
	return func(file string) bool {
		ours := slices.ContainsFunc(own, func(folder string) bool { return folder != inside && strings.HasPrefix(file, folder+"/") })
		return ours && !repo.Has(ctx, "HEAD", filepath.Join(repo.Root, file))
	}
}
