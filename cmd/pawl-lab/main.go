// Command pawl-lab measures pawl itself: how often its verdicts are wrong, and how good its searches and recommendations are.
package main

import (
	"context"
	"os"

	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/lab"
)

func main() { os.Exit(lab.Main(context.Background(), os.Args[1:], command.Process())) }
