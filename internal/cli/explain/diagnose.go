package explain

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/internal/explain/diagnose"
	"github.com/goatnote-inc/pawl/internal/explain/profile"
	"github.com/goatnote-inc/pawl/internal/explain/profile/tool"
	"github.com/goatnote-inc/pawl/internal/judge/runner"
)

// diagnoseFlags are the flags of pawl diagnose.
type diagnoseFlags struct {
	*env.Env
	rules   []string
	kernel  string
	gpu     string
	json    bool
	all     bool
	listing bool
}

// NewDiagnose returns the command pawl diagnose.
func NewDiagnose(g *env.Env) *cobra.Command {
	f := diagnoseFlags{Env: g}
	cmd := &cobra.Command{
		Use:   "diagnose FILE [FILE]",
		Short: "Explain a profile, or what changed between two",
		Long: `Reads a profile and reports the bottleneck, the evidence for it and what to do about it,
most promising first. For two profiles it reports what changed and ranks the causes by how
much of the change in time they explain; the first FILE is the earlier one.

FILE is a profile that pawl saved (results/profiles/CASE.json), or output of Nsight Compute:
a report (.ncu-rep, needs ncu on this machine), --page raw --csv, --page details --csv, or
the text page. Add your own rules with --rules; see docs/how-to/own-rules.md.`,
		Example: `  pawl diagnose results/profiles/matmul_N512.json
  pawl diagnose before.ncu-rep after.ncu-rep
  pawl diagnose ncu.txt --gpu L4 --rules rules.yaml`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), args) },
	}
	fl := cmd.Flags()
	fl.StringArrayVar(&f.rules, "rules", nil, "`file` with your own rules; can be repeated")
	fl.StringVar(&f.kernel, "kernel", "", "use the launch whose kernel matches this `regexp` (default: the longest launch)")
	fl.StringVar(&f.gpu, "gpu", "", "`card` that it ran on, for its peaks, such as L4 (default: from the profile)")
	fl.BoolVar(&f.all, "all", false, "show every finding and change, not only the most important")
	fl.BoolVar(&f.listing, "list", false, "list the launches and exit")
	fl.BoolVar(&f.json, "json", false, "the answer as JSON")
	return cmd
}

func (f *diagnoseFlags) run(ctx context.Context, files []string) error {
	rules, err := loadRules(f.rules)
	if err != nil {
		return command.Usage(err)
	}
	var profiles []*profile.Profile
	for _, file := range files {
		p, err := ReadAnyProfile(ctx, file)
		if err != nil {
			return err
		}
		profiles = append(profiles, p)
	}
	if f.listing {
		return f.list(files, profiles)
	}
	var seen []diagnose.Subject
	for i, p := range profiles {
		s, err := f.choose(files[i], p)
		if err != nil {
			return command.Usage(err)
		}
		seen = append(seen, s)
	}
	after, before := seen[len(seen)-1], (*diagnose.Subject)(nil)
	if len(seen) == 2 {
		before = &seen[0]
	}
	d, difference, err := rules.Explain(before, after)
	if err != nil {
		return command.Exit(command.ExitNoAnswer, fmt.Errorf("cannot compare %s with %s: %w", files[0], files[1], err))
	}
	f.Record(runner.Explanation{After: &after, Diagnosis: &d})
	answer := newAnswer(d, after)
	answer.Difference = difference
	if before != nil && before.Launch.Kernel != after.Launch.Kernel {
		answer.Notes = append(answer.Notes, fmt.Sprintf("the two profiles are of different kernels: before it was %s; use --kernel to choose others", before.Launch.Kernel))
	}
	if f.json {
		return command.WriteJSON(f.Out, answer)
	}
	return writeDiagnosis(f.Out, f.Style(), answer, f.all)
}

// diagnosisAnswer is the JSON output of pawl diagnose.
type diagnosisAnswer struct {
	Case string       `json:"case,omitempty"`
	Tool profile.Tool `json:"tool"`
	diagnose.Diagnosis
	Difference *diagnose.Difference `json:"difference,omitempty"`
	Files      []string             `json:"files,omitempty"`
	Notes      []string             `json:"notes,omitempty"`
}

func newAnswer(d diagnose.Diagnosis, s diagnose.Subject) diagnosisAnswer {
	return diagnosisAnswer{Case: s.Profile.Subject.Case, Tool: s.Profile.Tool, Diagnosis: d}
}

// loadRules returns pawl's own rules together with those in files.
func loadRules(files []string) (*diagnose.RuleSet, error) {
	rules := diagnose.Rules()
	for _, file := range files {
		data, err := ruleFile(file)
		if err != nil {
			return nil, fmt.Errorf("cannot read rules: %w", err)
		}
		if err := rules.Add(file, data); err != nil {
			return nil, err
		}
	}
	if len(files) > 0 {
		if err := rules.Test(); err != nil {
			return nil, fmt.Errorf("a rule fails its tests: %w", err)
		}
	}
	return rules, nil
}

// ruleFile reads a file up to one byte more than the limit, so that the parser can reject a larger one.
func ruleFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, diagnose.MaxRuleFile+1))
}

// ReadAnyProfile reads a profile in any supported format.
func ReadAnyProfile(ctx context.Context, file string) (*profile.Profile, error) {
	if strings.HasSuffix(file, ".ncu-rep") {
		if _, err := os.Stat(file); err != nil {
			return nil, command.Usage(fmt.Errorf("cannot read profile: %w", err))
		}
		return tool.Import(ctx, tool.NcuOptions{}, file)
	}
	r, err := os.Open(file)
	if err != nil {
		return nil, command.Usage(fmt.Errorf("cannot read profile: %w", err))
	}
	defer r.Close()
	p, err := profile.Read(r)
	if err != nil {
		return nil, command.Usage(fmt.Errorf("%s: %w", file, err))
	}
	return p, nil
}

// choose selects the launch to diagnose and the card it ran on.
func (f *diagnoseFlags) choose(file string, p *profile.Profile) (diagnose.Subject, error) {
	if f.kernel != "" {
		re, err := regexp.Compile(f.kernel)
		if err != nil {
			return diagnose.Subject{}, fmt.Errorf("--kernel: %w", err)
		}
		all := p.Launches
		p.Launches = nil
		for _, l := range all {
			if re.MatchString(l.Kernel) {
				p.Launches = append(p.Launches, l)
			}
		}
		if len(p.Launches) == 0 {
			return diagnose.Subject{}, fmt.Errorf("%s: none of its %d launches matches --kernel %q; use --list to see them", file, len(all), f.kernel)
		}
	}
	card, err := f.card()
	if err != nil {
		return diagnose.Subject{}, err
	}
	s, err := diagnose.NewSubject(p, card)
	if err != nil {
		return s, fmt.Errorf("%s: %w", file, err)
	}
	return s, nil
}

// card returns the card of --gpu; nil to use the one that the profile names.
func (f *diagnoseFlags) card() (*gpu.Card, error) {
	if f.gpu == "" {
		return nil, nil // --gpu is not set
	}
	switch cards := gpu.FindCards(f.gpu); len(cards) {
	case 0:
		return nil, fmt.Errorf("--gpu %q: unknown card; run `pawl device list` to see the cards", f.gpu)
	case 1:
		return &cards[0], nil
	default:
		var names []string
		for _, c := range cards {
			names = append(names, c.Name)
		}
		return nil, fmt.Errorf("--gpu %q is ambiguous: it matches %s", f.gpu, strings.Join(names, ", "))
	}
}

// launchList is the JSON output of --list for one file.
type launchList struct {
	File     string      `json:"file"`
	Launches []launchRow `json:"launches"`
}

type launchRow struct {
	ID     int     `json:"id"`
	Kernel string  `json:"kernel"`
	Time   float64 `json:"time_ns,omitempty"`
}

// list prints the launches of profiles.
func (f *diagnoseFlags) list(files []string, profiles []*profile.Profile) error {
	var lists []launchList
	for i, p := range profiles {
		if len(p.Launches) == 0 {
			return command.Usage(errors.New(files[i] + " has no launches"))
		}
		l := launchList{File: files[i]}
		for _, launch := range p.Launches {
			l.Launches = append(l.Launches, launchRow{launch.ID, launch.Kernel, launch.Facts()["time_ns"]})
		}
		lists = append(lists, l)
	}
	switch {
	case f.json && len(lists) == 1:
		return command.WriteJSON(f.Out, lists[0])
	case f.json:
		return command.WriteJSON(f.Out, map[string]any{"profiles": lists})
	}
	for i, p := range profiles {
		if err := writeLaunches(f.Out, f.Style(), filepath.Base(files[i]), p); err != nil {
			return err
		}
	}
	return nil
}
