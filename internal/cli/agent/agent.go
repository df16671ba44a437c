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

	"github.com/spf13/cobra"

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
	return command.Group(root, newServe(g))
}

type serveFlags struct {
	*command.Globals
	server, state, code, model string
	devices                    []string
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
	fl := c.Flags()
	fl.StringVar(&f.server, "server", "", "`URL` of the server's gateway")
	fl.StringVar(&f.state, "state", "", "`folder` of the key and the measurements under way")
	fl.StringVar(&f.code, "code", "", "`file` with the one-time code, or - for stdin; needed only the first time")
	fl.StringSliceVar(&f.devices, "device", nil, "`names` of the devices to enroll (default: the GPU of this machine, or its CPU)")
	fl.StringVar(&f.model, "model", "", "device `model` that gates ask for, such as l4 (default: from the name of the GPU, or cpu)")
	return c
}

func (f *serveFlags) serve(ctx context.Context) error {
	if f.server == "" || f.state == "" {
		return command.Usage(errors.New("--server and --state are needed\n  run `pawl-agent serve --help`"))
	}
	code, err := f.readCode()
	if err != nil {
		return err
	}
	pawl, err := findPawl()
	if err != nil {
		return err
	}
	state, err := filepath.Abs(f.state)
	if err != nil {
		return fmt.Errorf("cannot find the folder of --state: %w", err)
	}
	return fleet.Serve(ctx, fleet.Options{
		Server: f.server, State: state, Code: code, Devices: f.devices, Model: f.model, Pawl: pawl, Log: slog.New(slog.NewTextHandler(f.Err, nil)),
	})
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
