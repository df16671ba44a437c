package more

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/sdk"
)

// NewSDK returns the command pawl sdk.
func NewSDK(g *env.Env) *cobra.Command {
	var out string
	files := map[string]struct {
		name    string
		content []byte
	}{
		"c": {"pawl.h", sdk.Header}, "python": {"pawl_harness.py", sdk.Python}, "oracle": {"pawl_oracle.py", sdk.Oracle},
		"submit": {"pawl_submit.py", sdk.Submit}, "evaluator": {"pawl_evaluator.py", sdk.Evaluator}, "kernelbench": {"pawl_kernelbench.py", sdk.KernelBench},
	}
	known := []string{"c", "python", "oracle", "submit", "evaluator", "kernelbench"}
	cmd := &cobra.Command{
		Use:   "sdk " + strings.Join(known, "|"),
		Short: "Write the one file that connects a program to pawl",
		Long: `Writes the SDK for C, C++, CUDA, HIP and OpenCL (pawl.h), for Python
(pawl_harness.py), or for an oracle in Python (pawl_oracle.py), which defines the correct
results. pawl init does this by itself if a harness needs it.

For search loops in Python it writes pawl_submit.py, which judges candidates,
pawl_evaluator.py for OpenEvolve, and pawl_kernelbench.py for problems of KernelBench.`,
		Example: `  pawl sdk c                # ./pawl.h
  pawl sdk python --out bench/
  pawl sdk submit           # ./pawl_submit.py`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("expected one argument: one of %s", strings.Join(known, ", "))
			}
			return nil
		},
		ValidArgs: known,
		RunE: func(_ *cobra.Command, args []string) error {
			file, ok := files[args[0]]
			if !ok {
				return command.Usage(fmt.Errorf("unknown SDK %q (known: %s)", args[0], strings.Join(known, ", ")))
			}
			if out == "-" {
				_, err := g.Out.Write(file.content)
				return err
			}
			path := filepath.Join(out, file.name)
			if env.Exists(path) {
				return command.Usage(fmt.Errorf("%s already exists: remove it to write it again, or print it with --out -", path))
			}
			if err := os.WriteFile(path, file.content, 0o644); err != nil {
				return fmt.Errorf("cannot write the SDK: %w", err)
			}
			_, err := fmt.Fprintln(g.Out, path)
			return err
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "", "`folder` to write it to; - prints it")
	return cmd
}
