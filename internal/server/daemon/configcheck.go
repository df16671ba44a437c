package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/forge/identity"
	"github.com/goatnote-inc/pawl/internal/server/blob"
	"github.com/goatnote-inc/pawl/internal/server/queue"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/store/pg"
)

func newConfig(g *globals) *cobra.Command {
	var offline bool
	check := &cobra.Command{
		Use:   "check",
		Short: "Print each setting with its source, and test the settings",
		Long: `Prints the settings that pawld would run with, secrets masked, and tests them: the database,
the file storage, the keys of the issuers. Nothing is changed.

Exit code: 0 when everything works, 1 when something does not, 4 when the settings are invalid.`,
		Example: `  pawld config check --config /etc/pawld/pawld.yaml
  PAWLD_LISTEN=0.0.0.0:7295 pawld config check --offline`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := g.load()
			if err != nil {
				return err
			}
			if err := c.show(g.Out); err != nil || offline {
				return err
			}
			fmt.Fprintln(g.Out)
			return g.try(cmd.Context(), c)
		},
	}
	check.Flags().BoolVar(&offline, "offline", false, "only print, make no connections")
	return group(&cobra.Command{
		Use:     "config",
		Short:   "Show and test the settings",
		Example: `  pawld config check --config /etc/pawld/pawld.yaml`,
	}, check)
}

// try contacts each service that the settings name, independently, so that all problems show at once.
func (g *globals) try(ctx context.Context, c *config) error {
	failed := 0
	attempt := func(what string, do func(context.Context) error) {
		ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
		defer cancel()
		if err := do(ctx); err != nil {
			failed++
			fmt.Fprintf(g.Out, "FAIL  %s: %s\n", what, scrubbed(err, c))
			return
		}
		fmt.Fprintf(g.Out, "ok    %s\n", what)
	}
	attempt("database", func(ctx context.Context) error { return g.tryDatabase(ctx, c) })
	attempt("files: "+c.Blobs.URL, func(ctx context.Context) error { return tryBlobs(ctx, c.Blobs.URL) })
	for _, issuer := range c.CI.Issuers {
		if !c.takesJobs() {
			fmt.Fprintf(g.Out, "-     keys of %s: not checked, CI job tokens are accepted only with an https url\n", issuer)
			continue
		}
		attempt("keys of "+issuer, func(ctx context.Context) error { return identity.CheckIssuer(ctx, issuer, nil, g.now) })
	}
	if c.Login.Issuer != "" {
		attempt("login at "+c.Login.Issuer, func(ctx context.Context) error { return identity.CheckIssuer(ctx, c.Login.Issuer, nil, g.now) })
	}
	if mail := c.mail(); mail.Server != "" {
		attempt("mail through "+mail.Server, mail.Try)
	}
	if failed > 0 {
		return noError{errReported}
	}
	return nil
}

// tryDatabase checks what a server needs of the database. An old schema is no failure if the server migrates
// when it starts.
func (g *globals) tryDatabase(ctx context.Context, c *config) error {
	if c.Database.URL.IsZero() {
		return errors.New("not set (database.url, PAWLD_DATABASE_URL)")
	}
	s, err := store.Open(ctx, store.Config{URL: c.Database.URL.Reveal(), Conns: 2, AllowUnsafe: c.Database.AllowUnsafe}, nil)
	if refused, ok := errors.AsType[*pg.RefusedError](err); ok && refused.Do == pg.DoMigrate && c.Database.Migrate {
		fmt.Fprintf(g.Out, "-     database: %s; pawld serve migrates it when it starts\n", refused.Reason)
		return nil
	}
	if err != nil {
		return err
	}
	defer s.Close()
	if user := s.DB().Superuser; user != "" {
		fmt.Fprintf(g.Out, "warn  database: its user %s is a superuser, so a flaw in pawld could reach everything on that server: use a role that is only a member of pawl_app\n", user)
	}
	room, err := s.DB().Room(ctx)
	if err != nil {
		return err
	}
	own := c.Database.Connections + queue.Connections
	fmt.Fprintf(g.Out, "-     connections: a server uses up to %d (database.connections %d, and %d for its queue); the database accepts %d, enough for %s, one less while servers are replaced\n",
		own, c.Database.Connections, queue.Connections, room, words.Plural(room/own, "server"))
	if room < own {
		return fmt.Errorf("max_connections leaves %d connections, and a server needs %d: raise it, or lower database.connections", room, own)
	}
	return nil
}

// tryBlobs checks the bucket without creating anything: the server creates a missing folder when it starts,
// with its own rights.
func tryBlobs(ctx context.Context, url string) error {
	if dir, ok := strings.CutPrefix(url, "file://"); ok {
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			return canMake(dir)
		}
	}
	b, err := blob.Open(ctx, url)
	if err != nil {
		return err
	}
	defer b.Close()
	for _, err := range b.Projects(ctx) {
		return err // one entry is enough to show that it is readable
	}
	return nil
}

// canMake returns why a folder cannot be created, judged by its nearest existing parent.
func canMake(dir string) error {
	for at := filepath.Dir(dir); ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist) && at != filepath.Dir(at):
			continue
		case err != nil:
			return err
		case !info.IsDir():
			return fmt.Errorf("cannot create %s: %s is not a folder", dir, at)
		case unix.Access(at, unix.W_OK) != nil:
			return fmt.Errorf("%s does not exist, and the current user cannot create it in %s", dir, at)
		}
		return nil
	}
}

// scrub removes secrets from a driver's error.
func scrub(err error, c *config) error {
	if text := scrubbed(err, c); text != err.Error() {
		return errors.New(text)
	}
	return err
}

// scrubbed removes the database password from a driver's message.
func scrubbed(err error, c *config) string {
	text := err.Error()
	for _, s := range c.settings() {
		if t, ok := s.value.(*identity.Token); ok && !t.IsZero() {
			text = strings.ReplaceAll(text, t.Reveal(), masked(*t))
			if p := passwordOf(*t); p != "" {
				text = strings.ReplaceAll(text, p, t.String())
			}
		}
	}
	return text
}
