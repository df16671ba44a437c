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

	"github.com/goatnote-inc/pawl/internal/forge/identity"
	"github.com/goatnote-inc/pawl/internal/server/blob"
	"github.com/goatnote-inc/pawl/internal/server/store"
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
	attempt("database", func(ctx context.Context) error { return tryDatabase(ctx, c) })
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

func tryDatabase(ctx context.Context, c *config) error {
	if c.Database.URL.IsZero() {
		return errors.New("not set (database.url, PAWLD_DATABASE_URL)")
	}
	s, err := store.Open(ctx, store.Config{URL: c.Database.URL.Reveal(), Conns: 2, AllowUnsafe: c.Database.AllowUnsafe}, nil)
	if err != nil {
		return err
	}
	defer s.Close()
	return s.Ready(ctx)
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
