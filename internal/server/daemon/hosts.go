package daemon

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/fleet/wake"
	"github.com/goatnote-inc/pawl/internal/server/engine"
)

// hosts returns the hosts that the fleet starts and stops; nil if there are none.
func (c *config) hosts(env environment) (*wake.Config, error) {
	if c.Fleet.Hosts == "" {
		return nil, nil
	}
	locks := env.stateDir()
	if err := os.MkdirAll(locks, 0o700); err != nil {
		return nil, fmt.Errorf("cannot create the state folder: %w", err)
	}
	hosts, err := wake.LoadHosts(c.Fleet.Hosts, locks)
	if err != nil {
		return nil, fmt.Errorf("fleet.hosts: %w", err)
	}
	return hosts, nil
}

func fleetHosts(g *globals) *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use:   "hosts",
		Short: "Show the hosts that the fleet starts and stops, and today's cost",
		Example: `  pawld fleet hosts
  pawld fleet hosts --json`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return g.withEngine(cmd.Context(), func(ctx context.Context, e *engine.Engine) error {
				sum, err := e.Hosts(ctx)
				if err != nil {
					return err
				}
				if asJSON {
					return g.asJSON(sum)
				}
				return sum.Print(g.Out)
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	return c
}
