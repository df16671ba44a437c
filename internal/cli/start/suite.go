package start

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/base/strictyaml"
	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
)

// NewSuite returns the command pawl suite.
func NewSuite(g *env.Env) *cobra.Command {
	return command.Group(&cobra.Command{
		Use:   "suite",
		Short: "Check a suite file, print its schema, or show it with every default",
		Example: `  pawl suite check
  pawl suite show
  pawl suite schema suite > .pawl/suite.schema.json`,
	}, newSuiteCheck(g), newSchema(g), newSuiteShow(g))
}

func newSuiteShow(g *env.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "show [FILE]",
		Short: "Print the suite with every default filled in",
		Long: `Prints the suite as one YAML file: the files that it extends are merged, and every default
is filled in. The output is a valid suite.`,
		Example: `  pawl suite show
  pawl suite show bench/pawl.yaml`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			s, _, err := env.LoadSuite(append(args, "")[0])
			if err != nil {
				return err
			}
			text, err := s.YAML()
			if err != nil {
				return err
			}
			_, err = g.Out.Write(text)
			return err
		},
	}
}

func newSuiteCheck(g *env.Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check [FILE]",
		Short: "Check a suite file",
		Long: `Reads a suite and everything it extends and lists the errors, each with file, line, column
and, if there is one, the spelling that was probably meant.`,
		Example: `  pawl suite check
  pawl suite check bench/pawl.yaml`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return validate(g, append(args, "")[0], asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
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

func validate(g *env.Env, name string, asJSON bool) error {
	s, path, err := env.LoadSuite(name)
	if asJSON {
		return validateJSON(g, s, err)
	}
	if err != nil {
		return err
	}
	for _, w := range s.Warnings {
		fmt.Fprintln(g.Err, g.ErrStyle().Warn("warning: ")+w.Error())
	}
	cases := words.Plural(len(s.Cases()), "case")
	if s.NeedsHarness() {
		cases += ", plus those that the harness lists"
	}
	_, err = fmt.Fprintf(g.Out, "%s is valid: %s, %s\n", path, words.Plural(len(s.Benchmarks), "benchmark"), cases)
	return err
}

func validateJSON(g *env.Env, s *suite.Suite, err error) error {
	doc := struct {
		Valid      bool    `json:"valid"`
		Benchmarks int     `json:"benchmarks"`
		Cases      int     `json:"cases"`
		Errors     []fault `json:"errors,omitempty"`
		Warnings   []fault `json:"warnings,omitempty"`
	}{Valid: err == nil}
	faults := func(errs []*strictyaml.Error) (list []fault) {
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
	if encErr := command.WriteJSON(g.Out, doc); encErr != nil {
		return encErr
	}
	if err != nil {
		return errors.Join(command.ErrReported, err)
	}
	return nil
}
