package cli

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/learn/journal"
)

// onlyLook are commands that change nothing and measure nothing, with all that stand below
// them: they leave no entry. Those of a session write entries of their own.
var onlyLook = []string{
	"help", "completion", "__complete", "__completeNoDesc", "version", "schema", "report", "cost", "sdk", "lab", "wake",
	"session", "next", "gates", "learn", "guide", "checklist", "mcp",
	"lesson list", "lesson show", "lesson match",
}

// journalAll has every command leave an entry where a session is open: what it did, how
// long it took, what came of it.
func journalAll(g *globals, c *cobra.Command) {
	for _, sub := range c.Commands() {
		journalAll(g, sub)
	}
	run := c.RunE
	if run == nil || looks(commandName(c)) {
		return
	}
	c.RunE = func(cmd *cobra.Command, args []string) error {
		e := g.openEntry(cmd)
		if e == nil {
			return run(cmd, args)
		}
		ctx := cmd.Context()
		if err := g.stopped(ctx, e.writer, e.root, e.did); err != nil {
			return err
		}
		g.seen = newWitness(g, e)
		err := run(cmd, args)
		e.close(ctx, g, err)
		return err
	}
}

func looks(command string) bool {
	return slices.ContainsFunc(onlyLook, func(name string) bool { return command == name || strings.HasPrefix(command, name+" ") })
}

// commandName is what a person calls a command: "baseline show". pawl alone measures.
func commandName(c *cobra.Command) string {
	_, name, sub := strings.Cut(c.CommandPath(), " ")
	if !sub {
		return "bench"
	}
	return name
}

// entry is what a command that is under way will leave in the journal.
type entry struct {
	writer *journal.Writer
	root   string
	began  time.Time
	did    journal.Did
	source sourceState
}

// openEntry is the entry of a command; nil where no session is open. Trouble is told once,
// and keeps no command from running.
func (g *globals) openEntry(cmd *cobra.Command) *entry {
	w, root, err := g.sessionOf(cmd)
	if err != nil {
		if !errors.Is(err, journal.ErrNoSession) {
			g.say("note: this command is not in the journal: " + err.Error())
		}
		return nil
	}
	e := &entry{writer: w, root: root, began: g.now()}
	e.source = lookAtSource(w, root, g.now())
	if e.source.trouble != nil {
		g.say("note: the journal does not know what changed: " + e.source.trouble.Error())
	}
	e.did = e.source.did()
	e.did.Host = g.hostName()
	e.did.Command, e.did.Args = commandName(cmd), argsOf(cmd, g.args)
	return e
}

// close writes the entry. Whatever goes wrong with that changes nothing of the answer.
func (e *entry) close(ctx context.Context, g *globals, err error) {
	e.did.Seconds = max(0, g.now().Sub(e.began).Seconds())
	e.did.Exit = exitCode(ctx, err)
	if err != nil && e.did.Exit != exitYes {
		e.did.Error = firstLines(err.Error(), 6)
	}
	g.seen.fill(ctx, &e.did, err)
	trouble := e.writer.Append(journal.Entry{Actor: e.actor(ctx, g), Kind: journal.KindDid, Did: &e.did})
	if trouble == nil && e.did.Measures() {
		trouble = e.writer.Keep(e.source.now)
	}
	if trouble != nil {
		g.say("note: the journal is not complete: " + trouble.Error())
	}
}

// actor is who runs the command. Whom git knows is asked once a session: starting git takes
// longer than all the rest of an entry.
func (e *entry) actor(ctx context.Context, g *globals) journal.Actor {
	return journal.Who(g.Getenv, func() string {
		for _, earlier := range e.writer.Session().Entries {
			if earlier.Actor.Kind == journal.Person && earlier.Actor.Name != "" {
				return earlier.Actor.Name
			}
		}
		return g.actor(ctx, e.root).Name
	})
}

// firstLines are the first few of a text, without what only says that it was said.
func firstLines(text string, n int) string {
	lines := strings.SplitN(strings.TrimSpace(text), "\n", n+1)
	return strings.Join(lines[:min(n, len(lines))], "\n")
}

// argsOf is the command line without the words that name the command.
func argsOf(cmd *cobra.Command, args []string) []string {
	rest := slices.Clone(args)
	for _, word := range strings.Fields(cmd.CommandPath())[1:] {
		if i := slices.Index(rest, word); i >= 0 {
			rest = slices.Delete(rest, i, i+1)
		}
	}
	return rest
}

// hostName is the name of this machine; empty where it has none. A container has another one
// every time, unless somebody names it.
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
