package daemon

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/fleet/tier"
	"github.com/goatnote-inc/pawl/internal/server/store"
)

func newAgent(g *globals) *cobra.Command {
	return group(&cobra.Command{
		Use:   "agent",
		Short: "Enroll, list and revoke agents of the fleet",
		Example: `  pawld agent enroll gpu-host-1 > code     # then, on the host: pawl-agent serve --code code
  pawld agent list
  pawld agent revoke 3`,
	}, agentEnroll(g), agentList(g), agentRevoke(g), agentRefusals(g))
}

func agentEnroll(g *globals) *cobra.Command {
	lasts, serves, builds := time.Hour, string(tier.Own), false
	c := &cobra.Command{
		Use:   "enroll NAME",
		Short: "Print a one-time code for a host",
		Long: `Prints a code with which one pawl-agent can enroll, once. The host chooses its own key; the
server stores only a hash of it. NAME is for people.

A host serves code of one tier: own, checked (forks and AI agents) or unknown (anyone; the host takes
one lease and is thrown away). To change it, revoke the agent and enroll the host again.

With --build-only the host needs no GPU. It builds for cards of its tier whose agents were started with
--built-elsewhere, and could falsify what they measure.`,
		Example: `  pawld agent enroll gpu-host-1 > code
  pawld agent enroll gpu-host-2 --tier checked > code
  pawld agent enroll build-host-1 --build-only > code`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := tier.Parse(serves)
			if err != nil {
				return usageError{fmt.Errorf("--tier: %w", err)}
			}
			if builds && t == tier.Unknown {
				return usageError{errors.New("--build-only: a host of tier unknown is thrown away after one lease, so its card's host builds")}
			}
			return g.withStore(cmd.Context(), func(_ *config, s *store.Store) error {
				code, a, err := s.NewAgent(cmd.Context(), args[0], operator(), t, builds, lasts)
				if err != nil {
					return err
				}
				fmt.Fprintf(g.Err, "agent %d: this code is shown only once and works until %s\n", a.ID, a.CodeUntil.Format(time.RFC3339))
				fmt.Fprintln(g.Out, code)
				return nil
			})
		},
	}
	c.Flags().DurationVar(&lasts, "for", lasts, "how long the code is valid")
	c.Flags().StringVar(&serves, "tier", serves, "whose code the host serves: own, checked or unknown")
	c.Flags().BoolVar(&builds, "build-only", false, "the host has no device and only builds")
	return c
}

func agentList(g *globals) *cobra.Command {
	c := &cobra.Command{Use: "list", Short: "List the agents", Example: `  pawld agent list`}
	return lists(g, c, func(ctx context.Context, s *store.Store, _ []string) ([]store.Agent, error) { return s.Agents(ctx) }, func(a store.Agent) string {
		does := strings.Join(a.Devices, " ")
		if a.Builds {
			does = "only builds"
		}
		return fmt.Sprintf("%-6d %-24s %-24s %-7s %s", a.ID, a.Name, agentState(a, g.now()), a.Tier, does)
	})
}

func agentState(a store.Agent, now time.Time) string {
	switch {
	case a.Revoked != nil:
		return "revoked " + formatDay(*a.Revoked)
	case a.Enrolled == nil && !now.Before(a.CodeUntil):
		return "code expired"
	case a.Enrolled == nil:
		return "not enrolled"
	case a.LastSeen == nil:
		return "never seen"
	default:
		return "seen " + a.LastSeen.UTC().Format("2006-01-02 15:04")
	}
}

func agentRevoke(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:     "revoke NUMBER",
		Short:   "Revoke the key of an agent immediately, and free its devices",
		Example: `  pawld agent revoke 3`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := strconv.ParseInt(args[0], 10, 64)
			if err != nil {
				return usageError{fmt.Errorf("%q is not the number of an agent: run `pawld agent list`", args[0])}
			}
			return g.withStore(cmd.Context(), func(_ *config, s *store.Store) error {
				err := s.RevokeAgent(cmd.Context(), id)
				if errors.Is(err, store.ErrNotFound) {
					return usageError{fmt.Errorf("there is no agent %d: run `pawld agent list`", id)}
				}
				if err == nil {
					fmt.Fprintf(g.Out, "agent %d is revoked\n", id)
				}
				return err
			})
		},
	}
}

func agentRefusals(g *globals) *cobra.Command {
	c := &cobra.Command{Use: "refusals", Short: "List what the gateway refused, newest first", Example: `  pawld agent refusals`}
	return lists(g, c, func(ctx context.Context, s *store.Store, _ []string) ([]store.AgentRefusal, error) {
		return s.AgentRefusals(ctx)
	}, func(r store.AgentRefusal) string {
		agent := "unknown key"
		if r.Agent != "" {
			agent = "agent " + r.Agent
		}
		line := fmt.Sprintf("%s %-12s %-22s %s: %s", r.At.UTC().Format(time.RFC3339), agent, r.Remote, words.Sanitize(r.Method), words.Sanitize(r.Reason))
		if r.Missed > 0 {
			line += fmt.Sprintf(" (and %d before it that were not recorded)", r.Missed)
		}
		return line
	})
}
