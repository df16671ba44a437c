package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"os"
	"strings"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/base/disk"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/explain"
	"github.com/goatnote-inc/pawl/internal/explain/diagnose"
	"github.com/goatnote-inc/pawl/internal/learn/gates"
	"github.com/goatnote-inc/pawl/internal/learn/journal"
	"github.com/goatnote-inc/pawl/internal/learn/lesson"
)

// lessonFacts says where the facts come from that lessons are matched against.
type lessonFacts struct {
	profile string
	writer  *journal.Writer // open session; nil if there is none
}

// gather collects the known facts and their source: the profile, or else the open session.
func (l *lessonFacts) gather(ctx context.Context, g *globals, root string) (lesson.Facts, string, error) {
	facts, from := lesson.Facts{Numbers: map[string]float64{}}, l.profile
	switch {
	case l.profile != "":
		seen, err := profileSubject(ctx, l.profile)
		if err != nil {
			return facts, "", err
		}
		maps.Copy(facts.Numbers, seen.All())
		facts.Kernel, facts.GPU = seen.Profile.Subject.Case+" "+seen.Launch.Kernel, archOf(seen)
	case l.writer != nil:
		s := l.writer.Session()
		from, facts.GPU, facts.Kernel = "the open session", s.GPU, s.Benchmark
		for _, e := range s.Entries {
			if e.Did != nil && e.Did.Profiled != nil {
				maps.Copy(facts.Numbers, e.Did.Profiled.Facts)
				facts.Kernel = strings.TrimSpace(s.Benchmark + " " + e.Did.Profiled.Kernel)
			}
		}
		now := gates.Now{Time: g.now(), Did: g.currentState(ctx, l.writer, root), Configs: configsOf(root, s.Benchmark)}
		maps.Copy(facts.Numbers, gates.Learn(s, now).Numbers)
	}
	maps.DeleteFunc(facts.Numbers, func(_ string, x float64) bool { return math.IsInf(x, 0) || math.IsNaN(x) })
	return facts, from, nil
}

// profileSubject reads a profile from a regular file: agents name it, and a pipe would never answer.
func profileSubject(ctx context.Context, file string) (diagnose.Subject, error) {
	if info, err := os.Lstat(file); err == nil && !info.Mode().IsRegular() {
		return diagnose.Subject{}, command.Usage(fmt.Errorf("profile %s: %w: links, devices and pipes are refused", file, disk.ErrNotRegular))
	}
	p, err := explain.ReadAnyProfile(ctx, file)
	if err != nil {
		return diagnose.Subject{}, err
	}
	seen, err := diagnose.NewSubject(p, nil)
	if err != nil {
		return seen, command.Usage(fmt.Errorf("profile %s: %w", file, err))
	}
	return seen, nil
}

// archOf returns the architecture that a launch ran on; empty if the profile does not say.
func archOf(seen diagnose.Subject) string {
	if _, host := seen.Facts["host_instructions"]; host {
		return string(gpu.CPU)
	}
	name := seen.Launch.CC
	if seen.Card != nil {
		name = cmp.Or(name, seen.Card.Arch)
	}
	arch, err := gpu.FindArch(name)
	if err != nil {
		return ""
	}
	return arch.Name
}
