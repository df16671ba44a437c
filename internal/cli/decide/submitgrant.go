package decide

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/internal/judge/submit"
	"github.com/goatnote-inc/pawl/measure"
)

// submitGrantFlags are the flags of pawl submit grant.
type submitGrantFlags struct {
	submitFlags
	base  string
	trust string
	total time.Duration
}

func newSubmitGrant(g *env.Env) *cobra.Command {
	f := submitGrantFlags{submitFlags: submitFlags{Env: g}}
	cmd := &cobra.Command{
		Use:   "grant",
		Short: "Show or fix what submissions are judged by",
		Long: `Shows the base that every speed-up is relative to, the trust, and the time that all
attempts may take together. Before the first submission it can set them; afterwards they
stay, so that the base of the first attempt is the base of the last.

On the user's own account the time is advice: a user can remove the folder of attempts.`,
		Example: `  pawl submit grant --base v1.2
  pawl submit grant --trust trusted --total 30m`,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context()) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.base, "base", "", "`commit` that speed-ups are relative to (default: the current one)")
	fl.StringVar(&f.trust, "trust", "", "how far to trust candidates, a `level`: trusted, checked or self-timed (default checked)")
	fl.DurationVar(&f.total, "total", 0, "max `time` of all attempts together, without waiting; 0 for no limit")
	f.commonFlags(cmd)
	return cmd
}

func (f *submitGrantFlags) run(ctx context.Context) error {
	grant, err := f.grant(ctx, submit.Terms{Base: f.base, Trust: measure.Trust(f.trust), Budget: f.total.Seconds()})
	if err != nil {
		return command.Usage(err)
	}
	if f.json {
		return command.WriteJSON(f.Out, grant.Terms)
	}
	limit := "no limit"
	if grant.Budget > 0 {
		limit = fmt.Sprintf("%.0f s for all attempts", grant.Budget)
	}
	_, err = fmt.Fprintf(f.Out, "base   %s\ntrust  %s\ntime   %s\nfolder %s\n", grant.Base, grant.Trust, limit, grant.Folder)
	return err
}
