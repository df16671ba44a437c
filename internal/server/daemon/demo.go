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
	"github.com/goatnote-inc/pawl/internal/base/loopback"
	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/forge/identity"
	"github.com/goatnote-inc/pawl/internal/server/alert"
	"github.com/goatnote-inc/pawl/internal/server/blob"
	"github.com/goatnote-inc/pawl/internal/server/demo"
	"github.com/goatnote-inc/pawl/internal/server/pgtemp"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/store/pointstore"
)

const demoProject = "demo"

func newDemo(g *globals) *cobra.Command {
	d := demonstration{globals: g}
	c := &cobra.Command{
		Use:   "demo",
		Short: "Run a demo: a temporary PostgreSQL with a year of made-up history",
		Long: `Starts the installed PostgreSQL in a temporary folder (as another user when run as root),
fills it with a year of made-up history of a project, detects the changes in it, and
serves it on this machine until interrupted. Everything is removed at the end, even if
the process is killed.

Exit code: 0 when interrupted, 3 when there is no PostgreSQL to start.`,
		Example: `  pawld demo
  pawld demo --addr 127.0.0.1:8080 --seed 7`,
		RunE: func(cmd *cobra.Command, _ []string) error { return d.run(cmd.Context()) },
	}
	c.Flags().StringVar(&d.addr, "addr", "127.0.0.1:7295", "loopback `address` to listen on")
	c.Flags().Uint64Var(&d.seed, "seed", 1, "random seed of the history")
	c.Flags().IntVar(&d.days, "days", 365, "length of the history in days")
	return c
}

type demonstration struct {
	*globals
	addr string
	seed uint64
	days int
}

func (d *demonstration) run(ctx context.Context) error {
	if !loopback.Is(d.addr) {
		return usageError{fmt.Errorf("--addr %s is reachable from other machines: anyone could read the demo, so use a loopback address (127.0.0.1:PORT)", d.addr)}
	}
	if d.days < 1 || d.days > 3650 {
		return usageError{errors.New("--days: must be between 1 and 3650")}
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
	step("starting PostgreSQL in %s", place.dir)
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
		return fmt.Errorf("cannot listen on %s: %w; choose another address with --addr", addr, err)
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
	s, err := store.Open(ctx, store.Config{URL: c.Database.URL.Reveal(), Conns: 16, AllowUnsafe: true}, nil)
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
	step("stored %d reports with %d points: detecting changes", reports, points)
	looked, err := retryWhileBusy(ctx, func() (alert.ScanStats, error) { return alert.Scan(ctx, s, p.ID) })
	if err != nil {
		return err
	}
	step("scanned %d series, found %d events", looked.Series, looked.Events)
	if _, err := s.Compact(ctx, pointstore.CompactOptions{Project: p.ID}); err != nil {
		return err
	}
	step("packed older points")
	return nil
}

// introduce prints the address and what to look for.
func (d *demonstration) introduce(a net.Addr, size demo.Size) {
	base := "http://" + a.String()
	fmt.Fprintf(d.Out, "\n  %s/p/%s\n\nWhat it contains:\n", base, demoProject)
	for _, t := range demo.Truth(d.seed, size) {
		fmt.Fprintf(d.Out, "  %s\n", plantedLine(t))
	}
	fmt.Fprintf(d.Out, `
See
  %[1]s/p/%[2]s               what changed, worst first
  %[1]s/p/%[2]s/events        all events
  %[1]s/p/%[2]s/suites/attention   a suite: configs by commits
  %[1]s/v1/projects/%[2]s/series   the series as JSON
Press Ctrl-C to stop the demo and delete its data.
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
		return fmt.Sprintf("%-12s a commit made %s %s", when, where, words.Change(1+t.Change))
	case demo.Drift:
		return fmt.Sprintf("%-12s %s started to drift, %s at the end: no single commit stands out", when, where, words.Change(1+t.Change))
	case demo.Machine:
		return fmt.Sprintf("%-12s %s became %s: the cause was the machine", when, where, words.Change(1+t.Change))
	case demo.TwoSpeeds:
		return fmt.Sprintf("%-12s %s alternates between two speeds without a code change", when, where)
	default:
		return fmt.Sprintf("%-12s single runs of %s were disturbed", when, where)
	}
}
