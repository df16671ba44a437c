package workflow

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
)

// Problem is a violation of a rule by a workflow.
type Problem struct {
	Rule    string // its name
	Path    string
	Line    int
	Grave   bool   // it gives untrusted code, or kernels, write access
	Message string // what is wrong, and how to fix it
}

// finding is a problem without its rule and path.
type finding struct {
	line int
	text string
}

// A rule checks a workflow and returns its violations.
type rule struct {
	name  string
	grave bool
	why   string
	find  func(d document) []finding
}

// Rules returns the names of the rules, each with its reason.
func Rules() map[string]string {
	list := map[string]string{}
	for _, r := range rules {
		list[r.name] = r.why
	}
	return list
}

// UsesPawl reports whether a workflow uses pawl. Only those are checked.
func UsesPawl(text []byte) bool { return mention.Match(text) }

var mention = lazyregexp.New(`(?i)\bpawl\b`)

// Check checks a workflow against every rule. An unreadable file is a problem too.
func Check(path string, text []byte) []Problem {
	var list []Problem
	d, wrong := parse(path, text)
	if len(wrong) > 0 {
		return []Problem{{Rule: "readable", Path: path, Line: wrong[0].Line, Grave: true, Message: wrong[0].Msg}}
	}
	for _, r := range rules {
		for _, f := range r.find(d) {
			list = append(list, Problem{Rule: r.name, Path: path, Line: f.line, Grave: r.grave, Message: f.text})
		}
	}
	slices.SortStableFunc(list, func(a, b Problem) int { return a.Line - b.Line })
	return list
}

var rules = []rule{
	{"pull-request-target", true, "It runs untrusted code with a write token and the repository's secrets.", targetTrigger},
	{"no-default-permissions", false, "Without it, a job that is added later gets the repository's default permissions.", topPermissions},
	{"measure-reads-only", true, "Whatever a kernel can access, its author can access.", measurePermissions},
	{"measure-has-no-secrets", true, "A kernel can read the memory and the environment of its job.", measureSecrets},
	{"measure-apart-from-writing", true, "A job that runs a kernel has no write access, and a job that writes runs no kernel.", apart},
	{"no-persisted-credentials", true, "checkout leaves its token in .git/config, where the checked-out code can read it.", credentials},
	{"writer-checks-out-base", true, "A job that may write takes only data from the change.", unsafeCheckouts},
	{"no-text-in-scripts", true, "A branch can be named $(curl ...): pass data to a script through its environment.", injection},
	{"artifact-stays-packed", true, "An archive of an untrusted run is unpacked by pawl, which treats it as hostile.", unpacking},
	{"no-shared-cache", true, "Through a shared cache, a pull request's job can affect the job of a release.", caches},
	{"forks-wait", true, "Untrusted code runs on a GPU runner only after a person has approved it.", forksWait},
	{"pinned-actions", false, "A tag can be moved; a commit cannot.", pinned},
	{"writer-on-hosted-runner", false, "Kernels can leave changes behind on the machine that runs them.", hosted},
	{"no-paths-filter", false, "A required check that never starts blocks the pull request forever.", pathsFilter},
	{"concurrency", false, "A newer push makes the older measurement of a pull request obsolete; a ratchet run never becomes obsolete.", concurrency},
	{"timeout", false, "Without it, a hung kernel occupies the runner for six hours.", timeouts},
	{"retention", false, "Results are needed for a month, not longer.", retention},
}

func targetTrigger(d document) []finding {
	if n := d.triggers["pull_request_target"]; n != nil {
		return []finding{{n.Line, "pull_request_target gives untrusted code a write token: use pull_request, and pawl-publish.yml for what a fork may not write (pawl init --github)"}}
	}
	return nil
}

func topPermissions(d document) []finding {
	if d.permissions == nil {
		return []finding{{1, "set permissions: {} at the top, and in each job only what it needs"}}
	}
	if d.mayWrite(job{node: &yaml.Node{}}) {
		return []finding{{d.permissions.Line, "every job of this workflow may write: set permissions: {} at the top, and in each job only what it needs"}}
	}
	return nil
}

// eachJob applies a check to every job that matches a filter.
func eachJob(d document, which func(job) bool, ask func(job) []finding) []finding {
	var list []finding
	for _, j := range d.jobs {
		if which(j) {
			list = append(list, ask(j)...)
		}
	}
	return list
}

func eachStep(d document, ask func(job, step) string) []finding {
	var list []finding
	for _, j := range d.jobs {
		for _, s := range j.steps {
			if text := ask(j, s); text != "" {
				list = append(list, finding{s.line, text})
			}
		}
	}
	return list
}

func anyJob(job) bool { return true }

func measurePermissions(d document) []finding {
	return eachJob(d, job.runsKernels, func(j job) []finding {
		grants, all := d.grants(j)
		delete(grants, "contents")
		if _, id := grants["id-token"]; id {
			return []finding{{j.line, fmt.Sprintf("the job %s runs kernels and may request an ID token (id-token): request it in another job", j.id)}}
		}
		if all || len(grants) > 0 || d.mayWrite(j) {
			return []finding{{j.line, fmt.Sprintf("the job %s runs kernels: set its permissions to contents: read and nothing else", j.id)}}
		}
		return nil
	})
}

var secretContext = lazyregexp.New(`(?i)\$\{\{[^}]*(?:\bsecrets\b|github\s*(?:\.\s*token|\[\s*'token))`)

func measureSecrets(d document) []finding {
	return eachJob(d, job.runsKernels, func(j job) []finding {
		if secretContext.MatchString(allText(j.node)) || secretContext.MatchString(allText(d.env)) {
			return []finding{{j.line, fmt.Sprintf("the job %s runs kernels and has a secret: use the secret in another job", j.id)}}
		}
		return nil
	})
}

func apart(d document) []finding {
	return eachJob(d, job.runsKernels, func(j job) []finding {
		for _, s := range j.steps {
			if writerCommand.MatchString(s.run) {
				return []finding{{s.line, fmt.Sprintf("the job %s runs kernels and writes: move one of the two to another job, on another runner", j.id)}}
			}
		}
		return nil
	})
}

var writerCommand = lazyregexp.New(`\bpawl\b[^\n|;&]*?\s(?:comment|baseline\s+(?:move|accept|reset)|tune\s+apply|push)\b`)

// action reports whether a step uses the named action, at any version.
func (s step) action(name string) bool {
	at, _, _ := strings.Cut(s.uses, "@")
	return strings.EqualFold(at, name)
}

func credentials(d document) []finding {
	return eachStep(d, func(_ job, s step) string {
		if s.action("actions/checkout") && scalar(s.with, "persist-credentials") != "false" {
			return "set persist-credentials: false; otherwise the token stays in .git/config"
		}
		return ""
	})
}

var (
	pullEvents = []string{"pull_request", "pull_request_target", "workflow_run", "issue_comment"}
	baseRef    = lazyregexp.New(`^\$\{\{[^}]*\}\}$`)
	safeRefs   = []string{"github.event.pull_request.base.sha", "github.event.merge_group.base_sha", "github.event.repository.default_branch"}
)

// unsafeCheckouts checks the checkouts of jobs that may write. An expression may only choose
// between refs of the base.
func unsafeCheckouts(d document) []finding {
	if !d.on(pullEvents...) {
		return nil
	}
	return eachStep(d, func(j job, s step) string {
		if !s.action("actions/checkout") || !d.mayWrite(j) {
			return ""
		}
		ref := scalar(s.with, "ref")
		safe := baseRef.MatchString(ref) && get(s.with, "repository") == nil
		for part := range strings.SplitSeq(strings.Trim(ref, "${} "), "||") {
			safe = safe && slices.Contains(safeRefs, strings.TrimSpace(part))
		}
		if !safe {
			return fmt.Sprintf("the job %s may write and checks out the change: check out the base (ref: ${{ github.event.pull_request.base.sha }}), or the default branch", j.id)
		}
		return ""
	})
}

func injection(d document) []finding {
	return eachStep(d, func(_ job, s step) string {
		if strings.Contains(s.run, "${{") {
			return "the script contains an expression: put it under env, and use the variable"
		}
		if s.action("actions/github-script") && strings.Contains(scalar(s.with, "script"), "${{") {
			return "the script contains an expression: put it under env, and use process.env"
		}
		return ""
	})
}

func unpacking(d document) []finding {
	return eachStep(d, func(j job, s step) string {
		name, _, _ := strings.Cut(s.uses, "@")
		if !strings.HasSuffix(name, "download-artifact") || !d.mayWrite(j) {
			return ""
		}
		if get(s.with, "run-id") != nil || get(s.with, "run_id") != nil || !s.action("actions/download-artifact") {
			return "the artifact of another run is unpacked in a job that may write: use pawl ci comment --from-run"
		}
		return ""
	})
}

func caches(d document) []finding {
	return eachStep(d, func(j job, s step) string {
		name, _, _ := strings.Cut(s.uses, "@")
		if (name == "actions/cache" || strings.HasPrefix(name, "actions/cache/")) && (j.runsKernels() || d.mayWrite(j)) {
			return fmt.Sprintf("the job %s uses the repository's cache: keep builds on the runner instead", j.id)
		}
		return ""
	})
}
