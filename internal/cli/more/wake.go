package more

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/internal/fleet/wake"
	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/forge/github"
	"github.com/goatnote-inc/pawl/internal/forge/identity"
)

type wakeFlags struct {
	*env.Env
	config string
	json   bool
}

// NewWake returns the command pawl wake.
func NewWake(g *env.Env) *cobra.Command {
	f := &wakeFlags{Env: g}
	cmd := &cobra.Command{
		Use:   "wake",
		Short: "Start a sleeping GPU host when a job waits for it",
		Long: `Watches the jobs of repositories on GitHub. A host that is off is started when a job with
its labels waits, and is put to sleep when it has had none for a while. The daily budget is
a limit: no host is started, and none stays on, beyond it.`,
		Example: `  pawl wake serve --config wake.yaml    # on a small machine that is always on
  pawl wake status --config wake.yaml   # its state, and today's cost`,
	}
	cmd.PersistentFlags().StringVar(&f.config, "config", "wake.yaml", "configuration `file` that says what to watch")
	return command.Group(cmd, f.serveCommand(), f.statusCommand())
}

func (f *wakeFlags) serveCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "serve",
		Short: "Watch jobs, start hosts and put them to sleep, until stopped",
		Long: `Listens for workflow_job webhooks at /webhook, and also asks GitHub for the jobs once a
minute, so that a lost webhook delays a start but loses none. Runs the commands of the
file, one at a time for each host. Hosts stay as they are when it ends.

Its state survives kill -9. Let systemd restart it when it dies: while it is down, no host
is put to sleep.

Exit code: 0 if it was told to stop, 3 if it cannot continue, 4 if the file is wrong.`,
		Example: `  pawl wake serve --config /etc/pawl/wake.yaml`,
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.serve(cmd.Context()) },
	}
}

func (f *wakeFlags) statusCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "status",
		Short:   "Show the last saved state of pawl wake serve: hosts, jobs, today's cost",
		Example: `  pawl wake status --json | jq '.hosts[] | select(.power == "on")'`,
		RunE:    func(*cobra.Command, []string) error { return f.status() },
	}
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON")
	return cmd
}

func (f *wakeFlags) load() (*wake.Config, error) {
	c, err := wake.LoadConfig(f.config)
	if err != nil {
		return nil, command.Usage(err)
	}
	return c, nil
}

func (f *wakeFlags) serve(ctx context.Context) error {
	c, err := f.load()
	if err != nil {
		return err
	}
	secret, err := c.ReadSecret(c.Secret, f.Getenv)
	if err != nil {
		return command.Usage(fmt.Errorf("%s: cannot read the webhook secret: %w", f.config, err))
	}
	jobs, err := f.jobs(c)
	if err != nil {
		return command.Usage(fmt.Errorf("%s: github: %w", f.config, err))
	}
	var listen net.ListenConfig
	listener, err := listen.Listen(ctx, "tcp", c.Listen)
	if err != nil {
		return fmt.Errorf("cannot listen for webhooks: %w", err)
	}
	defer listener.Close()
	f.printConfig(c, listener.Addr().String())
	s := wake.Server{
		Config: c, Secret: []byte(secret), Jobs: jobs, Now: time.Now,
		Headers: wake.Headers{Event: github.EventHeader, Delivery: github.DeliveryHeader, Signature: github.SignatureHeader},
		Log: func(format string, args ...any) {
			f.Say(time.Now().UTC().Format(time.DateTime) + " " + words.Sanitize(fmt.Sprintf(format, args...)))
		},
	}
	return s.Serve(ctx, listener)
}

// printConfig prints what is watched and what it may cost.
func (f *wakeFlags) printConfig(c *wake.Config, address string) {
	f.Say("watching " + strings.Join(c.Forge.Repositories, ", ") + fmt.Sprintf(" every %v; webhooks at http://%s/webhook", c.Poll, address))
	dearest := 0.0
	for _, h := range c.Hosts {
		price := ""
		if h.Price > 0 {
			price = fmt.Sprintf(", $%.2f an hour", h.Price)
		}
		f.Say(fmt.Sprintf("  %s for [%s]: asleep after %v without a job%s", h.Name, strings.Join(h.Labels, " "), h.Idle, price))
		dearest = max(dearest, h.Price)
	}
	var limits []string
	if b := c.Budget; b.Hours > 0 {
		limits = append(limits, fmt.Sprintf("%g hours", b.Hours))
		if dearest > 0 {
			limits[0] += fmt.Sprintf(" ($%.2f on the most expensive host)", b.Hours*dearest)
		}
	}
	if c.Budget.Dollars > 0 {
		limits = append(limits, fmt.Sprintf("$%.2f", c.Budget.Dollars))
	}
	text := "max per day (UTC): " + strings.Join(limits, " and ")
	if c.Budget.Grace > 0 {
		text += fmt.Sprintf(", plus %v for each job that is still running", c.Budget.Grace)
	}
	f.Say(text)
}

// jobs returns a function that asks GitHub for the queued and running jobs of a repository.
func (f *wakeFlags) jobs(c *wake.Config) (func(context.Context, string) ([]wake.Job, error), error) {
	token, err := f.token(c)
	if err != nil {
		return nil, err
	}
	clients := map[string]*github.Client{}
	for _, r := range c.Forge.Repositories {
		owner, name, _ := strings.Cut(r, "/")
		clients[r], err = github.New(github.Config{
			BaseURL: c.Forge.API, Repo: forge.Repo{Owner: owner, Name: name}, Token: token, Waiting: forge.Waiting{Patience: 30 * time.Second},
		})
		if err != nil {
			return nil, err
		}
	}
	return func(ctx context.Context, repo string) ([]wake.Job, error) {
		found, err := clients[repo].LiveJobs(ctx)
		if err != nil {
			return nil, err
		}
		var list []wake.Job
		for _, j := range found {
			job := wake.Job{Repo: repo, ID: j.ID, Stage: wake.Queued, Runner: j.Runner, Created: j.Created}
			if j.Running {
				job.Stage = wake.Running
			}
			for _, l := range j.Labels {
				job.Labels = append(job.Labels, strings.ToLower(l))
			}
			list = append(list, job)
		}
		return list, nil
	}, nil
}

// token returns the source of tokens for GitHub: a fixed token, or those of an App.
func (f *wakeFlags) token(c *wake.Config) (func(context.Context) (string, error), error) {
	g := c.Forge
	if g.App.ID == 0 {
		if _, err := c.ReadSecret(g.Token, f.Getenv); err != nil {
			return nil, fmt.Errorf("token: %w", err)
		}
		// Read it for each request, so that a renewed file needs no restart.
		return func(context.Context) (string, error) { return c.ReadSecret(g.Token, f.Getenv) }, nil
	}
	text, err := c.ReadSecret(g.App.Key, f.Getenv)
	if err != nil {
		return nil, fmt.Errorf("app.key: %w", err)
	}
	key, err := identity.ParseKey([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("app.key: %w", err)
	}
	app := &identity.App{
		ID: strconv.FormatInt(g.App.ID, 10), Installation: g.App.Installation, Key: key, BaseURL: g.API,
		Permissions: map[string]string{"actions": "read"}, Now: time.Now,
	}
	return app.Source(), nil
}

func (f *wakeFlags) status() error {
	c, err := f.load()
	if err != nil {
		return err
	}
	state, err := wake.LoadState(c.StateFile())
	if errors.Is(err, fs.ErrNotExist) {
		return command.Exit(command.ExitNoAnswer, fmt.Errorf("there is no %s yet: pawl wake serve creates it", c.StateFile()))
	}
	if err != nil {
		return err
	}
	sum := wake.Summarize(c, state, time.Now())
	if f.json {
		return command.WriteJSON(f.Out, sum)
	}
	return sum.Print(f.Out)
}
