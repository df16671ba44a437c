package decide

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/goatnote-inc/pawl/internal/cli/bench"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
)

// Every flag of pawl run either works with --on, or is refused with what to do instead. A new flag has to be decided here.
func TestRunOn_EveryFlagWorksOrIsRefused(t *testing.T) {
	values := map[string]string{"bool": "true", "duration": "1s", "int": "1", "uint64": "1", "string": "x"}
	f, _, _ := newRunOn(t, &fleetServer{})
	var all []string
	f.FlagSet.VisitAll(func(fl *pflag.Flag) { all = append(all, fl.Name) })
	for name := range instead {
		if !slices.Contains(all, name) {
			t.Errorf("pawl run has no flag --%s", name)
		}
	}
	for _, name := range all {
		t.Run(name, func(t *testing.T) {
			s := &fleetServer{}
			f, _, _ := newRunOn(t, s)
			if err := f.FlagSet.Set(name, values[f.FlagSet.Lookup(name).Value.Type()]); err != nil {
				t.Fatal(err)
			}
			if slices.Contains(onFlags, name) {
				if err := f.checkOn(); err != nil {
					t.Error(err)
				}
				return
			}
			err := f.run(t.Context())
			_, usage := errors.AsType[*command.UsageError](err)
			if want := "--" + name + " cannot be combined with --on: " + instead[name]; !usage || instead[name] == "" || err.Error() != want || s.asked > 0 {
				t.Errorf("error %v, want %q and nothing else before it", err, want)
			}
		})
	}
}

func TestRun_PriorityNeedsOn(t *testing.T) {
	g := &env.Env{Globals: &command.Globals{IO: &command.IO{}}}
	f := &runFlags{Flags: bench.Flags{Env: g, FlagSet: NewRun(g).Flags()}}
	if err := f.FlagSet.Set("priority", "4"); err != nil {
		t.Fatal(err)
	}
	err := f.run(t.Context())
	if _, usage := errors.AsType[*command.UsageError](err); !usage || !strings.Contains(err.Error(), "--on") {
		t.Errorf("error %v, want a usage error", err)
	}
}

func TestRunOn_NeedsAModelAndASuite(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*runFlags) error
		want   string
	}{
		"an empty list of models": {func(f *runFlags) error { f.on = ""; return nil }, "names no device model"},
		"a command after --":      {func(f *runFlags) error { f.Command.Args = []string{"./bench"}; return nil }, "a gate needs a suite"},
		"two flags": {func(f *runFlags) error {
			return errors.Join(f.FlagSet.Set("dry-run", "true"), f.FlagSet.Set("wait", "1s"))
		}, "leave out --on\n--wait"},
	} {
		t.Run(name, func(t *testing.T) {
			f, _, _ := newRunOn(t, &fleetServer{})
			if err := c.change(f); err != nil {
				t.Fatal(err)
			}
			err := f.run(t.Context())
			if _, usage := errors.AsType[*command.UsageError](err); !usage || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}
