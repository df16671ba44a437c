package cli

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/internal/report"
)

func newValidate(g *globals) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "validate [FILE]",
		Short: "Check a suite file",
		Long: `Reads a suite and everything it extends and says what is wrong, each fault with
file, line, column and, where there is one, the spelling that was probably meant.`,
		Example: `  pawl validate
  pawl validate bench/pawl.yaml`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return validate(g, append(args, "")[0], asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "the answer as JSON")
	return cmd
}

// fault is one error or warning in a suite, as JSON.
type fault struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

func validate(g *globals, name string, asJSON bool) error {
	s, path, err := loadSuite(name)
	if asJSON {
		return validateJSON(g, s, err)
	}
	if err != nil {
		return err
	}
	for _, w := range s.Warnings {
		fmt.Fprintln(g.Err, g.errStyle().Warn("warning: ")+w.Error())
	}
	cases := report.Plural(len(s.Cases()), "case")
	if s.NeedsHarness() {
		cases += ", and those that the harness lists"
	}
	_, err = fmt.Fprintf(g.Out, "%s is valid: %s, %s\n", path, report.Plural(len(s.Benchmarks), "benchmark"), cases)
	return err
}

func validateJSON(g *globals, s *suite.Suite, err error) error {
	doc := struct {
		Valid      bool    `json:"valid"`
		Benchmarks int     `json:"benchmarks"`
		Cases      int     `json:"cases"`
		Errors     []fault `json:"errors,omitempty"`
		Warnings   []fault `json:"warnings,omitempty"`
	}{Valid: err == nil}
	faults := func(errs []*suite.Error) (list []fault) {
		for _, e := range errs {
			list = append(list, fault{File: e.File, Line: e.Line, Column: e.Col, Message: e.Msg, Hint: e.Hint})
		}
		return list
	}
	if s != nil {
		doc.Benchmarks, doc.Cases, doc.Warnings = len(s.Benchmarks), len(s.Cases()), faults(s.Warnings)
	}
	var found suite.Errors
	if err != nil && !errors.As(err, &found) {
		return err
	}
	doc.Errors = faults(found)
	e := json.NewEncoder(g.Out)
	e.SetIndent("", "  ")
	if encErr := e.Encode(doc); encErr != nil {
		return encErr
	}
	if err != nil {
		return errors.Join(errReported, err)
	}
	return nil
}
