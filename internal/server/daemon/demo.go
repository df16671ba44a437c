package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/forge/identity"
	"github.com/goatnote-inc/pawl/internal/server/alert"
	"github.com/goatnote-inc/pawl/internal/server/blob"
	"github.com/goatnote-inc/pawl/internal/server/demo"
	"github.com/goatnote-inc/pawl/internal/server/pgtemp"
	"github.com/goatnote-inc/pawl/internal/server/store"
)

const demoProject = "demo"

func newDemo(g *globals) *cobra.Command {
	d := demonstration{globals: g}
	c := &cobra.Command{
		Use:   "demo",
		Short: "Show it: a throw-away PostgreSQL with a year of made-up history",
		Long: `Starts the PostgreSQL that is installed in a temporary folder (as another user when this
is root), fills it with a year of made-up history of a project, looks for what happened in
it, and serves it on this machine until it is interrupted. Nothing is left behind, also
when it is killed.

Exit code: 0 when it was interrupted, 3 where there is no PostgreSQL to start.`,
		Example: `  pawld demo
  pawld demo --addr 127.0.0.1:8080 --seed 7`,
		RunE: func(cmd *cobra.Command, _ []string) error { return d.run(cmd.Context()) },
	}
	c.Flags().StringVar(&d.addr, "addr", "127.0.0.1:7295", "loopback `address` to listen on")
	c.Flags().Uint64Var(&d.seed, "seed", 1, "of the history")
	c.Flags().IntVar(&d.days, "days", 365, "how much of a year")
	return c
}

type demonstration struct {
	*globals
	addr string
	seed uint64
	days int
}

func (d *demonstration) run(ctx context.Context) error {
	if !loopback(d.addr) {
		return usageError{fmt.Errorf("--addr %s can be reached by others: anybody may read and nothing is kept, so a demo is for this machine (127.0.0.1:PORT)", d.addr)}
	}
	if d.days < 1 || d.days > 3650 {
		return usageError{errors.New("--days: between 1 and 3650")}
	}
	if err := checkAddressFree(ctx, d.addr); err != nil {
		return err
	}
	began := time.Now()
	step := func(format string, args ...any) {
		fmt.Fprintf(d.Err, "%5.1f s  %s\n", time.Since(began).Seconds(), fmt.Sprintf(format, args...))
	}
	place, err := newDemoPlace()
	if err != nil {
		return err
	}
	defer place.close()
	step("starting a PostgreSQL in %s", place.dir)
	pg, err := pgtemp.Start(ctx, pgtemp.Options{Dir: place.dir, Settings: []string{"max_wal_size=4GB", "shared_buffers=256MB"}})
	if err != nil {
		return err
	}
	c := d.settings(place.dir, pg.URL("postgres"))
	if err := migrate(ctx, c, io.Discard); err != nil {
		return err
	}
	size := demo.Size{End: d.now().Truncate(24 * time.Hour), Days: d.days}
	if err := d.fill(ctx, c, size, step); err != nil {
		return err
	}
	err = d.serve(ctx, c, func(a net.Addr) {
		step("ready")
		d.introduce(a, size)
	})
	return err
}

// checkAddressFree checks that an address can be listened on, before half a minute is spent on preparing the demo.
func checkAddressFree(ctx context.Context, addr string) error {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return fmt.Errorf("listening on %s: %w; --addr takes another", addr, err)
	}
	return l.Close()
}

// settings returns settings for a local server that keeps nothing.
func (d *demonstration) settings(dir, url string) *config {
	c := defaults(environment{})
	c.Listen, c.URL = d.addr, "http://"+d.addr
	c.Database.URL, c.Database.MigrateURL = identity.NewToken(url), identity.NewToken(url)
	c.Database.AllowUnsafe, c.Database.Migrate = true, false
	c.Blobs.URL = "file://" + filepath.ToSlash(filepath.Join(dir, "blobs"))
	c.Admin.Listen = "unix:" + filepath.Join(dir, "admin.sock")
	c.CI.Issuers = nil
	c.Shutdown.Delay, c.Shutdown.Drain = 0, 2*time.Second
	c.Log.Level = "warn"
	return c
}

// fill stores the history as if the reports had been received, and scans it.
func (d *demonstration) fill(ctx context.Context, c *config, size demo.Size, step func(string, ...any)) error {
	s, err := store.Open(ctx, store.Config{URL: c.Database.URL.Reveal(), Conns: 16, AllowUnsafe: true})
	if err != nil {
		return err
	}
	defer s.Close()
	p, err := s.CreateProject(ctx, store.Project{Project: client.Project{
		Slug: demoProject, Name: "Kernels, a made-up year", Public: true, Repository: "https://github.com/example/kernels", Branch: "main",
	}})
	if err != nil {
		return err
	}
	blobs, err := blob.Open(ctx, c.Blobs.URL)
	if err != nil {
		return err
	}
	defer blobs.Close()
	f := filler{store: s, blobs: blobs, project: p, progress: func(reports, points int) { step("%d reports, %d points", reports, points) }}
	reports, points, err := f.all(ctx, demo.Year(d.seed, size))
	if err != nil {
		return err
	}
	step("%d reports with %d points are kept: looking for what happened", reports, points)
	looked, err := retryWhileBusy(ctx, func() (alert.ScanStats, error) { return alert.Scan(ctx, s, p.ID) })
	if err != nil {
		return err
	}
	step("%d series looked at, %d events found", looked.Series, looked.Events)
	if _, err := s.Compact(ctx, store.CompactOptions{Project: p.ID}); err != nil {
		return err
	}
	step("older points are packed")
	return nil
}

// introduce prints the address and what to look for.
func (d *demonstration) introduce(a net.Addr, size demo.Size) {
	base := "http://" + a.String()
	fmt.Fprintf(d.Out, "\n  %s/p/%s\n\nWhat is in it:\n", base, demoProject)
	for _, t := range demo.Truth(d.seed, size) {
		fmt.Fprintf(d.Out, "  %s\n", plantedLine(t))
	}
	fmt.Fprintf(d.Out, `
Look at
  %[1]s/p/%[2]s               what moved, the worst first
  %[1]s/p/%[2]s/events        everything that was found
  %[1]s/p/%[2]s/suites/attention   a suite: configs by commits
  %[1]s/v1/projects/%[2]s/series   the same as JSON
Interrupt it (Ctrl-C) and everything is gone.
`, base, demoProject)
}

func plantedLine(t demo.Planted) string {
	where := t.Name
	if where == "" {
		where = "everything"
	}
	if t.Device != "" {
		where += " on " + t.Device
	}
	when := "now and then"
	if !t.At.IsZero() {
		when = t.At.Format(time.DateOnly)
	}
	switch t.Kind {
	case demo.Step:
		return fmt.Sprintf("%-12s a commit made %s %s", when, where, percent(t.Change))
	case demo.Drift:
		return fmt.Sprintf("%-12s %s began to creep, %s in the end: no single change shows it", when, where, percent(t.Change))
	case demo.Machine:
		return fmt.Sprintf("%-12s %s became %s: it was the machine", when, where, percent(t.Change))
	case demo.TwoSpeeds:
		return fmt.Sprintf("%-12s %s goes back and forth between two speeds: nobody did anything", when, where)
	default:
		return fmt.Sprintf("%-12s single runs of %s were disturbed", when, where)
	}
}

func percent(change float64) string {
	if change < 0 {
		return fmt.Sprintf("%.0f %% faster", -100*change)
	}
	return fmt.Sprintf("%.0f %% slower", 100*change)
}
