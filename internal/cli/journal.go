package cli

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/internal/learn/journal"
)

// unjournaledCommands lists commands that change nothing and measure nothing, including their subcommands. They
// leave no entry. The commands of pawl session write their own entries.
var unjournaledCommands = []string{
	"help", "completion", "__complete", "__completeNoDesc", "version", "suite schema", "suite show", "report", "ci cost", "sdk", "wake",
	"session", "mcp", "device list", "more",
	"lesson list", "lesson show",
}

// journalAll makes every command leave an entry while a session is open: what it did, how long it took,
// and the result.
func journalAll(g *globals, c *cobra.Command) {
	for _, sub := range c.Commands() {
		journalAll(g, sub)
	}
	run := c.RunE
	if run == nil || isUnjournaled(commandName(c)) {
		return
	}
	c.RunE = func(cmd *cobra.Command, args []string) error {
		e := g.openEntry(cmd)
		if e == nil {
			return run(cmd, args)
		}
		ctx := cmd.Context()
		if err := g.checkGates(ctx, e.writer, e.root, e.did); err != nil {
			return err
		}
		facts := newJournalFacts(g, e)
		g.Journal = facts
		err := run(cmd, args)
		e.close(ctx, g, facts, err)
		return err
	}
}

func isUnjournaled(command string) bool {
	return slices.ContainsFunc(unjournaledCommands, func(name string) bool { return command == name || strings.HasPrefix(command, name+" ") })
}

// commandName returns the name of a command without the program, such as "baseline show". pawl without
// a command counts as bench.
func commandName(c *cobra.Command) string {
	_, name, sub := strings.Cut(c.CommandPath(), " ")
	if !sub {
		return "bench"
	}
	return name
}

// entry is the journal entry of a running command.
type entry struct {
	writer *journal.Writer
	root   string
	began  time.Time
	did    journal.Did
	source sourceState
}

// openEntry creates the entry of a command; nil if no session is open. A problem is reported once and
// does not keep the command from running.
func (g *globals) openEntry(cmd *cobra.Command) *entry {
	w, root, err := g.sessionOf(cmd)
	if err != nil {
		if !errors.Is(err, journal.ErrNoSession) {
			g.Say("note: this command is not recorded in the journal: " + err.Error())
		}
		return nil
	}
	e := &entry{writer: w, root: root, began: g.now()}
	e.source = readSourceState(cmd.Context(), w, root)
	if e.source.trouble != nil {
		g.Say("note: the journal does not record what changed: " + e.source.trouble.Error())
	}
	e.did = e.source.did()
	e.did.Host = g.hostName()
	e.did.Command, e.did.Args = commandName(cmd), argsOf(cmd, g.Args)
	return e
}

// close writes the entry. A failure to write does not change the result of the command.
func (e *entry) close(ctx context.Context, g *globals, facts *journalFacts, err error) {
	e.did.Seconds = max(0, g.now().Sub(e.began).Seconds())
	e.did.Exit = env.ExitCode(ctx, err)
	if err != nil && e.did.Exit != command.ExitOK {
		e.did.Error = firstLines(err.Error(), 6)
	}
	facts.fill(ctx, &e.did, err)
	if kept, ok := e.writer.Kept(); ok && e.did.Measures() {
		e.did.Diff = e.writer.Diff(ctx, kept, e.source.now)
	}
	trouble := e.writer.Append(journal.Entry{Actor: e.actor(ctx, g), Kind: journal.KindDid, Did: &e.did})
	if trouble == nil && e.did.Measures() {
		trouble = e.writer.Keep(e.source.now)
	}
	if trouble != nil {
		g.Say("note: the journal is incomplete: " + trouble.Error())
	}
}

// actor returns the person, agent or CI that runs the command. A person's name comes from an earlier
// entry if there is one, because starting git takes longer than the rest of an entry.
func (e *entry) actor(ctx context.Context, g *globals) journal.Actor {
	return g.who(func() string {
		for _, earlier := range e.writer.Session().Entries {
			if earlier.Actor.Kind == journal.Person && earlier.Actor.Name != "" {
				return earlier.Actor.Name
			}
		}
		return g.actor(ctx, e.root).Name
	})
}

// firstLines returns the first n lines of a text.
func firstLines(text string, n int) string {
	lines := strings.SplitN(strings.TrimSpace(text), "\n", n+1)
	return strings.Join(lines[:min(n, len(lines))], "\n")
}

// argsOf returns the command line without the words that name the command.
func argsOf(cmd *cobra.Command, args []string) []string {
	rest := slices.Clone(args)
	for _, word := range strings.Fields(cmd.CommandPath())[1:] {
		if i := slices.Index(rest, word); i >= 0 {
			rest = slices.Delete(rest, i, i+1)
		}
	}
	return rest
}

// hostName returns the name of this machine; empty if it has none. A container gets a new name at each
// start, unless PAWL_HOST is set.
func (g *globals) hostName() string {
	if name := g.Getenv("PAWL_HOST"); name != "" {
		return name
	}
	name, err := os.Hostname()
	if err != nil {
		return ""
	}
	return name
}
