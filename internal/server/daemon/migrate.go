package daemon

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/base/failpoint"
	"github.com/goatnote-inc/pawl/internal/server/queue"
	"github.com/goatnote-inc/pawl/internal/server/store/migrations"
)

func newMigrate(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "migrate",
		Short: "Migrate the database to this version",
		Long: `Applies the missing migrations. Servers of the previous version keep working meanwhile, so
migrate first and replace them afterwards. To go back by one version, install the previous
pawld again: it runs on the newer schema. Processes that migrate at the same time take turns.

It connects with database.migrate_url, the owner of the schema, if that is set.`,
		Example: `  PAWLD_DATABASE_URL=postgres://pawl@127.0.0.1/pawl pawld migrate`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := g.load()
			if err != nil {
				return err
			}
			if err := c.needDatabase(); err != nil {
				return err
			}
			return migrate(cmd.Context(), c, g.Out)
		},
	}
}

func migrate(ctx context.Context, c *config, say io.Writer) error {
	url := c.Database.MigrateURL.Reveal()
	applied, err := migrations.Migrate(ctx, url)
	for _, name := range applied {
		fmt.Fprintln(say, "applied "+name)
	}
	if err == nil {
		failpoint.At("migrate.store")
		err = queue.Migrate(ctx, url)
	}
	if err != nil {
		return scrub(err, c)
	}
	if len(applied) == 0 {
		fmt.Fprintln(say, "the database is up to date")
	}
	return nil
}
