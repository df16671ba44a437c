package doctor

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/goatnote-inc/pawl/internal/forge/workflow"
)

// GitHubOptions describe what to examine.
type GitHubOptions struct {
	Workflows map[string][]byte // workflows that involve pawl, by path
	Getenv    func(string) string
	Root      fs.FS // file system of this machine
	Parent    int   // process ID of the parent
	// Public asks the forge whether the repository is public.
	Public func(context.Context) (bool, error)
}

// ExamineGitHub checks whether the workflows are safe, and whether the runner of
// this job may run the code of this job.
func ExamineGitHub(ctx context.Context, o GitHubOptions) Report {
	var r Report
	for _, f := range append(workflows(o.Workflows), o.runner(ctx)) {
		f.Group, f.Message = GitHub, printable(f.Message)
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

// runner checks the most important risk: a persistent machine in a repository to which anyone can send code.
func (o GitHubOptions) runner(ctx context.Context) Finding {
	if o.Getenv("GITHUB_ACTIONS") != "true" {
		return note("runner", "this is not a GitHub Actions job: a job checks again before it measures")
	}
	if o.Getenv("RUNNER_ENVIRONMENT") == "github-hosted" {
		return ok("runner", "hosted by GitHub, and deleted after the job")
	}
	if why := o.ephemeral(); why != "" {
		return ok("runner", "self-hosted and ephemeral (%s)", why)
	}
	public, err := o.public(ctx)
	if err != nil && !strings.HasPrefix(o.Getenv("GITHUB_EVENT_NAME"), "pull_request") {
		return warn("runner", "self-hosted and persistent; whether the repository is public is not known (%v)", err)
	}
	if err == nil && !public {
		return ok("runner", "self-hosted and persistent, in a private repository")
	}
	whose := "in a public repository"
	if err != nil {
		whose = fmt.Sprintf("and whether the repository is public is not known (%v)", err)
	}
	return missing("runner", "self-hosted and persistent, %s: any user can send code that stays on this machine after its job ends and waits for the next one", whose).
		withFix("register the runner with --ephemeral (config.sh), so that it takes one job and is then recreated; set PAWL_RUNNER=ephemeral in its image if something else does that")
}

// ephemeral returns the evidence that the runner takes only one job; empty if there is none.
func (o GitHubOptions) ephemeral() string {
	if o.Getenv("PAWL_RUNNER") == "ephemeral" {
		return "PAWL_RUNNER says so"
	}
	for _, dir := range o.runnerFolders() {
		text, err := readSome(o.Root, path.Join(dir, ".runner"), 1<<16)
		if err != nil {
			continue
		}
		var settings struct{ Ephemeral any } // JSON field names match in any case
		if json.Unmarshal(bytes.TrimPrefix(text, []byte("\ufeff")), &settings) == nil && strings.EqualFold(fmt.Sprint(settings.Ephemeral), "true") {
			return "its .runner file says so"
		}
		return ""
	}
	return ""
}

// runnerFolders returns where the runner may be installed, most certain first: from the worker
// among the parents of this process, then from the usual place of its work folder.
func (o GitHubOptions) runnerFolders() []string {
	var list []string
	for pid, depth := o.Parent, 0; pid > 1 && depth < 32; depth++ {
		at := path.Join("proc", strconv.Itoa(pid))
		if args, err := readSome(o.Root, path.Join(at, "cmdline"), 1<<16); err == nil {
			program, _, _ := strings.Cut(string(args), "\x00")
			if name := path.Base(program); path.IsAbs(program) && (name == "Runner.Worker" || name == "Runner.Listener") {
				list = append(list, path.Dir(path.Dir(program)))
			}
		}
		pid = parentOf(o.Root, at)
	}
	if temp := o.Getenv("RUNNER_TEMP"); path.IsAbs(temp) {
		list = append(list, path.Dir(path.Dir(path.Clean(temp))))
	}
	for i := range list {
		list[i] = strings.TrimPrefix(list[i], "/")
	}
	return list
}

// parentOf reads the parent process ID, the fourth field of stat. The second is a name in
// parentheses, which may contain anything.
func parentOf(root fs.FS, proc string) int {
	text, err := readSome(root, path.Join(proc, "stat"), 1<<12)
	if err != nil {
		return 0
	}
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 2 {
		return 0
	}
	pid, _ := strconv.Atoi(string(fields[1]))
	return pid
}

// public reports whether the repository is public, from the event that
// started the job or else from the forge.
func (o GitHubOptions) public(ctx context.Context) (bool, error) {
	if at := o.Getenv("GITHUB_EVENT_PATH"); path.IsAbs(at) {
		var event struct {
			Repository struct{ Private *bool }
		}
		text, err := readSome(o.Root, strings.TrimPrefix(path.Clean(at), "/"), 32<<20)
		if err == nil && json.Unmarshal(text, &event) == nil && event.Repository.Private != nil {
			return !*event.Repository.Private, nil
		}
	}
	return o.Public(ctx)
}

// readSome reads a file and fails if it is longer than most bytes.
func readSome(root fs.FS, name string, most int64) ([]byte, error) {
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("%s is longer than %d bytes", name, most)
	}
	return text, err
}
