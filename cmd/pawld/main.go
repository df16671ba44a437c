// Command pawld is the memory of pawl: a server that keeps every result.
package main

import (
	"context"
	"os"

	"github.com/goatnote-inc/pawl/internal/daemon"
)

func main() {
	os.Exit(daemon.Main(context.Background(), os.Args[1:], &daemon.IO{
		Out: os.Stdout, Err: os.Stderr, Environ: os.Environ(),
	}))
}
