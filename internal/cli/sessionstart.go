package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/base/shell"
	"github.com/goatnote-inc/pawl/internal/base/spell"
	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/internal/kernel/device"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/internal/learn/journal"
	"github.com/goatnote-inc/pawl/internal/learn/page"
)

type sessionStart struct {
	*globals
	given           *pflag.FlagSet
	suite           string
	goal, benchmark string
	reference       string
	target          float64
	plan            time.Duration
	seconds         float64
	dollars         float64
	json            bool
}

func newSessionStart(g *globals) *cobra.Command {
	f := sessionStart{globals: g}
	cmd := &cobra.Command{
		Use:   "start",
		Short: "Start a session on a kernel",
		Long: `Opens a journal. From now on every pawl command in this folder adds an entry, pawl session next
says what to do, and five gates stop what should not be done yet.

A working tree has at most one open session.`,
		Example: `  pawl session start
  pawl session start --goal "1.2 times as fast as sdpa" --benchmark attention --target 1.2
  pawl session start --plan 4h --budget-seconds 1200 --budget-dollars 2`,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context()) },
	}
	fl := cmd.Flags()
	f.given = fl
	fl.StringVarP(&f.suite, "suite", "f", "", "suite `file` (default pawl.yaml)")
	fl.StringVar(&f.goal, "goal", "", "what you want to achieve, in your own `words`")
	fl.StringVar(&f.benchmark, "benchmark", "", "`name` of the benchmark to work on (default: the only one, or all)")
	fl.StringVar(&f.reference, "reference", "", "`name` of the implementation to compare with (default: the first that is not the candidate)")
	fl.Float64Var(&f.target, "target", 0, "target speedup over the reference, such as 1.2")
	fl.DurationVar(&f.plan, "plan", 0, "how long you expect it to take, such as 4h")
	fl.Float64Var(&f.seconds, "budget-seconds", 0, "max `seconds` on the device")
	fl.Float64Var(&f.dollars, "budget-dollars", 0, "max `dollars` for the device")
	fl.BoolVar(&f.json, "json", false, "print the entry as JSON")
	return cmd
}

func (f *sessionStart) run(ctx context.Context) error {
	if err := f.check(); err != nil {
		return command.Usage(err)
	}
	s, path, err := env.LoadSuite(f.suite)
	if err != nil {
		return err
	}
	started, err := f.firstEntry(ctx, s, path)
	if err != nil {
		return err
	}
	root := filepath.Dir(path)
	folder := journal.Folder{Root: root, Now: f.now}
	if past, err := folder.Summaries(); err == nil {
		started.Forecast = journal.NewForecast(past)
	}
	w, err := folder.Start(started, f.actor(ctx, root))
	if _, open := errors.AsType[*journal.OpenError](err); open {
		return command.Usage(err)
	}
	if err != nil {
		return brokenAnswer(err)
	}
	return f.show(w.Session())
}

// check rejects flag values that are out of range.
func (f *sessionStart) check() error {
	for _, n := range []struct {
		flag  string
		value float64
	}{{"target", f.target}, {"plan", f.plan.Minutes()}, {"budget-seconds", f.seconds}, {"budget-dollars", f.dollars}} {
		if f.given.Changed(n.flag) && !(n.value > 0 && n.value < 1e9) {
			return fmt.Errorf("--%s %s: must be more than 0", n.flag, f.given.Lookup(n.flag).Value)
		}
	}
	if len(f.goal) > 2000 {
		return errors.New("--goal: must be at most 2000 characters")
	}
	return nil
}

// firstEntry returns the first entry of a session.
func (f *sessionStart) firstEntry(ctx context.Context, s *suite.Suite, path string) (journal.Started, error) {
	st := journal.Started{
		Goal: strings.TrimSpace(f.goal), Benchmark: f.benchmark, Suite: fromTop(filepath.Dir(path), path), Reference: f.reference,
		Target: f.target, Planned: f.plan.Minutes(), Commit: headOf(ctx, filepath.Dir(path)), Price: s.Device.PricePerHour,
	}
	var names []string
	for _, b := range s.Benchmarks {
		names = append(names, b.Name)
	}
	switch {
	case st.Benchmark == "" && len(names) == 1:
		st.Benchmark = names[0]
	case st.Benchmark != "" && len(names) > 0 && !slices.Contains(names, st.Benchmark):
		return st, command.Usage(fmt.Errorf("--benchmark %q: %s", f.benchmark, nearOf(f.benchmark, names)))
	}
	references := referencesOf(s, st.Benchmark)
	switch {
	case st.Reference == "" && len(references) > 0:
		st.Reference = references[0]
	case st.Reference != "" && !slices.Contains(references, st.Reference):
		return st, command.Usage(fmt.Errorf("--reference %q: %s", f.reference, nearOf(f.reference, references)))
	}
	if f.seconds > 0 || f.dollars > 0 {
		st.Budget = &journal.Budget{Seconds: f.seconds, Dollars: f.dollars}
	}
	st.Device, st.GPU = sessionDevice(ctx, s)
	return st, nil
}

func nearOf(name string, known []string) string {
	if near := spell.Nearest(name, known); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	if len(known) == 0 {
		return "the suite has none"
	}
	return "the suite has " + strings.Join(known, ", ")
}

// referencesOf returns the other implementations of a benchmark, or of all benchmarks if it is empty.
func referencesOf(s *suite.Suite, benchmark string) []string {
	var list []string
	for _, b := range s.Benchmarks {
		if benchmark != "" && b.Name != benchmark {
			continue
		}
		for _, name := range b.Implementations {
			if name != suite.Candidate && !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
	}
	return list
}

// sessionDevice returns the name and architecture of the device that the suite would be measured on;
// empty if there is none.
func sessionDevice(ctx context.Context, s *suite.Suite) (name, arch string) {
	inventory, err := device.List(ctx, device.Options{})
	if err != nil {
		return "", ""
	}
	dev, err := inventory.Select(s.Device.Kind, s.Device.Select)
	if err != nil {
		return "", ""
	}
	id := dev.Identity()
	if id.Kind == gpu.CPU {
		return id.Name, "cpu"
	}
	if a, err := gpu.FindArch(id.ComputeCapability); err == nil {
		return id.Name, a.Name
	}
	return id.Name, string(id.Kind)
}

// headOf returns the current commit of the working tree; empty if there is none.
func headOf(ctx context.Context, root string) string {
	out, err := shell.GitOutput(ctx, root, "rev-parse", "--verify", "--quiet", "HEAD")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(out)
}

func (f *sessionStart) show(s *journal.Session) error {
	if f.json {
		return command.WriteJSON(f.Out, struct {
			Session journal.Started `json:"session"`
			Began   time.Time       `json:"began"`
			Path    string          `json:"path"`
		}{s.Started, s.Began, filepath.ToSlash(s.Path)})
	}
	style := f.Style()
	fmt.Fprintf(f.Out, "%s: %s\n", style.Bold("session "+s.ID), words.Sanitize(page.Subject(s.Started)))
	fmt.Fprintf(f.Out, "forecast: %s\n", page.Forecast(s.Forecast))
	_, err := fmt.Fprintln(f.Out, style.Faint("every command adds an entry now; run `pawl session next` to see what to do"))
	return err
}
