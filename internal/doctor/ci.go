package doctor

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/goatnote-inc/pawl/internal/forge/workflow"
)

// ExamineCI checks whether the workflows that involve pawl, by path, are safe, and whether the runner of
// this job may run the code of this job.
func ExamineCI(ctx context.Context, files map[string][]byte, job workflow.Job) Report {
	var r Report
	for _, f := range append(workflows(files), runnerFinding(ctx, job)) {
		f.Group, f.Message = CI, printable(f.Message)
		r.Findings = append(r.Findings, f)
	}
	return r
}

func workflows(files map[string][]byte) []Finding {
	if len(files) == 0 {
		return []Finding{note("workflow", "no workflow in this repository uses pawl").withFix("pawl init --github")}
	}
	var problems []workflow.Problem
	for _, name := range slices.Sorted(maps.Keys(files)) {
		problems = append(problems, workflow.Check(name, files[name])...)
	}
	if len(problems) == 0 {
		return []Finding{ok("workflow", "%d checked, no problems found", len(files))}
	}
	var list []Finding
	told := map[string]bool{}
	for i, p := range problems {
		if told[p.Message] {
			continue
		}
		told[p.Message] = true
		place := fmt.Sprintf("%s:%d", p.Path, p.Line)
		if n := others(problems[i+1:], p.Message); n > 0 {
			place += fmt.Sprintf(" and %d more", n)
		}
		if p.Grave {
			list = append(list, missing("workflow", "%s: %s\n%s", place, p.Message, workflow.Rules()[p.Rule]))
		} else {
			list = append(list, warn("workflow", "%s: %s", place, p.Message))
		}
	}
	return list
}

// others counts the other places of a problem: one action is often used many times.
func others(list []workflow.Problem, message string) int {
	n := 0
	for _, p := range list {
		if p.Message == message {
			n++
		}
	}
	return n
}

func runnerFinding(ctx context.Context, job workflow.Job) Finding {
	risk, why := job.Risk(ctx)
	switch risk {
	case workflow.NoRunner:
		return note("runner", "%s", why)
	case workflow.Safe:
		return ok("runner", "%s", why)
	case workflow.Unclear:
		return warn("runner", "%s", why)
	default:
		return missing("runner", "%s", why).withFix("%s", workflow.RunnerFix)
	}
}
