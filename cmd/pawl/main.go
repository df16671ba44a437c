// Command pawl is the performance feedback loop for GPU kernels.
package main

import (
	"context"
	"os"

	"golang.org/x/term"

	"github.com/goatnote-inc/pawl/internal/cli"
)

func main() {
	os.Exit(cli.Main(context.Background(), os.Args[1:], &cli.IO{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv,
		OutScreen: screen(os.Stdout), ErrScreen: screen(os.Stderr),
	}))
}

// screen returns a function for the size of a terminal; nil if f is not a terminal.
func screen(f *os.File) func() (width, height int) {
	fd := int(f.Fd())
	if !term.IsTerminal(fd) {
		return nil
	}
	return func() (int, int) {
		if w, h, err := term.GetSize(fd); err == nil && w > 0 && h > 0 {
			return w, h
		}
		return 80, 24
	}
}
