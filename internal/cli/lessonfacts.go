package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/base/spell"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/explain/diagnose"
	"github.com/goatnote-inc/pawl/internal/learn/gates"
	"github.com/goatnote-inc/pawl/internal/learn/journal"
	"github.com/goatnote-inc/pawl/internal/learn/lesson"
	"github.com/goatnote-inc/pawl/measure"
)

// lessonFacts says where the facts come from that lessons are matched against.
type lessonFacts struct {
	profile string
	given   []string

	writer *journal.Writer // open session; nil if there is none
}

func (l *lessonFacts) register(fl *pflag.FlagSet) {
	fl.StringVar(&l.profile, "for", "", "match this `profile`, in any format that pawl diagnose reads")
	fl.StringArrayVar(&l.given, "fact", nil, "match this fact, `name=number`; can be repeated")
}

// gather collects the known facts and their sources: those of the profile and the single facts that were given,
// or else of the open session.
func (l *lessonFacts) gather(ctx context.Context, g *globals, root string) (lesson.Facts, []string, error) {
	facts, from := lesson.Facts{Numbers: map[string]float64{}}, []string{}
	if l.writer != nil && l.profile == "" && len(l.given) == 0 {
		l.ofSession(ctx, g, root, &facts)
		from = append(from, "the open session")
	}
	if l.profile != "" {
		p, err := readAnyProfile(ctx, l.profile)
		if err != nil {
			return facts, nil, err
		}
		seen, err := diagnose.NewSubject(p, nil)
		if err != nil {
			return facts, nil, command.Usage(fmt.Errorf("profile %s: %w", l.profile, err))
		}
		maps.Copy(facts.Numbers, seen.All())
		facts.Kernel += " " + p.Subject.Case + " " + seen.Launch.Kernel
		facts.GPU = cmp.Or(archOf(seen), facts.GPU)
		from = append(from, l.profile)
	}
	for _, pair := range l.given {
		name, x, err := parseFact(pair)
		if err != nil {
			return facts, nil, command.Usage(err)
		}
		facts.Numbers[name] = x
	}
	if len(l.given) > 0 {
		from = append(from, strings.Join(l.given, ", "))
	}
	facts.Kernel = strings.TrimSpace(facts.Kernel)
	// An infinite value, such as an unset budget, cannot be printed or compared.
	maps.DeleteFunc(facts.Numbers, func(_ string, x float64) bool { return math.IsInf(x, 0) || math.IsNaN(x) })
	return facts, from, nil
}

// archOf returns the architecture that a launch ran on; empty if the profile does not say.
func archOf(seen diagnose.Subject) string {
	if _, host := seen.Facts["host_instructions"]; host {
		return string(gpu.CPU)
	}
	name := seen.Launch.CC
	if name == "" && seen.Card != nil {
		name = seen.Card.Arch
	}
	arch, err := gpu.FindArch(name)
	if err != nil {
		return ""
	}
	return arch.Name
}

// maxRecordBytes is the maximum size, in bytes, of a record that is read implicitly for its facts.
const maxRecordBytes = 16 << 20

// ofSession adds the facts that the gates have about the session, its last profile and its last record.
func (l *lessonFacts) ofSession(ctx context.Context, g *globals, root string, facts *lesson.Facts) {
	s := l.writer.Session()
	facts.GPU, facts.Kernel = s.GPU, s.Benchmark
	var profiled *journal.Profiled
	record := ""
	for _, e := range s.Entries {
		if e.Did != nil && e.Did.Profiled != nil {
			profiled = e.Did.Profiled
		}
		if e.Did != nil && e.Did.Measured != nil && e.Did.Measured.Path != "" {
			record = e.Did.Measured.Path
		}
	}
	if record != "" && filepath.IsLocal(record) {
		path := filepath.Join(root, record)
		if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && info.Size() <= maxRecordBytes {
			if run, err := measure.Load(path); err == nil {
				maps.Copy(facts.Numbers, lesson.OfRun(run))
				facts.GPU = cmp.Or(lesson.GPUOf(run.Device), facts.GPU)
			}
		}
	}
	if profiled != nil {
		maps.Copy(facts.Numbers, profiled.Facts)
		facts.Kernel += " " + profiled.Kernel
	}
	now := gates.Now{Time: g.now(), Did: g.currentState(ctx, l.writer, root), Configs: configsOf(root, s.Benchmark)}
	maps.Copy(facts.Numbers, gates.Learn(s, now).Numbers)
}

func parseFact(pair string) (string, float64, error) {
	name, text, _ := strings.Cut(pair, "=")
	all := lesson.Known()
	if !slices.ContainsFunc(all, func(f lesson.Fact) bool { return f.Name == name }) {
		var names []string
		for _, f := range all {
			names = append(names, f.Name)
		}
		hint := "docs/reference/lessons.md lists them"
		if near := spell.Nearest(name, names); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		return "", 0, fmt.Errorf("--fact %q: unknown fact: %s", pair, hint)
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		return "", 0, fmt.Errorf("--fact %q: expected name=number", pair)
	}
	return name, x, nil
}
