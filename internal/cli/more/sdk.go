package more

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

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
	}{"c": {"pawl.h", sdk.Header}, "python": {"pawl_harness.py", sdk.Python}, "oracle": {"pawl_oracle.py", sdk.Oracle}}
	cmd := &cobra.Command{
		Use:   "sdk c|python|oracle",
		Short: "Write the one file that makes a program a harness or an oracle",
		Long: `Writes the SDK for C, C++, CUDA, HIP and OpenCL (pawl.h), for Python
(pawl_harness.py), or for an oracle in Python (pawl_oracle.py), which defines the correct
results. pawl init does this by itself if a harness needs it.`,
		Example: `  pawl sdk c                # ./pawl.h
  pawl sdk python --out bench/
  pawl sdk oracle           # ./pawl_oracle.py`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("expected one argument: c (for C, C++, CUDA, HIP and OpenCL), python or oracle")
			}
			return nil
		},
		ValidArgs: []string{"c", "python", "oracle"},
		RunE: func(_ *cobra.Command, args []string) error {
			file, ok := files[args[0]]
			if !ok {
				return command.Usage(fmt.Errorf("unknown SDK %q (known: c, python, oracle)", args[0]))
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
