package daemon

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/forge/identity"
	"github.com/goatnote-inc/pawl/internal/server/store"
)

func newRule(g *globals) *cobra.Command {
	return group(&cobra.Command{
		Use:     "rule",
		Short:   "Manage which CI jobs may send without a key",
		Example: `  pawld rule list kernels`,
	}, ruleAdd(g), ruleList(g), ruleRemove(g))
}

func ruleAdd(g *globals) *cobra.Command {
	var r identity.Rule
	c := &cobra.Command{
		Use:   "add PROJECT",
		Short: "Let the jobs of a repository's workflow send to a project",
		Long: `Each job proves its identity with a token that GitHub signs. A rule names the repository
and its owner by number, because names can change owners:

  gh api repos/OWNER/NAME --jq '.id, .owner.id'

Pushes to the default branch go to the main history; pull requests and forks go to
separate lanes.`,
		Example: `  pawld rule add kernels --repository-id 4711 --owner-id 42 --workflow .github/workflows/pawl.yml`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if r.RepositoryID <= 0 || r.OwnerID <= 0 || r.Workflow == "" {
				return usageError{fmt.Errorf("a rule needs --repository-id, --owner-id and --workflow\n  gh api repos/OWNER/NAME --jq '.id, .owner.id' prints the numbers")}
			}
			return g.withStore(cmd.Context(), func(_ *config, s *store.Store) error {
				return g.changeAudited(cmd.Context(), s, args[0], "rule.add", func(in *store.Store, p store.Project) (changeResult, error) {
					if r.DefaultBranch == "" {
						r.DefaultBranch = p.Branch
					}
					made, err := in.AddRule(cmd.Context(), p.ID, r)
					return changeResult{
						fmt.Sprintf("rule %d of %s: %s", made.ID, p.Slug, ruleLine(made.Rule)),
						map[string]string{"rule": fmt.Sprint(made.ID), "repository_id": fmt.Sprint(r.RepositoryID), "workflow": r.Workflow},
					}, err
				})
			})
		},
	}
	f := c.Flags()
	f.Int64Var(&r.RepositoryID, "repository-id", 0, "`number` of the repository")
	f.Int64Var(&r.OwnerID, "owner-id", 0, "`number` of its owner")
	f.StringVar(&r.Workflow, "workflow", "", "`path` of the workflow in the repository")
	f.StringVar(&r.DefaultBranch, "branch", "", "the default branch; the project's if empty")
	f.StringSliceVar(&r.Events, "event", ruleEvents, "events whose jobs may send")
	f.StringVar(&r.JobWorkflow, "job-workflow", "", "`OWNER/REPO/PATH@REF` of the reusable workflow that contains the job")
	f.StringVar(&r.JobWorkflowSHA, "job-workflow-sha", "", "`commit` of that workflow")
	f.StringVar(&r.Environment, "environment", "", "only jobs of this environment")
	f.BoolVar(&r.Protected, "protected", false, "only from a protected ref")
	return c
}

func ruleList(g *globals) *cobra.Command {
	c := &cobra.Command{Use: "list PROJECT", Short: "List the rules of a project", Example: `  pawld rule list kernels --json`, Args: cobra.ExactArgs(1)}
	return lists(g, c, ofProject((*store.Store).Rules), func(r store.Rule) string {
		return fmt.Sprintf("%-6d %s", r.ID, ruleLine(r.Rule))
	})
}

func ruleRemove(g *globals) *cobra.Command {
	return g.removes(&cobra.Command{
		Use:     "remove PROJECT NUMBER",
		Short:   "Remove a rule",
		Example: `  pawld rule remove kernels 1`,
	}, "rule", "remove", "was removed", (*store.Store).RemoveRule)
}

func ruleLine(r identity.Rule) string {
	line := fmt.Sprintf("repository %d of owner %d, %s, default branch %s, on %s", r.RepositoryID, r.OwnerID, r.Workflow, r.DefaultBranch, strings.Join(r.Events, ", "))
	if r.JobWorkflow != "" {
		line += ", by " + r.JobWorkflow
	}
	if r.Environment != "" {
		line += ", environment " + r.Environment
	}
	return line
}
