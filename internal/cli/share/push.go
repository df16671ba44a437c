package share

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/internal/cli/remote"
)

// pushFlags are the flags of pawl push.
type pushFlags struct {
	remote.Server
	resume bool
	dryRun bool
	json   bool
}

// NewPush returns the command pawl push.
func NewPush(g *env.Env) *cobra.Command {
	f := pushFlags{Server: remote.Server{Env: g}}
	cmd := &cobra.Command{
		Use:   "push [RESULTS]",
		Short: "Send a run to a server that stores every result",
		Long: `Creates a report of a run and sends it to a pawl server: the times of every case, the state
of the device, the commit and the commits before it. Before the report it sends the record
with every sample, the verdict, and profiles. RESULTS is the folder that pawl run or
pawl bench wrote (default results), or a record.

The report is first written to a spool on this machine (PAWL_SPOOL, or pawl/spool in the
user's state folder). It has the same key each time it is sent, so the server stores it
only once. What could not be sent stays in the spool for --resume.

Set the server with --server and --project, or with PAWL_SERVER and PAWL_PROJECT. Set
PAWL_TOKEN to a key of the project. Without it, a job of GitHub Actions proves its identity
(it needs id-token: write).

Exit code: 0 if the server has the report, or if pawl run found nothing to measure because
no input of a build or a kernel had changed; 1 if the server will never accept it; 2 if there
is nothing to report; 3 if it could not be sent, and stays in the spool; 5 if interrupted,
and stays in the spool.`,
		Example: `  pawl push --server https://pawl.example.com --project kernels
  pawl push --dry-run          # show what would be sent, and its size
  pawl push --resume           # send what is still in the spool`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), args) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.URL, "server", "", "`address` of the server (default: $PAWL_SERVER)")
	fl.StringVar(&f.Project, "project", "", "`name` of the project on the server (default: $PAWL_PROJECT)")
	fl.BoolVar(&f.resume, "resume", false, "send what is in the spool for this server and project")
	fl.DurationVar(&f.Patience, "wait", 5*time.Minute, "how long to retry a server that cannot be reached, a `time`")
	fl.BoolVar(&f.dryRun, "dry-run", false, "show what would be sent, and send nothing; with --json the report itself")
	fl.BoolVar(&f.json, "json", false, "print the receipts as JSON on stdout")
	return cmd
}

func (f *pushFlags) run(ctx context.Context, args []string) error {
	f.URL, f.Project = cmp.Or(f.URL, f.Getenv("PAWL_SERVER")), cmp.Or(f.Project, f.Getenv("PAWL_PROJECT"))
	switch {
	case f.resume && len(args) > 0:
		return command.Usage(errors.New("--resume sends what is in the spool and takes no RESULTS"))
	case f.resume && f.dryRun:
		return command.Usage(errors.New("--resume and --dry-run cannot be combined"))
	case f.dryRun:
		return f.preview(ctx, args)
	case f.URL == "" || f.Project == "":
		return command.Usage(errors.New("no pawl server is set: use --server URL and --project NAME, or PAWL_SERVER and PAWL_PROJECT"))
	}
	if err := f.Destination().Check(); err != nil {
		return command.Usage(err)
	}
	spool, err := f.spool()
	if err != nil {
		return err
	}
	if f.resume {
		return f.sendAll(ctx, spool, f.waiting(spool))
	}
	p, err := f.add(ctx, spool, args)
	if errors.Is(err, client.ErrIdentical) {
		f.Say(err.Error())
		return f.sendAll(ctx, spool, nil)
	}
	if err != nil {
		return err
	}
	return f.sendAll(ctx, spool, []*client.Spooled{p})
}

// spool returns the spool in which reports wait, in the user's state folder.
func (f *pushFlags) spool() (client.Spool, error) {
	dir := f.Getenv("PAWL_SPOOL")
	if dir == "" {
		state := f.Getenv("XDG_STATE_HOME")
		if !filepath.IsAbs(state) {
			home, err := os.UserHomeDir()
			if err != nil {
				return client.Spool{}, fmt.Errorf("cannot find a folder for the spool: %w: set PAWL_SPOOL", err)
			}
			state = filepath.Join(home, ".local", "state")
		}
		dir = filepath.Join(state, "pawl", "spool")
	}
	return client.Spool{Dir: dir, Now: f.Clock()}, nil
}

// add creates the report and saves it in the spool before anything is sent.
func (f *pushFlags) add(ctx context.Context, spool client.Spool, args []string) (*client.Spooled, error) {
	r, files, err := f.report(ctx, args)
	if err != nil {
		return nil, err
	}
	f.describe(r, files)
	p, err := spool.Add(f.Destination(), r, files)
	if err != nil {
		return nil, err
	}
	if others, err := spool.Pending(); err == nil && len(others) > 1 {
		f.Say(fmt.Sprintf("also in the spool: %s; run `pawl push --resume` to send everything", words.Plural(len(others)-1, "report")))
	}
	return p, nil
}

// waiting returns the spooled reports for this server and project. Reports for others need another
// token and are only counted.
func (f *pushFlags) waiting(spool client.Spool) []*client.Spooled {
	all, damaged := spool.Pending()
	if damaged != nil {
		f.Say(words.Sanitize(damaged.Error()))
	}
	var list []*client.Spooled
	for _, p := range all {
		if p.To == f.Destination() {
			list = append(list, p)
		}
	}
	if n := len(all) - len(list); n > 0 {
		f.Say(fmt.Sprintf("also in the spool: %s for other servers or projects", words.Plural(n, "report")))
	}
	if len(list) == 0 && damaged == nil {
		f.Say(fmt.Sprintf("the spool %s has nothing for %s at %s", spool.Dir, words.Sanitize(f.Project), words.Sanitize(f.URL)))
	}
	return list
}
