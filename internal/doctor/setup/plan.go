package setup

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/goatnote-inc/pawl/internal/base/shell"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/internal/kernel/device"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
)

// State is the state of an item on a machine.
type State string

// States of an item.
const (
	Present       State = "here"
	Missing       State = "missing"
	Misconfigured State = "unset" // present, but not configured as it should be
)

// Item is something that a suite needs or can use.
type Item struct {
	Name     string    `json:"name"`
	State    State     `json:"state"`
	Required bool      `json:"required"`          // the suite does not run without it
	At       string    `json:"at,omitempty"`      // its path
	Version  string    `json:"version,omitempty"` // as reported by the program
	Why      string    `json:"why"`               // why the suite needs it or can use it
	Fix      []Command `json:"fix,omitempty"`     // commands that install it, in order
	// ByHand means that the user must decide on the fix: Run never gets it.
	ByHand bool   `json:"by_hand,omitempty"`
	Note   string `json:"note,omitempty"` // other information, or what to do if there is no command

	packages []string // packages that provide it
}

// Command is a command line that changes a machine.
type Command struct {
	Line string `json:"line"` // for sh
	Root bool   `json:"root"` // needs root
}

// Plan lists what a suite needs and the commands that install what is missing.
type Plan struct {
	Items    []Item    `json:"items"`
	Commands []Command `json:"commands"` // everything that Run can do, in order
}

// Ready reports whether everything that the suite requires is present.
func (p Plan) Ready() bool {
	return !slices.ContainsFunc(p.Items, func(i Item) bool { return i.Required && i.State != Present })
}

// Options describe what to examine. Zero values for the machine mean this one.
type Options struct {
	Suite *suite.Suite
	Dir   string // folder in which its commands run

	Root    fs.FS
	Path    string
	Devices func(context.Context) (device.Inventory, error)
	Admin   bool // the user is root: commands need no sudo
}

// withDefaults sets defaults for this machine.
func (o Options) withDefaults() Options {
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

// Look determines what the suite needs and what of it is present.
func Look(ctx context.Context, o Options) (Plan, error) {
	l := &planner{Options: o.withDefaults()}
	l.system = SystemOf(l.Root)
	var err error
	if l.inventory, err = l.Devices(ctx); err != nil {
		return Plan{}, fmt.Errorf("cannot examine this machine: %w", err)
	}
	l.versions = map[string]string{}
	for _, t := range build.Toolchain(ctx, l.Dir, append(Commands(l.Suite), "ninja", "ccache", "cmake")...) {
		l.versions[t.Name] = t.Version
	}
	l.programs()
	l.python(ctx)
	l.optionalTools(ctx)
	l.nvidia(ctx)
	if err := ctx.Err(); err != nil {
		return Plan{}, context.Cause(ctx)
	}
	return Plan{Items: l.items, Commands: l.commands()}, nil
}

// planner is a plan under construction.
type planner struct {
	Options
	system    System
	inventory device.Inventory
	versions  map[string]string
	items     []Item
}

func (l *planner) search() shell.Search { return SearchOf(l.Dir, l.Path, nil) }

func (l *planner) has(name string) bool {
	return slices.ContainsFunc(l.items, func(i Item) bool { return i.Name == name })
}

// add adds an item; a missing one gets the command that installs its package.
func (l *planner) add(i Item) {
	if i.State == Missing && len(i.packages) > 0 {
		i.Fix = append(i.Fix, l.system.install(i.packages...))
	}
	for n, c := range i.Fix {
		i.Fix[n] = l.asRoot(c)
	}
	l.items = append(l.items, i)
}

// program returns the item for a program.
func (l *planner) program(name string, in shell.Search, required bool, why string) Item {
	i := Item{Name: name, State: Missing, Required: required, Why: why}
	if at, runs := in.Find(name); runs {
		i.State, i.At, i.Version = Present, at, l.versions[name]
		return i
	}
	if p := l.system.Package(name); p != "" {
		i.packages = []string{p}
	} else {
		i.Note = "no package for it is known: install it by hand, on the search path"
	}
	return i
}

// commands returns the commands that install everything that Run may install:
// all packages at once, then the rest.
func (l *planner) commands() []Command {
	var names []string
	var rest []Command
	for _, i := range l.items {
		switch {
		case i.State == Present || i.ByHand:
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

// asRoot prefixes a command with sudo if needed.
func (l *planner) asRoot(c Command) Command {
	if c.Root && !l.Admin && !hasSudo(c.Line) {
		c.Line = "sudo " + c.Line
	}
	return c
}

func hasSudo(line string) bool { return len(line) > 5 && line[:5] == "sudo " }
