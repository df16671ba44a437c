// Command pawl is the performance feedback loop for GPU kernels.
package main

import (
	"context"
	"os"

	"golang.org/x/term"

	"github.com/goatnote-inc/pawl/internal/cli"
)

func main() {
	fd := int(os.Stderr.Fd())
	os.Exit(cli.Main(context.Background(), os.Args[1:], cli.IO{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv,
		Terminal: term.IsTerminal(fd),
		Width: func() int {
			if w, _, err := term.GetSize(fd); err == nil {
				return w
			}
			return 80
		},
	}))
}
