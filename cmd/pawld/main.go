// Command pawld is the pawl server: it stores every result.
package main

import (
	"context"
	"os"

	"github.com/goatnote-inc/pawl/internal/server/daemon"
)

func main() {
	os.Exit(daemon.Main(context.Background(), os.Args[1:], &daemon.IO{
		Out: os.Stdout, Err: os.Stderr, Environ: os.Environ(),
	}))
}
