package cli

import (
	"context"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/shell"
	"github.com/goatnote-inc/pawl/internal/learn/journal"
)

// now returns the current time.
func (g *globals) now() time.Time {
	if g.Now != nil {
		return g.Now()
	}
	return time.Now()
}

// openJournal returns the open session of this folder or the nearest one above it, and the folder of its
// suite. Without a session the folder is this one.
func (g *globals) openJournal() (*journal.Writer, string, error) {
	root, ok := sessionRoot(".")
	if !ok {
		return nil, ".", journal.ErrNoSession
	}
	w, err := journal.Folder{Root: root, Now: g.now}.Open()
	return w, root, err
}

// actor returns the person, agent or CI that runs this command.
func (g *globals) actor(ctx context.Context, root string) journal.Actor {
	return g.who(func() string {
		name, err := shell.GitOutput(ctx, root, "config", "user.name")
		if err != nil {
			return ""
		}
		return strings.TrimSpace(name)
	})
}

// who returns the person, agent or CI that runs this command. It calls gitUser only for a person.
func (g *globals) who(gitUser func() string) journal.Actor {
	_, job, _ := g.CurrentJob() // a job that cannot be read has no name
	return journal.Who(g.Getenv, job.Actor, gitUser)
}

// currentState returns the current host and the state of the kernel's source.
func (g *globals) currentState(ctx context.Context, w *journal.Writer, root string) journal.Did {
	d := readSourceState(ctx, w, root).did()
	d.Host = g.hostName()
	return d
}
