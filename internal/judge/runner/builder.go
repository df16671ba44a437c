package runner

import (
	"context"
	"io"

	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
)

// Builder returns a function that builds single variants of the candidate, with the same recipe and
// cache as a run, to inspect them before they run.
func Builder(o Options) func(ctx context.Context, b suite.Build, log io.Writer) (measure.BuildFacts, error) {
	r := &run{Options: o}
	r.builds = newBuildPool(r, 1)
	s := side{name: suite.Candidate, from: suite.Candidate, dir: o.Dir}
	return func(ctx context.Context, b suite.Build, log io.Writer) (measure.BuildFacts, error) {
		recipe, err := r.recipe(ctx, s, b)
		if err != nil {
			return measure.BuildFacts{}, err
		}
		if recipe.Command != "" {
			r.Emit(Building{Side: s.name, Command: recipe.Name()})
		}
		res, err := build.Make(ctx, recipe, log)
		if err == nil && recipe.Command != "" {
			r.Emit(Built{Side: s.name, Seconds: res.Facts.Seconds, Cached: res.Cached})
		}
		return res.Facts, err
	}
}
