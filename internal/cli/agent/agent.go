// Package agent has the commands of pawl-agent, which measures on a host for a pawl server.
package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/goatnote-inc/pawl/internal/base/disk"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	fleet "github.com/goatnote-inc/pawl/internal/fleet/agent"
)

// Main runs one command of pawl-agent and returns the exit code.
func Main(ctx context.Context, args []string, io *command.IO) int {
	return command.Program{New: newRoot}.Run(ctx, args, io)
}

func newRoot(g *command.Globals) *cobra.Command {
	root := command.NewRoot(g, &cobra.Command{
		Use:   "pawl-agent",
		Short: "Measure on this host for a pawl server",
		Long: `Takes measurements from a pawl server, runs pawl for each of them, one at a time, and
delivers the results. It holds one key and no other secret.`,
		Example: `  pawl-agent serve --server https://pawl.example.com --state /var/lib/pawl-agent --code code`,
	})
	return command.Group(root, newServe(g), newOnce(g))
}

type serveFlags struct {
	*command.Globals
	server, state, code, model string
	devices                    []string
	buildOnly, builtElsewhere  bool
}

func newServe(g *command.Globals) *cobra.Command {
	f := serveFlags{Globals: g}
	c := &cobra.Command{
		Use:   "serve",
		Short: "Take and carry out measurements until stopped",
		Long: `Waits for measurements on the devices of this host and carries them out, one at a time. A
measurement that a crash or a kill interrupted continues with its next round.

The first time it needs a code from pawld agent enroll. It then holds a key in the folder
of --state, which only its user can read.

The first signal (SIGTERM or Ctrl-C) makes it finish the measurement under way, deliver it
and exit. The second stops at once; the next start continues the measurement.`,
		Example: `  pawl-agent serve --server https://pawl.example.com --state /var/lib/pawl-agent --code code
  pawl-agent serve --server https://pawl.example.com --state /var/lib/pawl-agent`,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.serve(cmd.Context()) },
	}
	f.add(c.Flags())
	c.Flags().BoolVar(&f.buildOnly, "build-only", false, "this host has no device: build for cards of hosts with equal tools (pawl build --tools)")
	c.Flags().BoolVar(&f.builtElsewhere, "built-elsewhere", false, "let hosts that only build, with equal tools, build for the devices of this one")
	return c
}

func newOnce(g *command.Globals) *cobra.Command {
	f := serveFlags{Globals: g}
	var lease string
	wait := 10 * time.Minute
	c := &cobra.Command{
		Use:   "once",
		Short: "Carry out one measurement and exit",
		Long: `Waits for the lease with this name, carries it out, delivers the result and exits. Use it in a
job of Slurm, a Kubernetes Job or an ephemeral CI runner, which is started for one gate. Names of
leases that wait are in pawl fleet queue.

A device whose power is asleep gets leases while its agent waits for one. A lease with another name
is refused, and goes to the next device.

Exit code: 0 when the result was delivered, whatever the verdict; 3 if the lease did not come.`,
		Example: `  pawl-agent once --lease kernels-01JC8ZK4Q6N6D3T8W1X5Y7V9B2-l4-1 --server https://pawl.example.com --state "$TMPDIR/agent" --code code`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, err := f.options()
			if err != nil {
				return err
			}
			if lease == "" || wait <= 0 {
				return command.Usage(errors.New("--lease is needed, and --wait must be above zero\n  run `pawl-agent once --help`"))
			}
			return fleet.Once(cmd.Context(), o, lease, wait)
		},
	}
	f.add(c.Flags())
	c.Flags().StringVar(&lease, "lease", "", "`name` of the lease to carry out")
	c.Flags().DurationVar(&wait, "wait", wait, "how long to wait for the lease")
	return c
}

// add adds the flags that all commands have.
func (f *serveFlags) add(fl *pflag.FlagSet) {
	fl.StringVar(&f.server, "server", "", "`URL` of the server's gateway")
	fl.StringVar(&f.state, "state", "", "`folder` of the key and the measurements under way")
	fl.StringVar(&f.code, "code", "", "`file` with the one-time code, or - for stdin; needed only the first time")
	fl.StringSliceVar(&f.devices, "device", nil, "`names` of the devices to enroll (default: the GPU of this machine, or its CPU)")
	fl.StringVar(&f.model, "model", "", "device `model` that gates ask for, such as l4 (default: from the name of the GPU, or cpu)")
}

func (f *serveFlags) serve(ctx context.Context) error {
	o, err := f.options()
	if err != nil {
		return err
	}
	return fleet.Serve(ctx, o)
}

func (f *serveFlags) options() (fleet.Options, error) {
	if f.server == "" || f.state == "" {
		return fleet.Options{}, command.Usage(errors.New("--server and --state are needed\n  run `pawl-agent serve --help`"))
	}
	if f.buildOnly && (f.devices != nil || f.model != "" || f.builtElsewhere) {
		return fleet.Options{}, command.Usage(errors.New("--build-only is for a host without devices: leave out --device, --model and --built-elsewhere"))
	}
	code, err := f.readCode()
	if err != nil {
		return fleet.Options{}, err
	}
	pawl, err := findPawl()
	if err != nil {
		return fleet.Options{}, err
	}
	state, err := filepath.Abs(f.state)
	if err != nil {
		return fleet.Options{}, fmt.Errorf("cannot find the folder of --state: %w", err)
	}
	return fleet.Options{
		Server: f.server, State: state, Code: code, Devices: f.devices, Model: f.model, Pawl: pawl, Log: slog.New(slog.NewTextHandler(f.Err, nil)),
		BuildOnly: f.buildOnly, BuiltElsewhere: f.builtElsewhere,
	}, nil
}

const maxCode = 1000

// readCode reads the one-time code. It is not an argument, because every user of the machine can read those.
func (f *serveFlags) readCode() (string, error) {
	var text []byte
	var err error
	switch f.code {
	case "":
	case "-":
		text, err = io.ReadAll(io.LimitReader(f.In, maxCode))
	default:
		text, err = disk.ReadRegular(f.code, maxCode)
	}
	if err != nil {
		return "", fmt.Errorf("cannot read the code: %w", err)
	}
	return string(text), nil
}

// findPawl returns the path of pawl: beside this program, or on the search path.
func findPawl() (string, error) {
	if self, err := os.Executable(); err == nil {
		if path := filepath.Join(filepath.Dir(self), "pawl"); exists(path) {
			return path, nil
		}
	}
	path, err := exec.LookPath("pawl")
	if err != nil {
		return "", fmt.Errorf("cannot find pawl: install it beside pawl-agent or on the search path: %w", err)
	}
	return filepath.Abs(path)
}

func exists(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
