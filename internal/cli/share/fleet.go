package share

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/internal/cli/remote"
)

// fleetFlags are the flags of pawl fleet.
type fleetFlags struct {
	remote.Server
	json bool
}

// NewFleet returns the command pawl fleet.
func NewFleet(g *env.Env) *cobra.Command {
	f := &fleetFlags{Server: remote.Server{Env: g, Patience: 30 * time.Second}}
	cmd := &cobra.Command{
		Use:   "fleet",
		Short: "See the fleet of a server: its devices, the queue and your gates",
		Long: `Shows the devices that a pawl server runs gates on, and the gates of your project there.

Set the server with --server and --project, or with PAWL_SERVER and PAWL_PROJECT. Set PAWL_TOKEN to a key of
the project with the scope read, and report to cancel.`,
		Example: `  pawl fleet devices
  pawl fleet queue
  pawl fleet show 01JC8ZK4Q6N6D3T8W1X5Y7V9B2
  pawl fleet cancel 01JC8ZK4Q6N6D3T8W1X5Y7V9B2`,
	}
	fl := cmd.PersistentFlags()
	fl.StringVar(&f.URL, "server", "", "`address` of the server (default: $PAWL_SERVER)")
	fl.StringVar(&f.Project, "project", "", "`name` of the project on the server (default: $PAWL_PROJECT)")
	fl.BoolVar(&f.json, "json", false, "print JSON")
	return command.Group(cmd,
		f.command("devices", "List the devices of the fleet", f.devices),
		f.command("queue", "List your gates that wait for a device, and when they start at the latest", f.queue),
		f.gateCommand("show GATE", "Show how far a gate is", f.show),
		f.gateCommand("cancel GATE", "Cancel a gate; it ends when its devices are idle", f.cancel))
}

func (f *fleetFlags) command(use, short string, do func(context.Context, *client.Client) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Example: "  pawl fleet " + use,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := f.server()
			if err != nil {
				return err
			}
			return do(cmd.Context(), c)
		},
	}
}

func (f *fleetFlags) gateCommand(use, short string, do func(context.Context, *client.Client, string) error) *cobra.Command {
	name, _, _ := strings.Cut(use, " ")
	return &cobra.Command{
		Use: use, Short: short, Example: "  pawl fleet " + name + " 01JC8ZK4Q6N6D3T8W1X5Y7V9B2", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !client.GateID(args[0]) {
				return command.Usage(fmt.Errorf("%.80q is not the ID of a gate, which has 26 letters and digits", args[0]))
			}
			c, err := f.server()
			if err != nil {
				return err
			}
			return do(cmd.Context(), c, args[0])
		},
	}
}

// server returns a client for the server that the flags or the environment name.
func (f *fleetFlags) server() (*client.Client, error) {
	f.URL, f.Project = cmp.Or(f.URL, f.Getenv("PAWL_SERVER")), cmp.Or(f.Project, f.Getenv("PAWL_PROJECT"))
	if f.URL == "" || f.Project == "" {
		return nil, command.Usage(errors.New("no pawl server is set: use --server URL and --project NAME, or PAWL_SERVER and PAWL_PROJECT"))
	}
	if err := f.Destination().Check(); err != nil {
		return nil, command.Usage(err)
	}
	return f.Client(), nil
}

func (f *fleetFlags) devices(ctx context.Context, c *client.Client) error {
	fleet, err := c.Fleet(ctx)
	if err != nil || f.json {
		return f.document(fleet.Devices, err)
	}
	if len(fleet.Devices) == 0 {
		f.Say("the fleet has no devices yet: add a host with pawld agent enroll, and start pawl-agent serve there")
	}
	for _, d := range fleet.Devices {
		state, about := d.Power, []string{}
		if d.Tier != "" && d.Tier != "own" {
			about = append(about, "serves "+d.Tier+" code")
		}
		if d.Reason != "" {
			about = append(about, d.Reason)
		}
		if d.Quarantine != "" {
			state, about = "quarantine", append(about, d.Quarantine)
		}
		if d.Busy {
			state = "busy"
		}
		if d.Calibration == nil {
			about = append(about, "not calibrated")
		} else {
			about = append(about, d.Calibration.String(), fmt.Sprintf("%d false of %s", d.FalseAlarms, words.Plural(d.Calibrations, "calibration")))
		}
		f.line("%-10s %-10s %s on %s  %s", d.Model, state, d.ID, d.Host, strings.Join(about, "; "))
	}
	return nil
}

func (f *fleetFlags) queue(ctx context.Context, c *client.Client) error {
	fleet, err := c.Fleet(ctx)
	if err != nil || f.json {
		return f.document(fleet.Queue, err)
	}
	if len(fleet.Queue) == 0 {
		f.Say("none of your gates waits for a device")
	}
	for _, q := range fleet.Queue {
		f.line("%-3d %-10s %s  %s%s", q.Position, q.Model, q.Lease, q.Reason, remote.LatestStart(q.Start))
	}
	return nil
}

func (f *fleetFlags) show(ctx context.Context, c *client.Client, id string) error {
	g, err := c.Gate(ctx, id)
	return f.gate(g, err)
}

func (f *fleetFlags) cancel(ctx context.Context, c *client.Client, id string) error {
	if err := c.CancelGate(ctx, id); err != nil {
		return err
	}
	f.Say("gate " + id + " ends when its devices are idle")
	return nil
}

func (f *fleetFlags) gate(g client.Gate, err error) error {
	if err != nil || f.json {
		return f.document(g, err)
	}
	for _, p := range g.Parts {
		about := p.Reason + p.Error
		switch {
		case p.Position > 0:
			about = fmt.Sprintf("position %d: %s%s", p.Position, p.Reason, remote.LatestStart(p.Start))
		case p.State == "measuring":
			about = fmt.Sprintf("on %s, %s, %s", p.Device, cmp.Or(p.Phase, "starting"), words.Plural(p.Rounds, "round"))
		case p.Exit != nil:
			about = fmt.Sprintf("on %s, %s, exit code %d %s", p.Device, words.Plural(p.Rounds, "round"), *p.Exit, p.Error)
		}
		f.line("%-10s %-9s %s", p.Model, p.State, about)
		if p.Calibration != nil {
			f.line("%21s%s", "", p.Calibration)
		}
	}
	return nil
}

// document prints an answer as JSON.
func (f *fleetFlags) document(v any, err error) error {
	if err != nil {
		return err
	}
	return command.WriteJSON(f.Out, v)
}

// line prints words of a server, which may contain anything.
func (f *fleetFlags) line(format string, args ...any) {
	fmt.Fprintln(f.Out, strings.TrimRight(words.Sanitize(fmt.Sprintf(format, args...)), " "))
}
