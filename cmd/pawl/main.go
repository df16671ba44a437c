// Command pawl is the performance feedback loop for GPU kernels.
package main

import (
	"context"
	"os"

	"github.com/goatnote-inc/pawl/internal/cli"
	"github.com/goatnote-inc/pawl/internal/cli/command"
)

func main() { os.Exit(cli.Main(context.Background(), os.Args[1:], command.Process())) }
