package workflow

import (
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
)

// The rules about where and when jobs run.

// Two conditions that exclude forks: pawl's own, which keeps other events, and the plain
// one.
var (
	notAFork = "!(github.event_name == 'pull_request' && github.event.pull_request.head.repo.id != github.event.repository.id)"
	sameRepo = lazyregexp.New(`^(?:\$\{\{)?\s*github\.event\.pull_request\.head\.repo\.(?:id|full_name)\s*==\s*github\.(?:event\.)?repository(?:\.id)?\s*(?:\}\})?$`)
)

func forksWait(d document) []finding {
	if !d.on("pull_request") {
		return nil
	}
	return eachJob(d, job.runsKernels, func(j job) []finding {
		condition := scalar(j.node, "if")
		excluded := strings.Contains(condition, "&& "+notAFork) && !strings.Contains(condition, "||") || sameRepo.MatchString(condition)
		if env := get(j.node, "environment"); excluded || env != nil && !strings.Contains(allText(env), "${{") {
			return nil
		}
		return []finding{{j.line, fmt.Sprintf("the job %s runs code of forks without approval: exclude forks (if: github.event.pull_request.head.repo.id == github.event.repository.id), or require approval (environment: pawl-fork)", j.id)}}
	})
}

var fullCommit = lazyregexp.New(`@[0-9a-f]{40}$`)

func pinned(d document) []finding {
	unpinned := func(uses string) string {
		if uses == "" || strings.HasPrefix(uses, "./") || fullCommit.MatchString(uses) || strings.HasPrefix(uses, "docker://") && strings.Contains(uses, "@sha256:") {
			return ""
		}
		return uses + " is not pinned: write the full commit, and the version in a comment"
	}
	list := eachStep(d, func(_ job, s step) string { return unpinned(s.uses) })
	return append(list, eachJob(d, anyJob, func(j job) []finding {
		if text := unpinned(scalar(j.node, "uses")); text != "" {
			return []finding{{j.line, text}}
		}
		return nil
	})...)
}

func hosted(d document) []finding {
	return eachJob(d, func(j job) bool { return len(j.steps) > 0 && !j.runsKernels() }, func(j job) []finding {
		on := get(j.node, "runs-on")
		if on != nil && strings.Contains(allText(on), "self-hosted") {
			return []finding{{j.line, fmt.Sprintf("the job %s runs no kernel and uses a self-hosted runner: use a hosted one", j.id)}}
		}
		return nil
	})
}

func pathsFilter(d document) []finding {
	var list []finding
	for _, event := range []string{"pull_request", "merge_group"} {
		for key := range pairs(d.triggers[event]) {
			if key.Value == "paths" || key.Value == "paths-ignore" {
				list = append(list, finding{key.Line, fmt.Sprintf("%s on %s: a required check would wait forever; let `pawl ci affected` decide in a cheap job", key.Value, event)})
			}
		}
	}
	return list
}

// concurrency requires that only outdated runs of pull requests are canceled. No other run
// may be canceled, neither running nor waiting.
func concurrency(d document) []finding {
	measures := false
	for _, j := range d.jobs {
		measures = measures || j.runsKernels()
	}
	cancel, group := scalar(d.concurrency, "cancel-in-progress"), scalar(d.concurrency, "group")
	if d.concurrency != nil && d.concurrency.Kind == yaml.ScalarNode {
		group = d.concurrency.Value
	}
	line := 1
	if d.concurrency != nil {
		line = d.concurrency.Line
	}
	switch pulls := d.on("pull_request"); {
	case !measures:
		return nil
	case pulls && (cancel == "" || cancel == "false"):
		return []finding{{line, "older runs of a pull request keep measuring: set concurrency with cancel-in-progress: ${{ github.event_name == 'pull_request' }}"}}
	case pulls && cancel == "true" && d.on("push", "merge_group", "schedule"):
		return []finding{{line, "runs that do not belong to a pull request can be canceled: set cancel-in-progress: ${{ github.event_name == 'pull_request' }}"}}
	case d.on("push") && !pulls && cancel != "" && cancel != "false":
		return []finding{{line, "a ratchet run can be canceled: set cancel-in-progress: false"}}
	case d.on("push") && !pulls && group != "" && !strings.Contains(group, "github.sha") && !strings.Contains(group, "github.run_id"):
		return []finding{{line, "a waiting ratchet run is replaced by the next one in its group: add ${{ github.sha }} to the group"}}
	}
	return nil
}

func timeouts(d document) []finding {
	return eachJob(d, func(j job) bool { return len(j.steps) > 0 }, func(j job) []finding {
		if get(j.node, "timeout-minutes") == nil {
			return []finding{{j.line, fmt.Sprintf("the job %s has no timeout-minutes", j.id)}}
		}
		return nil
	})
}

func retention(d document) []finding {
	return eachStep(d, func(_ job, s step) string {
		if !s.action("actions/upload-artifact") {
			return ""
		}
		if days, err := strconv.Atoi(scalar(s.with, "retention-days")); err != nil || days < 1 || days > 90 {
			return "set how long the artifact is kept: retention-days: 30"
		}
		return ""
	})
}
