package cli

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

	"github.com/goatnote-inc/pawl/internal/judge/cost"
	"github.com/goatnote-inc/pawl/internal/report"
)

// costFlags are the flags of pawl cost.
type costFlags struct {
	*globals
	github bool
	repo   string
	out    string
	json   bool
}

func newCost(g *globals) *cobra.Command {
	f := costFlags{globals: g}
	cmd := &cobra.Command{
		Use:   "cost [DIR...]",
		Short: "What runs cost: each, in a month, for every regression caught",
		Long: `Adds up the accounts (account.json) that pawl run left below the folders, or, with
--github, those that the workflows of a repository uploaded as artifacts called pawl-account:
the newest 100, without those of forks.

A regression counts as caught where a run said regression or broken and a later run of the
same branch passed. One of which no later run passed is found.

Dollars are those of device.price_per_hour in the suite, from the begin of a run to its end.`,
		Example: `  pawl cost results
  pawl cost --json ci-results
  GITHUB_TOKEN=... pawl cost --github --repo OWNER/NAME`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), args) },
	}
	fl := cmd.Flags()
	fl.BoolVar(&f.github, "github", false, "the accounts of a repository's workflows (GITHUB_TOKEN, with actions: read)")
	fl.StringVar(&f.repo, "repo", "", "`OWNER/NAME` for --github (default: $GITHUB_REPOSITORY)")
	fl.StringVarP(&f.out, "out", "o", "", "also write the JSON to this `file`")
	fl.BoolVar(&f.json, "json", false, "as JSON on stdout")
	return cmd
}

func (f *costFlags) run(ctx context.Context, dirs []string) error {
	if f.github && len(dirs) > 0 {
		return usageError{errors.New("--github takes no folders")}
	}
	var (
		list []cost.RunCost
		bad  []error
		err  error
	)
	if f.github {
		list, bad, err = f.fetchAccounts(ctx)
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
		fmt.Fprintln(f.Err, report.Sanitize(e.Error()))
	}
	if len(list) == 0 {
		return exitError{exitNoAnswer, errors.New("there is no account of any run: pawl run writes account.json beside its record, the workflows upload it as pawl-account")}
	}
	sum := cost.Summarize(list, time.Now())
	doc := costDocument{sum, sum.PerRun(), sum.PerCaught()}
	if f.out != "" {
		if err := writeFile(f.out, func(w io.Writer) error { return writeJSON(w, doc) }); err != nil {
			return err
		}
	}
	if f.json {
		return writeJSON(f.Out, doc)
	}
	return writeCost(f.Out, sum)
}

// costDocument is the JSON output of pawl cost.
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
				return fmt.Errorf("more than %d files below %s: name the folders that hold results", maxAccountFiles, dir)
			}
			if d.Name() != cost.FileName || !d.Type().IsRegular() {
				return nil
			}
			a, err := readAccount(path)
			if err != nil {
				bad = append(bad, fmt.Errorf("left out: %s: %w", path, err))
				return nil
			}
			list = append(list, a)
			return nil
		})
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, nil, usageError{fmt.Errorf("%s: there is no such folder", dir)}
		case err != nil:
			return nil, nil, fmt.Errorf("look for accounts: %w", err)
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
		return report.FormatDuration(time.Duration(seconds * float64(time.Second)))
	}
	line("runs", "%d from %s to %s, %s in all", s.Runs, s.First.Format(time.DateOnly), s.Last.Format(time.DateOnly), span(s.Seconds))
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
		line("price", "%s, %s a run", report.Dollars(s.Dollars), report.Dollars(s.PerRun()))
		line("a month", "%s, %s in the last 30 days", report.Plural(s.MonthRuns, "run"), report.Dollars(s.MonthDollars))
	} else {
		line("price", "unknown: set device.price_per_hour in the suite")
		line("a month", "%s, %s in the last 30 days", report.Plural(s.MonthRuns, "run"), span(s.MonthSeconds))
	}
	if priced && s.Unpriced > 0 {
		line("", "%s without a price", report.Plural(s.Unpriced, "run"))
	}
	caught := report.Plural(s.Caught, "regression") + " caught and mended"
	if priced && s.Caught > 0 {
		caught += fmt.Sprintf(", %s each", report.Dollars(s.PerCaught()))
	}
	line("value", "%s; %d found and not mended in a later run", caught, s.Found)
	_, err := io.WriteString(w, b.String())
	return err
}
