package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/fleet/calibrate"
	"github.com/goatnote-inc/pawl/internal/fleet/placement"
	"github.com/goatnote-inc/pawl/internal/fleet/tier"
	"github.com/goatnote-inc/pawl/internal/server/engine"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/store/fleetstore"
)

func newFleet(g *globals) *cobra.Command {
	return group(&cobra.Command{
		Use:   "fleet",
		Short: "Prepare Temporal, and manage devices, budgets and gates of the fleet",
		Example: `  pawld fleet schema
  pawld fleet setup
  pawld fleet check
  pawld fleet device set GPU-5c0e --model l4 --host gpu1 --price 0.80
  pawld fleet calibrate GPU-5c0e
  pawld fleet budget kernels --hours 8
  pawld fleet tier kernels-forks checked
  pawld fleet gate kernels --repository octo/kernels --models l4 --secret-file webhook-secret`,
	}, fleetSchema(g), fleetSetup(g), fleetCheck(g), fleetDevice(g), fleetCalibrate(g), fleetBudget(g), fleetTier(g), fleetGate(g), fleetHosts(g))
}

// withEngine runs a command that only needs Temporal.
func (g *globals) withEngine(ctx context.Context, do func(context.Context, *engine.Engine) error) error {
	c, err := g.load()
	if err != nil {
		return err
	}
	if c.Fleet.Address == "" {
		return usageError{errors.New("fleet.address is not set: give the address of Temporal, such as PAWLD_FLEET_ADDRESS=127.0.0.1:7233")}
	}
	e, err := engine.New(engine.Options{Address: c.Fleet.Address, Namespace: c.Fleet.Namespace, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	defer e.Close()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	return do(ctx, e)
}

func fleetSchema(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Create or upgrade the databases of Temporal",
		Long: `Creates the two databases of Temporal on PostgreSQL, or upgrades their schema, with the temporal-sql-tool in PATH,
which decides the version. Run it before the first start of Temporal, and before a newer version starts. The setting
fleet.database_url says where; its role must be allowed to create databases, or own both.

Nothing is changed unless PostgreSQL, the role, the tool and the databases pass all checks. A schema never goes back, and
goes up by one minor version of Temporal at a time. If fleet.address is set and a server answers there, its version
counts, too. After an interruption, run it again.`,
		Example: `  PAWLD_FLEET_DATABASE_URL_FILE=temporal-url pawld fleet schema`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := g.load()
			if err != nil {
				return err
			}
			if c.Fleet.DatabaseURL.IsZero() {
				return usageError{errors.New(`fleet.database_url is not set: write it to a file that only you can read, such as
  postgres://temporal:PASSWORD@127.0.0.1:5432/temporal
and run PAWLD_FLEET_DATABASE_URL_FILE=FILE pawld fleet schema`)}
			}
			running := ""
			if c.Fleet.Address != "" {
				err := g.withEngine(cmd.Context(), func(ctx context.Context, e *engine.Engine) (err error) {
					ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
					defer cancel()
					running, err = e.Version(ctx)
					return err
				})
				if err != nil {
					fmt.Fprintf(g.Out, "Temporal at %s does not answer: no version to compare\n", c.Fleet.Address)
				}
			}
			did, err := engine.UpdateSchema(cmd.Context(), c.Fleet.DatabaseURL.Reveal(), running)
			for _, line := range did {
				fmt.Fprintln(g.Out, line)
			}
			if err != nil {
				return scrub(err, c)
			}
			return nil
		},
	}
}

func fleetSetup(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "setup",
		Short: "Create the namespace and the search attributes in Temporal",
		Long: `Creates what gates need in Temporal: the namespace of the setting fleet.namespace and its search
attributes. What exists stays as it is. The databases of Temporal are created before, with
pawld fleet schema.`,
		Example: `  PAWLD_FLEET_ADDRESS=127.0.0.1:7233 pawld fleet setup`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return g.withEngine(cmd.Context(), func(ctx context.Context, e *engine.Engine) error {
				did, err := e.Setup(ctx)
				for _, line := range did {
					fmt.Fprintln(g.Out, line)
				}
				return err
			})
		},
	}
}

func fleetCheck(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "check",
		Short: "Test whether gates can run",
		Long: `Tests that Temporal answers, that pawl was tried with its version, and that the namespace is
prepared. Run it before and after an upgrade of Temporal. Nothing is changed.

Exit code: 0 when everything works, 1 when something does not.`,
		Example: `  pawld fleet check --config /etc/pawld/pawld.yaml`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return g.withEngine(cmd.Context(), func(ctx context.Context, e *engine.Engine) error {
				failed := false
				for _, f := range e.Check(ctx) {
					if f.Err != nil {
						failed = true
						fmt.Fprintf(g.Out, "FAIL  %s: %v\n", f.What, f.Err)
						continue
					}
					fmt.Fprintf(g.Out, "ok    %s\n", f.What)
				}
				if failed {
					return noError{errReported}
				}
				return nil
			})
		},
	}
}

func fleetDevice(g *globals) *cobra.Command {
	list := &cobra.Command{Use: "list", Short: "List all devices", Example: `  pawld fleet device list --json`}
	return group(&cobra.Command{
		Use:   "device",
		Short: "Manage the devices of the fleet",
		Example: `  pawld fleet device set GPU-5c0e --model l4 --host gpu1
  pawld fleet device list`,
	}, deviceSet(g), lists(g, list, func(ctx context.Context, s *store.Store, _ []string) ([]fleetstore.Device, error) {
		return fleetstore.New(s.DB()).Devices(ctx, "")
	}, deviceLine), deviceRemove(g))
}

func deviceLine(d fleetstore.Device) string {
	seen := "never seen"
	if !d.Seen.IsZero() {
		seen = "seen " + d.Seen.Format(time.RFC3339)
	}
	line := fmt.Sprintf("%-10s %-7s %-7s %s on %s, %s", d.Model, d.Power, d.Tier, d.ID, d.Host, seen)
	if d.Reason != "" {
		line += ": " + d.Reason
	}
	if d.Quarantine != "" {
		line += fmt.Sprintf(": in quarantine since %s: %s", d.Since.Format(time.RFC3339), d.Quarantine)
	}
	return line
}

func fleetCalibrate(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "calibrate ID",
		Short: "Calibrate a device now",
		Long: `Starts a calibration of a device as soon as it is free: pawl's own kernel, the same code on both sides,
and a planted slowdown. Two bad ones of three put a device into quarantine, three good ones in a
row take it out. See the result with pawl fleet devices.`,
		Example: `  pawld fleet calibrate GPU-5c0e`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return g.withStore(cmd.Context(), func(_ *config, s *store.Store) error {
				list, err := fleetstore.New(s.DB()).Devices(cmd.Context(), "")
				if err != nil {
					return err
				}
				i := slices.IndexFunc(list, func(d fleetstore.Device) bool { return d.ID == args[0] })
				if i < 0 {
					return usageError{fmt.Errorf("unknown device %q: run `pawld fleet device list`", args[0])}
				}
				return g.withEngine(cmd.Context(), func(ctx context.Context, e *engine.Engine) error {
					if err := e.Calibrate(ctx, calibrate.Card{Device: list[i].ID, Model: list[i].Model}); err != nil {
						return err
					}
					fmt.Fprintf(g.Out, "device %s is calibrated as soon as it is free\n", args[0])
					return nil
				})
			})
		},
	}
}

func deviceSet(g *globals) *cobra.Command {
	var d fleetstore.Device
	power := string(placement.Ready)
	c := &cobra.Command{
		Use:   "set ID",
		Short: "Add a device, or change all that is known about it",
		Long: `The ID is the device's UUID, as its agent names it. Power is ready, asleep (its host has to be woken)
or closed (draining, gone or in quarantine).`,
		Example: `  pawld fleet device set GPU-5c0e --model l4 --host gpu1 --price 0.80
  pawld fleet device set GPU-5c0e --model l4 --host gpu1 --power closed --reason "fan replaced"`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			d.ID, d.Power = args[0], placement.Power(power)
			return g.withStore(cmd.Context(), func(_ *config, s *store.Store) error {
				if err := fleetstore.New(s.DB()).SetDevice(cmd.Context(), d); err != nil {
					return err
				}
				fmt.Fprintf(g.Out, "device %s: %s, %s\n", d.ID, d.Model, d.Power)
				return nil
			})
		},
	}
	f := c.Flags()
	f.StringVar(&d.Model, "model", "", "device `model` that gates ask for, such as l4")
	f.StringVar(&d.Host, "host", "", "`name` of its machine; a machine measures on one device at a time")
	f.StringVar(&power, "power", power, "ready, asleep or closed")
	f.StringVar(&d.Reason, "reason", "", "why it is closed, in a `sentence`")
	f.Float64Var(&d.Price, "price", 0, "`money` per hour, for budgets")
	return c
}

func deviceRemove(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:     "remove ID",
		Short:   "Remove a device",
		Long:    "Removes a device from the table. A measurement that runs on it ends as usual.",
		Example: `  pawld fleet device remove GPU-5c0e`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return g.withStore(cmd.Context(), func(_ *config, s *store.Store) error {
				err := fleetstore.New(s.DB()).RemoveDevice(cmd.Context(), args[0])
				if errors.Is(err, store.ErrNotFound) {
					return usageError{fmt.Errorf("unknown device %q: run `pawld fleet device list`", args[0])}
				}
				if err == nil {
					fmt.Fprintf(g.Out, "device %s was removed\n", args[0])
				}
				return err
			})
		},
	}
}

func fleetBudget(g *globals) *cobra.Command {
	var hours, money float64
	c := &cobra.Command{
		Use:   "budget PROJECT",
		Short: "Set what a project may use on a day",
		Long: `Sets the device hours and the money that a project may use on a day (UTC), over all models. A gate reserves
the longest time of its measurement and returns what it did not use, so the budget is never exceeded.
That is an hour for webhooks and pawl run --on: a smaller budget lets none of them start. 0 means no limit.`,
		Example: `  pawld fleet budget kernels --hours 8 --money 20`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if hours < 0 || money < 0 {
				return usageError{errors.New("--hours and --money must not be below 0")}
			}
			if hours > 0 && hours*3600 < client.GateSeconds {
				fmt.Fprintf(g.Err, "warning: a gate of a webhook or of pawl run --on reserves %g h, so none of them will start\n", client.GateSeconds/3600.0)
			}
			return g.withStore(cmd.Context(), func(_ *config, s *store.Store) error {
				return g.changeAudited(cmd.Context(), s, args[0], "budget.set", func(in *store.Store, p store.Project) (changeResult, error) {
					err := fleetstore.New(in.DB()).SetBudget(cmd.Context(), p.ID, placement.Cost{Seconds: hours * 3600, Money: money})
					return changeResult{
						fmt.Sprintf("budget of %s: %g hours, %g money a day (0 means no limit)", p.Slug, hours, money),
						map[string]string{"hours": fmt.Sprint(hours), "money": fmt.Sprint(money)},
					}, err
				})
			})
		},
	}
	c.Flags().Float64Var(&hours, "hours", 0, "device `hours` a day")
	c.Flags().Float64Var(&money, "money", 0, "`money` a day, in the unit of the devices' prices")
	return c
}

func fleetTier(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "tier PROJECT TIER",
		Short: "Set whose code the keys of a project send",
		Long: `Sets the tier of all gates of a project: own (people who may push), checked (forks and AI agents) or
unknown (anyone). A gate runs only on hosts that were enrolled for its tier. A request can ask for
checked in a project of tier own; it can never ask for more than its project has.`,
		Example: `  pawld fleet tier kernels-forks checked`,
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := tier.Parse(args[1])
			if err != nil {
				return usageError{err}
			}
			return g.withStore(cmd.Context(), func(_ *config, s *store.Store) error {
				return g.changeAudited(cmd.Context(), s, args[0], "tier.set", func(in *store.Store, p store.Project) (changeResult, error) {
					err := fleetstore.New(in.DB()).SetTier(cmd.Context(), p.ID, t)
					return changeResult{fmt.Sprintf("gates of %s are of tier %s", p.Slug, t), map[string]string{"tier": string(t)}}, err
				})
			})
		},
	}
}
