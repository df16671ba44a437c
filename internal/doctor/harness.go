package doctor

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/shell"
	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/judge/runner"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
)

// isPath reports whether a program is given by a path, not by a name to search for.
func isPath(program string) bool { return strings.Contains(program, "/") }

// programs reports whether the harness exists; one that is not built yet is not a problem.
func programs(_ context.Context, e *exam) []Finding {
	var list []Finding
	told := map[string]bool{}
	for _, v := range e.variants() {
		for _, name := range shell.Programs(v.Harness.Command) {
			if !isPath(name) || told[name] {
				continue
			}
			told[name] = true
			switch at, runs := e.search(nil).Find(name); {
			case runs:
				list = append(list, ok("program", "%s", name))
			case at != "" && !v.Build.Needed():
				list = append(list, missing("program", "%s is not executable", name).withFix("chmod +x %s", at))
			case v.Build.Needed():
				list = append(list, note("program", "%s is not built yet: pawl bench builds it with %q", name, v.Build.String()))
			default:
				list = append(list, missing("program", "%s does not exist, and the suite does not say how to build it", name).
					withFix("correct harness.command, or set build.command in the suite"))
			}
		}
	}
	return list
}

// harnessCheck is the result of starting a harness.
type harnessCheck struct {
	implementation string
	command        string
	builds         bool // pawl bench rebuilds it first
	welcome        harness.Welcome
	listed         []suite.Listed
	skipped        string // why it was not started
	err            error
}

// greetHarnesses starts the harness of every implementation that is built, reads its welcome and its cases,
// and completes the suite with them.
func (e *exam) greetHarnesses(ctx context.Context) {
	met := map[string]bool{}
	for _, v := range e.variants() {
		if met[v.Implementation] || met[v.Harness.Key()] {
			continue // one of each is enough, as in pawl bench
		}
		met[v.Implementation], met[v.Harness.Key()] = true, true
		m := harnessCheck{implementation: v.Implementation, command: v.Harness.Command, builds: v.Build.Needed()}
		if m.skipped = e.skipReason(v); m.skipped == "" {
			e.greet(ctx, v, &m)
		}
		e.harnessChecks = append(e.harnessChecks, m)
	}
	if len(e.harnessChecks) == 0 {
		return
	}
	if first := &e.harnessChecks[0]; first.skipped == "" && first.err == nil && e.suite.NeedsHarness() {
		filled, err := e.suite.Fill(first.listed)
		if err != nil {
			first.err = err
			return
		}
		e.suite = filled
	}
}

// skipReason returns why a harness is not started; empty if it can be.
func (e *exam) skipReason(v suite.Variant) string {
	switch {
	case v.Harness.Command == "":
		return "the suite has no harness: pawl's own launcher runs the kernel"
	case v.Harness.Format != "pawl":
		return fmt.Sprintf("it is a command whose output is read (%s): pawl bench runs it", v.Harness.Format)
	case e.NoHarness:
		return "it is not started here, because its code is not trusted"
	case e.lockState.Holder != nil:
		return "another pawl is measuring on the device and would be disturbed"
	case !e.built(v):
		return "it is not built yet; pawl bench builds it and reports its answer"
	default:
		return ""
	}
}

// built reports whether there is something to start: all build outputs declared by the suite exist.
// A build without known outputs counts as not built.
func (e *exam) built(v suite.Variant) bool {
	var outputs int
	for _, glob := range v.Build.Outputs {
		found, _ := fs.Glob(os.DirFS(e.dir()), filepath.ToSlash(filepath.Clean(glob)))
		if len(found) == 0 {
			return false
		}
		outputs++
	}
	for _, name := range shell.Programs(v.Harness.Command) {
		if _, runs := e.search(v.Harness.Env).Find(name); !runs {
			return false
		}
		if isPath(name) {
			outputs++
		}
	}
	return !v.Build.Needed() || outputs > 0
}

func (e *exam) greet(ctx context.Context, v suite.Variant, m *harnessCheck) {
	session, err := harness.Start(ctx, harness.Command{
		Line: v.Harness.Command, Dir: e.dir(), Silence: v.Harness.Timeout,
		Env: append(suite.Variables(v.Harness.Env), runner.DeviceEnv(e.chosen.id)...),
	}, harness.Hello{Pawl: e.Version, Device: harness.HelloDevice{Kind: e.chosen.id.Kind, UUID: e.chosen.id.UUID}})
	if err != nil {
		m.err = err
		return
	}
	defer session.Kill()
	m.welcome = session.Welcome
	if m.listed, m.err = session.Cases(ctx); m.err == nil {
		m.err = session.Bye(ctx)
	}
}

// protocol reports the answer of each harness.
func protocol(_ context.Context, e *exam) []Finding {
	var list []Finding
	for _, m := range e.harnessChecks {
		name := m.implementation
		switch {
		case m.skipped != "":
			list = append(list, note(name, "not started: %s", m.skipped))
		case m.err != nil && m.builds:
			list = append(list, warn(name, "as currently built: %v", m.err).withFix("pawl bench rebuilds it; if it still fails, it says why"))
		case m.err != nil:
			list = append(list, missing(name, "%v", m.err).withFix("run it by hand in the suite's folder: %s", m.command))
		default:
			list = append(list, m.answered())
			list = append(list, e.mismatches(m)...)
		}
	}
	return list
}

func (m harnessCheck) answered() Finding {
	var timers []string
	for _, t := range m.welcome.Timers {
		timers = append(timers, string(t))
	}
	brings := fmt.Sprintf("brings %s", words.Plural(len(m.listed), "benchmark"))
	if m.welcome.Device.Name != "" {
		brings += " on " + m.welcome.Device.Name
	}
	return ok(m.implementation, "%s answers and %s; timers: %s", m.welcome.SDK, brings, strings.Join(timers, ", "))
}

// mismatches reports cases that the harness cannot measure as the suite asks.
func (e *exam) mismatches(m harnessCheck) []Finding {
	var list []Finding
	cases := slices.DeleteFunc(e.suite.Cases(), func(c suite.Case) bool { return c.Implementation != m.implementation })
	known := func(c suite.Case) bool {
		return slices.ContainsFunc(m.listed, func(l suite.Listed) bool { return l.Name == c.Benchmark })
	}
	if i := slices.IndexFunc(cases, func(c suite.Case) bool { return !known(c) }); i >= 0 && len(m.listed) > 0 {
		list = append(list, warn(m.implementation, "the harness does not list benchmark %q of the suite, so its cases would fail", cases[i].Benchmark).
			withFix("correct its name in the suite or in the harness"))
	}
	timers := m.welcome.Timers
	if i := slices.IndexFunc(cases, func(c suite.Case) bool { return c.Timer != "" && !slices.Contains(timers, c.Timer) }); i >= 0 && len(timers) > 0 {
		list = append(list, warn(m.implementation, "the suite requests the timer %s, which this harness does not have: %s would fail", cases[i].Timer, cases[i].Name()).
			withFix("set in the suite: measure: {timer: %s}", timers[0]))
	}
	return list
}
