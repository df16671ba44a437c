package cli

import (
	"context"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/learn/journal"
)

// now is the clock of the process.
func (g *globals) now() time.Time {
	if g.Now != nil {
		return g.Now()
	}
	return time.Now()
}

// openJournal is the session that goes on in this folder or above it, and the folder of its
// suite; this one where there is none.
func (g *globals) openJournal() (*journal.Writer, string, error) {
	root, ok := sessionRoot(".")
	if !ok {
		return nil, ".", journal.ErrNoSession
	}
	w, err := journal.Folder{Root: root, Now: g.now}.Open()
	return w, root, err
}

// actor is who runs this command.
func (g *globals) actor(ctx context.Context, root string) journal.Actor {
	return journal.Who(g.Getenv, func() string {
		name, err := gitOutput(ctx, root, "config", "user.name")
		if err != nil {
			return ""
		}
		return strings.TrimSpace(name)
	})
}

// present is the state in which a command would find the kernel.
func (g *globals) present(_ context.Context, w *journal.Writer, root string) journal.Did {
	d := lookAtSource(w, root, g.now()).did()
	d.Host = g.hostName()
	return d
}
