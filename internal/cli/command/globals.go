package command

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/goatnote-inc/pawl/internal/report"
)

// Globals holds the flags and state that every command shares.
type Globals struct {
	*IO
	Args []string // the command line

	dir     string
	noColor bool
}

// changeDir changes to the folder of -C, so that all paths are relative to it.
func (g *Globals) changeDir() error {
	if g.dir == "" {
		return nil
	}
	err := os.Chdir(g.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return Usage(fmt.Errorf("-C %s: no such folder", g.dir))
	}
	if err != nil {
		return Usage(fmt.Errorf("-C: %w", err))
	}
	return nil
}

// Style returns the style of stdout, which may be a terminal while stderr is a file.
func (g *Globals) Style() report.Style { return g.styleOf(g.OutScreen) }

// ErrStyle returns the style of stderr.
func (g *Globals) ErrStyle() report.Style { return g.styleOf(g.ErrScreen) }

func (g *Globals) styleOf(screen func() (int, int)) report.Style {
	if screen == nil {
		return report.Style{}
	}
	width, _ := screen()
	return report.Style{Color: !g.noColor && !g.Dumb() && g.Getenv("NO_COLOR") == "", Width: width}
}

// Dumb reports whether the terminal cannot be drawn on.
func (g *Globals) Dumb() bool { return g.Getenv("TERM") == "dumb" }
