package bench

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/progress"
	"github.com/goatnote-inc/pawl/internal/judge/commits"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/stats"
)

// fill measures a range of commits.
func (f *Flags) fill(ctx context.Context, s *suite.Suite, path string) error {
	from, to, ok := strings.Cut(f.commits, "..")
	if !ok || from == "" || to == "" {
		return command.Usage(fmt.Errorf("--commits %q: must be a range A..B", f.commits))
	}
	if f.IsSet("out") {
		return command.Usage(errors.New("--commits writes a record a commit to results/commits and takes no --out"))
	}
	o := f.Options(s, path)
	gate, ends, err := commits.Open(ctx, o.Dir, from, to)
	if err != nil {
		return err
	}
	list, err := gate.Repo.Commits(ctx, ends[0], ends[1])
	if err != nil {
		return command.Usage(err)
	}
	list = commits.Every(list, f.every)
	f.Say(fmt.Sprintf("%s to measure, in random order", words.Plural(len(list), "commit")))
	if f.DryRun {
		return nil
	}
	display := progress.New(f.Env, f.JSON)
	o.Emit = display.EventOfMany
	gate.Options = o
	done := 0
	points, err := gate.Fill(ctx, list, filepath.Join(o.Dir, "results", "commits"), func(p commits.Point) {
		done++
		f.Say(fmt.Sprintf("%d of %d: %.12s %s", done, len(list), p.Commit, pointLine(p)))
	})
	display.Close()
	if err != nil {
		if errors.Is(context.Cause(ctx), command.ErrInterrupted) {
			return fmt.Errorf("%w after %s: start the same command again to go on", command.ErrInterrupted, words.Plural(done, "commit"))
		}
		return err
	}
	return f.showPoints(points)
}

func pointLine(p commits.Point) string {
	switch {
	case p.Run == nil:
		return "skipped: " + p.Why
	case p.Known:
		return "already measured"
	default:
		return words.Plural(len(p.Run.Rounds), "round")
	}
}

// pointCase is a case of a commit, for JSON.
type pointCase struct {
	Name   string  `json:"name"`
	Median float64 `json:"median"` // of the rounds' medians
	Unit   string  `json:"unit"`
}

// showPoints prints the median of each case for each commit, oldest first.
func (f *Flags) showPoints(points []commits.Point) error {
	type point struct {
		Commit string      `json:"commit"`
		Record string      `json:"record,omitempty"`
		Why    string      `json:"why,omitempty"`
		Cases  []pointCase `json:"cases"`
	}
	document := []point{}
	for _, p := range points {
		one := point{Commit: p.Commit, Why: p.Why, Cases: []pointCase{}}
		if p.Run != nil {
			one.Record, one.Cases = p.Path, pointCases(p.Run)
		}
		document = append(document, one)
	}
	if f.JSON {
		return command.WriteJSON(f.Out, document)
	}
	for _, p := range document {
		if p.Why != "" {
			fmt.Fprintf(f.Out, "%.12s  skipped: %s\n", p.Commit, p.Why)
		}
		for _, c := range p.Cases {
			fmt.Fprintf(f.Out, "%.12s  %s  %s\n", p.Commit, c.Name, words.Quantity(c.Median, c.Unit))
		}
	}
	fmt.Fprintln(f.Out, f.Style().Faint("records: results/commits; send one with: pawl push results/commits/COMMIT.json"))
	return nil
}

func pointCases(run *measure.Run) []pointCase {
	list := []pointCase{}
	for _, c := range run.Cases {
		if c.Implementation != measure.Candidate || c.Metric != "" {
			continue
		}
		var medians []float64
		for _, r := range c.Rounds {
			if r.Error == "" && len(r.Samples) > 0 {
				medians = append(medians, stats.Median(r.Samples))
			}
		}
		if len(medians) > 0 {
			list = append(list, pointCase{c.Name(), stats.Median(medians), c.Unit})
		}
	}
	return list
}
