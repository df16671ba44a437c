package daemon

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"iter"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	"golang.org/x/time/rate"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/alert"
	"github.com/goatnote-inc/pawl/internal/server/blob"
	"github.com/goatnote-inc/pawl/internal/server/demo"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/measure"
)

// newFill returns a command for drills and tests: it fills an existing database with the history of a demo.
func newFill(g *globals) *cobra.Command {
	var seed uint64
	var days int
	c := &cobra.Command{
		Use:    "fill PROJECT",
		Short:  "Fill a project with made-up history, and scan it",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return g.withProject(ctx, args[0], func(_ *config, s *store.Store, p store.Project) error {
				size := demo.Size{End: g.now().Truncate(24 * time.Hour), Days: days}
				reports, points, err := filler{store: s, project: p, progress: func(int, int) {}}.all(ctx, demo.Year(seed, size))
				if err != nil {
					return err
				}
				looked, err := retryWhileBusy(ctx, func() (alert.ScanStats, error) { return alert.Scan(ctx, s, p.ID) })
				if err != nil {
					return err
				}
				fmt.Fprintf(g.Out, "%d reports, %d points, %d events\n", reports, points, looked.Events)
				return nil
			})
		},
	}
	c.Flags().Uint64Var(&seed, "seed", 1, "random seed of the history")
	c.Flags().IntVar(&days, "days", 365, "length of the history in days")
	return c
}

// fillers is the number of reports stored concurrently: more than cores, because each waits for the database.
const fillers = 8

// wholeRuns is the number of last runs of the default branch that have records and samples: about a week of
// them, so that recent changes can be examined.
const wholeRuns = 100

// filler stores generated reports.
type filler struct {
	store    *store.Store
	blobs    *blob.Bucket // nil means reports without files
	project  store.Project
	progress func(reports, points int) // called every two seconds
}

// generatedReport is a generated report.
type generatedReport struct {
	*client.Report
	whole bool // with its files
}

// all stores reports in parallel.
func (f filler) all(ctx context.Context, year iter.Seq[*client.Report]) (reports, points int, err error) {
	var kept, sum atomic.Int64
	sometimes := rate.Sometimes{Interval: 2 * time.Second}
	sometimes.Do(func() {}) // not at the start
	group, ctx := errgroup.WithContext(ctx)
	queue := make(chan generatedReport, 2*fillers)
	group.Go(func() error {
		defer close(queue)
		for r := range f.lastWhole(year) {
			select {
			case queue <- r:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	for range fillers {
		group.Go(func() error {
			for r := range queue {
				if err := f.keep(ctx, r); err != nil {
					return fmt.Errorf("cannot store a made-up run: %w", err)
				}
				kept.Add(1)
				sum.Add(int64(len(r.Points)))
				sometimes.Do(func() { f.progress(int(kept.Load()), int(sum.Load())) })
			}
			return nil
		})
	}
	err = group.Wait()
	return int(kept.Load()), int(sum.Load()), err
}

// lastWhole delays the last runs of the default branch until it is known that they are the last.
func (f filler) lastWhole(year iter.Seq[*client.Report]) iter.Seq[generatedReport] {
	return func(yield func(generatedReport) bool) {
		var held []*client.Report
		for r := range year {
			if f.blobs != nil && r.Pull == 0 {
				held = append(held, r)
				if len(held) <= wholeRuns {
					continue
				}
				r, held = held[0], held[1:]
			}
			if !yield(generatedReport{r, false}) {
				return
			}
		}
		for _, r := range held {
			if !yield(generatedReport{r, true}) {
				return
			}
		}
	}
}

// keep stores a report, its files first.
func (f filler) keep(ctx context.Context, r generatedReport) error {
	if r.whole {
		files, err := demo.Files(r.Report)
		if err != nil {
			return err
		}
		for _, file := range files {
			if err := f.blobs.Put(ctx, f.project.ID, file.Digest, bytes.NewReader(file.Data), file.Size); err != nil {
				return err
			}
			if _, err := f.store.AddBlob(ctx, f.project.ID, file.Digest, file.Size, client.Main); err != nil {
				return err
			}
		}
	}
	_, err := f.store.Ingest(ctx, f.project.ID, incoming(r.Report))
	return err
}

// incoming makes a generated report look received. The lane is the one that a server would assign.
func incoming(r *client.Report) store.Incoming {
	lane := client.Main
	switch {
	case r.Pull > 0 && r.Trust == measure.SelfTimed:
		lane = client.Fork
	case r.Pull > 0:
		lane = client.Branch
	}
	return store.Incoming{
		Key: client.Key(r), Body: sha256.Sum256([]byte(r.Run)), Report: r, Lane: lane,
		Sender: map[string]string{"kind": "demo"},
	}
}
