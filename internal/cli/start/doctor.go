package start

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/goatnote-inc/pawl/internal/judge/noise"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/goatnote-inc/pawl/internal/base/version"
	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/cli/bench"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/internal/cli/progress"
	"github.com/goatnote-inc/pawl/internal/doctor"
	"github.com/goatnote-inc/pawl/internal/judge/runner"
	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/internal/kernel/discover"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
)

// doctorFlags are the flags of pawl doctor. Those of bench control how noise is measured.
type doctorFlags struct {
	bench.Flags
	noise, gate, github bool
	fix, yes            bool
	gpu, holdClocks     bool
}

// noiseRounds is enough to estimate the spread to about a sixth of its value.
const noiseRounds = 16

// NewDoctor returns the command pawl doctor.
func NewDoctor(g *env.Env) *cobra.Command {
	f := doctorFlags{Flags: bench.Flags{Env: g}}
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check what works, what is missing, and how to fix it",
		Long: `Checks the machine, the device, the toolchain, the suite and the harness, and says for
each what is wrong and how to fix it. Without --fix it changes nothing. A harness that is
already built is started once, to check that it speaks the protocol.

With --noise it also measures the suite against itself: how much results of the same code
differ on this machine, and so how small a slowdown can be found. It first says how long
that takes. The record is results/noise.json.

With --gate it also tests the gate on this machine: it must pass identical code, and it
must fail a third side that is slower because it runs 17 times for every 16 counted runs.
The record is results/gate.json.

With --fix it shows the exact command for everything that the suite needs or can use and
that is missing. On a terminal it asks before it runs them; elsewhere it only prints them.
With --yes it runs them one by one, shows each, and stops at the first that fails. Commands
that weaken the protection of the machine are only shown.

With --gpu it checks pawl's own assumptions on the NVIDIA GPU of this machine, in two to
three minutes: timers, caches, clocks, launches, the judge. It writes results/gpu-check.json
and results/gpu-check.txt, which name neither the card nor the machine. It locks the clocks
for some seconds if it may, and restores them.

With --github it checks only whether the workflows that use pawl are safe and, in a job,
whether its runner may run untrusted code.

Exit code: 0 pawl bench can run here; 3 something is missing. With --gate also 1 if
identical code is called a regression, and 2 if the slowdown is not found. With --gpu 1 if
an assumption does not hold, and 3 if there is no NVIDIA GPU.`,
		Example: `  pawl doctor                        # what works, what is missing
  pawl doctor --fix                  # show how to install what is missing, and ask
  pawl doctor --fix --yes            # install it
  pawl doctor --noise                # how small a change can be found here
  pawl doctor --noise --rounds 32    # the same, more precisely
  pawl doctor --gate                 # can the gate pass and fail on this machine?
  pawl doctor --gpu                  # does this GPU behave as pawl assumes?
  pawl doctor --github               # are the workflows and this runner safe?
  pawl doctor --json | jq '.findings[] | select(.state != "ok")'`,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context()) },
	}
	fl := cmd.Flags()
	f.FlagSet = fl
	fl.StringVarP(&f.Suite, "suite", "f", "", "suite `file` (default pawl.yaml)")
	fl.BoolVar(&f.JSON, "json", false, "the answer as JSON on stdout, events as JSON lines on stderr")
	fl.BoolVar(&f.fix, "fix", false, "show the commands that install what is missing, and ask before they run")
	fl.BoolVar(&f.yes, "yes", false, "with --fix: run the commands without asking; each is shown first")
	fl.BoolVar(&f.noise, "noise", false, "measure the suite against itself")
	fl.BoolVar(&f.gate, "gate", false, "test that the gate passes identical code and finds a slowdown")
	fl.BoolVar(&f.gpu, "gpu", false, "check pawl's assumptions about GPUs on this one")
	fl.BoolVar(&f.holdClocks, "hold-clocks", false, "with --gpu: lock the clocks until killed; check 22 starts this")
	_ = fl.MarkHidden("hold-clocks") // it exists
	fl.BoolVar(&f.github, "github", false, "check only the workflows of this repository and the runner of this job")
	fl.IntVar(&f.Rounds, "rounds", noiseRounds, "with --noise: `rounds` to measure, 2 or more")
	fl.IntVar(&f.Samples, "samples", 0, "with --noise or --gate: `samples` per round (default: the suite's, 100)")
	fl.StringVar(&f.Cases, "case", "", "with --noise or --gate: only cases whose name or benchmark matches this `glob`")
	fl.DurationVar(&f.Budget, "budget", 0, "with --noise or --gate: max `time` to spend on the device")
	fl.Uint64Var(&f.Seed, "seed", 0, "with --noise or --gate: seed for order and inputs (default: random, saved in the record)")
	fl.DurationVar(&f.Wait, "wait", 30*time.Minute, "with --noise or --gate: how long to wait while another pawl process uses the device")
	return cmd
}

func (f *doctorFlags) run(ctx context.Context) error {
	if err := f.check(); err != nil {
		return command.Usage(err)
	}
	if f.github {
		return f.examineGitHub(ctx)
	}
	if f.gpu {
		return f.checkGPU(ctx)
	}
	if f.fix {
		return (&setupFlags{Env: f.Env, suite: f.Suite, yes: f.yes, json: f.JSON}).run(ctx)
	}
	path := f.Suite
	if path == "" {
		path = discover.SuiteFile
	}
	found, err := doctor.Examine(ctx, doctor.Options{
		SuiteFile: path, Results: filepath.Join(filepath.Dir(path), "results"), Version: version.Version(),
	})
	if err != nil {
		return err
	}
	f.Record(found)
	if !f.JSON {
		if err := writeFindings(f.Out, f.Style(), found); err != nil {
			return err
		}
	}
	var n *noiseDocument
	if f.noise && found.Usable() {
		if n, err = f.measureNoise(ctx, path, found); n == nil && err != nil {
			return err
		}
	}
	var g *gateDocument
	if f.gate && found.Usable() && err == nil {
		if g, err = f.measureGate(ctx, path); err != nil {
			return err
		}
	}
	return errors.Join(err, f.answer(found, n, g))
}

// check rejects invalid combinations of flags.
func (f *doctorFlags) check() error {
	err := f.CheckNumbers()
	f.FlagSet.Visit(func(flag *pflag.Flag) {
		if !f.noise && !f.gate && slices.Contains([]string{"rounds", "samples", "case", "budget", "seed", "wait"}, flag.Name) {
			err = fmt.Errorf("--%s needs --noise or --gate", flag.Name)
		}
	})
	switch {
	case f.github && (f.noise || f.gate || f.fix):
		err = errors.New("--github checks workflows only: run it without --noise, --gate and --fix")
	case f.fix && (f.noise || f.gate):
		err = errors.New("--fix measures nothing: run it without --noise and --gate")
	case f.gpu && (f.noise || f.gate || f.fix || f.github):
		err = errors.New("--gpu checks the GPU only: run it without --noise, --gate, --fix and --github")
	case f.holdClocks && !f.gpu:
		err = errors.New("--hold-clocks requires --gpu")
	case f.yes && !f.fix:
		err = errors.New("--yes requires --fix")
	}
	if f.Rounds < 2 {
		err = fmt.Errorf("--rounds %d: must be 2 or more, because one round shows no spread", f.Rounds)
	}
	return err
}

// noiseDocument is the result of --noise, as JSON.
type noiseDocument struct {
	Record string `json:"record"`
	doctor.Noise
	Words []string `json:"words"`
	Help  []string `json:"help,omitempty"`
}

// measureNoise measures the suite against itself. If an error interrupts it, the document describes the
// rounds before the error.
func (f *doctorFlags) measureNoise(ctx context.Context, path string, found doctor.Report) (*noiseDocument, error) {
	s, err := suite.Load(path)
	if err != nil {
		return nil, err
	}
	f.OutFile = filepath.Join(filepath.Dir(path), "results", "noise.json")
	o := f.Options(s, path)
	o.Owner = "pawl doctor --noise"
	run, res, runErr := f.measureItself(ctx, o)
	if run == nil {
		return nil, runErr
	}
	var kept map[string][]float64
	if runErr == nil {
		kept, runErr = noise.Keep(run) // on an error, only this run is reported
	}
	n := doctor.NewNoise(run, s.JudgePolicy(), kept)
	doc := &noiseDocument{Record: res.Path, Noise: n, Words: n.Words(), Help: n.Advice(found)}
	if !f.JSON {
		err = writeNoise(f.Out, f.Style(), run, doc)
	}
	return doc, errors.Join(runErr, err)
}

// measureItself measures the candidate against itself, after printing the time and cost.
func (f *doctorFlags) measureItself(ctx context.Context, o runner.Options) (*measure.Run, runner.Result, error) {
	o.Again = true
	plan, err := runner.Forecast(ctx, o)
	if err == nil {
		err = f.announce(plan)
	}
	if err != nil {
		return nil, runner.Result{}, err
	}
	run, res, err := f.RunAndLoad(ctx, o)
	if _, broken := errors.AsType[*trial.SideError](err); broken && ctx.Err() == nil {
		err = command.Exit(command.ExitCannot, err) // no change is judged here: a side that breaks cannot be measured
	}
	return run, res, err
}

// announce prints the time and cost of the measurement before it starts.
func (f *doctorFlags) announce(p runner.Plan) error {
	if f.JSON {
		body, err := json.Marshal(p)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(f.Err, "{\"event\":\"plan\",%s\n", body[1:])
		return err
	}
	cost := bench.Seconds(p.Most.Seconds)
	if p.Most.Dollars > 0 {
		cost += ", " + words.Dollars(p.Most.Dollars)
	}
	_, err := fmt.Fprintf(f.Err, "\nmeasuring the same code against itself: %s, about %s on %s (from %s)\n", progress.RoundsASide(p.Rounds), cost, p.Device, p.Basis)
	return err
}

// answer prints the JSON document, if asked for, and returns the exit code.
func (f *doctorFlags) answer(found doctor.Report, n *noiseDocument, g *gateDocument) error {
	if f.JSON {
		doc := struct {
			Usable   bool             `json:"usable"`
			First    *doctor.Finding  `json:"first,omitempty"` // what to fix first
			Findings []doctor.Finding `json:"findings"`
			Noise    *noiseDocument   `json:"noise,omitempty"`
			Gate     *gateDocument    `json:"gate,omitempty"`
		}{found.Usable(), found.First(), found.Findings, n, g}
		if err := command.WriteJSON(f.Out, doc); err != nil {
			return err
		}
	}
	if !found.Usable() {
		return command.Exit(command.ExitCannot, command.ErrReported)
	}
	return gateAnswer(g)
}
