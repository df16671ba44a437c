// Command pawl-agent measures on a GPU host for a pawl server.
package main

import (
	"context"
	"os"

	"github.com/goatnote-inc/pawl/internal/cli/agent"
	"github.com/goatnote-inc/pawl/internal/cli/command"
)

func main() { os.Exit(agent.Main(context.Background(), os.Args[1:], command.Process())) }
