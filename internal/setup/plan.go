package setup

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/goatnote-inc/pawl/internal/build"
	"github.com/goatnote-inc/pawl/internal/device"
	"github.com/goatnote-inc/pawl/internal/shell"
	"github.com/goatnote-inc/pawl/internal/suite"
)

// State is what a machine has of a thing.
type State string

// The states of a thing.
const (
	Here    State = "here"
	Missing State = "missing"
	Unset   State = "unset" // it is here, and not set as it should be
)

// Item is one thing that a suite needs or has use for.
type Item struct {
	Name     string    `json:"name"`
	State    State     `json:"state"`
	Required bool      `json:"required"`          // the suite does not run without it
	At       string    `json:"at,omitempty"`      // where it is
	Version  string    `json:"version,omitempty"` // as it tells it itself
	Why      string    `json:"why"`               // the suite needs it, or has use for it
	Fix      []Command `json:"fix,omitempty"`     // what would bring it, in order
	// ByHand says that the fix is for a person to decide on: it is never run from here.
	ByHand bool   `json:"by_hand,omitempty"`
	Note   string `json:"note,omitempty"` // what else to know, or to do where no command does it

	packages []string // what brings it
}

// Command is a command line that changes a machine.
type Command struct {
	Line string `json:"line"` // for sh
	Root bool   `json:"root"` // only root may
}

// Plan is what a suite needs and what would have to be done.
type Plan struct {
	Items    []Item    `json:"items"`
	Commands []Command `json:"commands"` // all that can be run from here, in order
}

// Ready tells whether everything is there that the suite cannot do without.
func (p Plan) Ready() bool {
	return !slices.ContainsFunc(p.Items, func(i Item) bool { return i.Required && i.State != Here })
}

// Options say what to look at. Zero values of the machine mean this one.
type Options struct {
	Suite *suite.Suite
	Dir   string // where its commands run

	Root    fs.FS
	Path    string
	Devices func(context.Context) (device.Inventory, error)
	Admin   bool // who asks is root: commands need no sudo
}

// filled takes this machine where none is given.
func (o Options) filled() Options {
	if o.Root == nil {
		o.Root = os.DirFS("/")
		o.Admin = os.Geteuid() == 0
	}
	if o.Path == "" {
		o.Path = os.Getenv("PATH")
	}
	if o.Devices == nil {
		o.Devices = func(ctx context.Context) (device.Inventory, error) { return device.List(ctx, device.Options{}) }
	}
	return o
}

// Look finds out what the suite needs and what of it is there.
func Look(ctx context.Context, o Options) (Plan, error) {
	l := &look{Options: o.filled()}
	l.system = SystemOf(l.Root)
	var err error
	if l.inventory, err = l.Devices(ctx); err != nil {
		return Plan{}, fmt.Errorf("look at this machine: %w", err)
	}
	l.versions = map[string]string{}
	for _, t := range build.Toolchain(ctx, l.Dir, append(Commands(l.Suite), "ninja", "ccache", "cmake")...) {
		l.versions[t.Name] = t.Version
	}
	l.programs()
	l.python(ctx)
	l.useful(ctx)
	l.nvidia(ctx)
	if err := ctx.Err(); err != nil {
		return Plan{}, context.Cause(ctx)
	}
	return Plan{Items: l.items, Commands: l.commands()}, nil
}

// look is a plan in the making.
type look struct {
	Options
	system    System
	inventory device.Inventory
	versions  map[string]string
	items     []Item
}

func (l *look) search() shell.Search { return SearchOf(l.Dir, l.Path, nil) }

func (l *look) has(name string) bool {
	return slices.ContainsFunc(l.items, func(i Item) bool { return i.Name == name })
}

// add notes a thing; one that is missing gets the command that brings its package.
func (l *look) add(i Item) {
	if i.State == Missing && len(i.packages) > 0 {
		i.Fix = append(i.Fix, l.system.install(i.packages...))
	}
	for n, c := range i.Fix {
		i.Fix[n] = l.asRoot(c)
	}
	l.items = append(l.items, i)
}

// program is an item for a program that is looked for.
func (l *look) program(name string, in shell.Search, required bool, why string) Item {
	i := Item{Name: name, State: Missing, Required: required, Why: why}
	if at, runs := in.Find(name); runs {
		i.State, i.At, i.Version = Here, at, l.versions[name]
		return i
	}
	if p := l.system.Package(name); p != "" {
		i.packages = []string{p}
	} else {
		i.Note = "no package is known that brings it: install it by hand, so that it is found on the search path"
	}
	return i
}

// commands are what brings everything that may be brought from here: packages all at
// once, then the rest.
func (l *look) commands() []Command {
	var names []string
	var rest []Command
	for _, i := range l.items {
		switch {
		case i.State == Here || i.ByHand:
		case len(i.packages) > 0:
			names = append(names, i.packages...)
		default:
			rest = append(rest, i.Fix...)
		}
	}
	list := []Command{}
	if len(names) > 0 {
		slices.Sort(names)
		if c := l.system.refresh(); c.Line != "" {
			list = append(list, l.asRoot(c))
		}
		list = append(list, l.asRoot(l.system.install(slices.Compact(names)...)))
	}
	return append(list, rest...)
}

// asRoot puts sudo before a command where it is needed.
func (l *look) asRoot(c Command) Command {
	if c.Root && !l.Admin && !hasSudo(c.Line) {
		c.Line = "sudo " + c.Line
	}
	return c
}

func hasSudo(line string) bool { return len(line) > 5 && line[:5] == "sudo " }
