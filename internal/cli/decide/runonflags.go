package decide

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/pflag"
)

// onFlags are the flags that also have a meaning for a gate on the fleet.
var onFlags = []string{"on", "base", "suite", "out", "trust", "priority", "json", "dir", "no-color"}

const (
	onNeedsSuite = "a gate needs a suite: write one with pawl run --save -- COMMAND, and commit it"
	onDefault    = "the host of the device uses the default: leave it out"
)

// instead says for each other flag what to do instead of combining it with --on.
var instead = map[string]string{
	"accept":        "a gate cannot accept anything: accept it on the pull request, or run it here without --on",
	"arch":          "it is for a build on this machine: leave it out",
	"budget":        "set budget.time in the suite",
	"build":         onNeedsSuite,
	"build-only":    "it builds on this machine: leave out --on",
	"builds":        "a fleet hands builds over by itself: leave it out",
	"case":          "a gate judges all cases of its suite: name a suite with fewer cases with --suite",
	"dry-run":       "it plans a run on this machine: leave out --on",
	"force-measure": "a gate measures all cases anyway: leave it out",
	"format":        onNeedsSuite,
	"fuzz":          onDefault,
	"live":          "a gate shows its progress anyway: leave it out",
	"main":          "a gate moves no baseline: leave it out, and run pawl baseline move on its results",
	"no-cache":      "the cache is that of the device's host: set build.cache to false in the suite",
	"no-keep":       "a gate moves no baseline anyway: leave it out",
	"pattern":       onNeedsSuite,
	"profile":       onDefault,
	"resume":        "a gate continues by itself: pawl fleet show GATE tells how far it is",
	"samples":       "set measure.samples in the suite",
	"save":          onNeedsSuite,
	"seed":          "the host of the device chooses one and records it: leave it out",
	"strict":        "set policy.strict in the suite",
	"wait":          "a gate waits in the queue of the fleet: leave it out",
}

// checkOn refuses what has no meaning for a gate on the fleet.
func (f *runFlags) checkOn() error {
	var wrong []error
	if f.on == "" {
		wrong = append(wrong, errors.New("--on names no device model: run pawl fleet devices to see them, or leave it out to run here"))
	}
	if len(f.Command.Args) > 0 {
		wrong = append(wrong, errors.New("a command after -- cannot be combined with --on: "+onNeedsSuite))
	}
	f.FlagSet.Visit(func(fl *pflag.Flag) {
		if !slices.Contains(onFlags, fl.Name) {
			wrong = append(wrong, fmt.Errorf("--%s cannot be combined with --on: %s", fl.Name, instead[fl.Name]))
		}
	})
	return errors.Join(wrong...)
}
