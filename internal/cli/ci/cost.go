package ci

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/forge/accounts"
	"github.com/goatnote-inc/pawl/internal/judge/cost"
)

// costFlags are the flags of pawl ci cost.
type costFlags struct {
	*env.Env
	github bool
	repo   string
	out    string
	json   bool
}

func newCost(g *env.Env) *cobra.Command {
	f := costFlags{Env: g}
	cmd := &cobra.Command{
		Use:   "cost [DIR...]",
		Short: "Show what runs cost: per run, per month, per regression caught",
		Long: `Adds up the accounts (account.json) that pawl run wrote below the folders. With --github
it adds up those that the workflows of a repository uploaded as artifacts named
pawl-account: the newest 100, without those of forks.

A regression counts as caught if a run reported regression or broken and a later run of
the same branch passed. If no later run passed, it counts as found.

The price is device.price_per_hour of the suite, from the start of a run to its end.`,
		Example: `  pawl ci cost results
  pawl ci cost --json ci-results
  GITHUB_TOKEN=... pawl ci cost --github --repo OWNER/NAME`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), args) },
	}
	fl := cmd.Flags()
	fl.BoolVar(&f.github, "github", false, "read the accounts of a repository's workflows (needs GITHUB_TOKEN with actions: read)")
	fl.StringVar(&f.repo, "repo", "", "`OWNER/NAME` for --github (default: $GITHUB_REPOSITORY)")
	fl.StringVarP(&f.out, "out", "o", "", "also write the JSON to this `file`")
	fl.BoolVar(&f.json, "json", false, "as JSON on stdout")
	return cmd
}

func (f *costFlags) run(ctx context.Context, dirs []string) error {
	if f.github && len(dirs) > 0 {
		return command.Usage(errors.New("--github takes no folders"))
	}
	var (
		list []cost.RunCost
		bad  []error
		err  error
	)
	if f.github {
		var c forge.Client
		if c, _, err = f.AtForge(f.repo, map[string]string{"actions": "read"}, nil); err == nil {
			list, bad, err = accounts.Fetch(ctx, c)
		}
	} else {
		if len(dirs) == 0 {
			dirs = []string{"."}
		}
		list, bad, err = accountsBelow(dirs)
	}
	if err != nil {
		return err
	}
	for _, e := range bad {
		fmt.Fprintln(f.Err, words.Sanitize(e.Error()))
	}
	if len(list) == 0 {
		return command.Exit(command.ExitNoAnswer, errors.New("no accounts found: pawl run writes account.json beside its record, and the workflows upload it as pawl-account"))
	}
	sum := cost.Summarize(list, time.Now())
	doc := costDocument{sum, sum.PerRun(), sum.PerCaught()}
	if f.out != "" {
		if err := env.WriteFile(f.out, func(w io.Writer) error { return command.WriteJSON(w, doc) }); err != nil {
			return err
		}
	}
	if f.json {
		return command.WriteJSON(f.Out, doc)
	}
	return writeCost(f.Out, sum)
}

// costDocument is the JSON output of pawl ci cost.
type costDocument struct {
	cost.Summary
	PerRun    float64 `json:"dollars_per_run"`
	PerCaught float64 `json:"dollars_per_caught,omitempty"`
}

// maxAccountFiles bounds the number of files and folders that are visited.
const maxAccountFiles = 100_000

// accountsBelow reads the accounts in folders. An unreadable one is returned in bad and left out; the
// others still add up.
func accountsBelow(dirs []string) (list []cost.RunCost, bad []error, err error) {
	seen := 0
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if seen++; seen > maxAccountFiles {
				return fmt.Errorf("more than %d files below %s: name the folders that contain results", maxAccountFiles, dir)
			}
			if d.Name() != cost.FileName || !d.Type().IsRegular() {
				return nil
			}
			a, err := readAccount(path)
			if err != nil {
				bad = append(bad, fmt.Errorf("skipped %s: %w", path, err))
				return nil
			}
			list = append(list, a)
			return nil
		})
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, nil, command.Usage(fmt.Errorf("folder %s does not exist", dir))
		case err != nil:
			return nil, nil, fmt.Errorf("cannot search for accounts: %w", err)
		}
	}
	return list, bad, nil
}

func readAccount(path string) (cost.RunCost, error) {
	file, err := os.Open(path)
	if err != nil {
		return cost.RunCost{}, err
	}
	defer file.Close()
	return cost.Read(file)
}

// writeCost prints the table for a terminal.
func writeCost(w io.Writer, s cost.Summary) error {
	var b strings.Builder
	line := func(label, format string, args ...any) {
		fmt.Fprintf(&b, "%-8s %s\n", label, fmt.Sprintf(format, args...))
	}
	span := func(seconds float64) string {
		return words.Duration(time.Duration(seconds * float64(time.Second)))
	}
	line("runs", "%d from %s to %s, %s in total", s.Runs, s.First.Format(time.DateOnly), s.Last.Format(time.DateOnly), span(s.Seconds))
	if len(s.Stages) > 0 && s.Seconds > 0 {
		var parts []string
		for _, stage := range cost.Stages() {
			if v := s.Stages[stage]; v > 0 {
				parts = append(parts, fmt.Sprintf("%s %s", stage, span(v)))
			}
		}
		line("of that", "%s", strings.Join(parts, ", "))
	}
	priced := s.Unpriced < s.Runs
	if priced {
		line("price", "%s, %s per run", words.Dollars(s.Dollars), words.Dollars(s.PerRun()))
		line("month", "%s, %s in the last 30 days", words.Plural(s.MonthRuns, "run"), words.Dollars(s.MonthDollars))
	} else {
		line("price", "unknown: set device.price_per_hour in the suite")
		line("month", "%s, %s in the last 30 days", words.Plural(s.MonthRuns, "run"), span(s.MonthSeconds))
	}
	if priced && s.Unpriced > 0 {
		line("", "%s without a price", words.Plural(s.Unpriced, "run"))
	}
	caught := words.Plural(s.Caught, "regression") + " caught and fixed"
	if priced && s.Caught > 0 {
		caught += fmt.Sprintf(", %s each", words.Dollars(s.PerCaught()))
	}
	line("value", "%s; %d found and not fixed in a later run", caught, s.Found)
	_, err := io.WriteString(w, b.String())
	return err
}
