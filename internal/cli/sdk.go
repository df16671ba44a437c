package cli

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/sdk"
)

func newSDK(g *globals) *cobra.Command {
	var out string
	files := map[string]struct {
		name    string
		content []byte
	}{"c": {"pawl.h", sdk.Header}, "python": {"pawl_harness.py", sdk.Python}}
	cmd := &cobra.Command{
		Use:   "sdk c|python",
		Short: "Write the one file that makes a program a harness",
		Long: `Writes the SDK for C, C++, CUDA, HIP and OpenCL (pawl.h), or for Python
(pawl_harness.py). pawl init does so by itself where a harness needs it.`,
		Example: `  pawl sdk c                # ./pawl.h
  pawl sdk python --out bench/`,
		Args:      cobra.ExactArgs(1),
		ValidArgs: []string{"c", "python"},
		RunE: func(_ *cobra.Command, args []string) error {
			file, ok := files[args[0]]
			if !ok {
				return usageError{fmt.Errorf("there is no SDK %q: c or python", args[0])}
			}
			if out == "-" {
				_, err := g.Out.Write(file.content)
				return err
			}
			path := filepath.Join(out, file.name)
			if exists(path) {
				return usageError{fmt.Errorf("%s is there already: remove it to write it anew, or print it with --out -", path)}
			}
			if err := os.WriteFile(path, file.content, 0o644); err != nil {
				return fmt.Errorf("write the SDK: %w", err)
			}
			_, err := fmt.Fprintln(g.Out, path)
			return err
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "", "`folder` to write it to; - prints it")
	return cmd
}
