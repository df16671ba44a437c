package workflow

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// Job is a CI job that pawl runs in.
type Job struct {
	Getenv func(string) string
	Root   fs.FS // file system of this machine
	Parent int   // process ID of the parent
	// Public asks the forge whether the repository is public.
	Public func(context.Context) (bool, error)
}

// Risk is what untrusted code can do to the machine that runs it.
type Risk int

// The risks.
const (
	NoRunner Risk = iota // this is not a CI job
	Safe
	Unclear
	Unsafe
)

// RunnerFix says how to make an unsafe runner safe.
const RunnerFix = "register the runner with --ephemeral (config.sh), so that it takes one job and is then recreated; set PAWL_RUNNER=ephemeral in its image if something else does that"

// Risk returns the most important risk of the job, and why: a persistent machine in a repository to which anyone
// can send code.
func (j Job) Risk(ctx context.Context) (Risk, string) {
	if j.Getenv("GITHUB_ACTIONS") != "true" {
		return NoRunner, "this is not a GitHub Actions job: a job checks again before it measures"
	}
	if j.Getenv("RUNNER_ENVIRONMENT") == "github-hosted" {
		return Safe, "hosted by GitHub, and deleted after the job"
	}
	if why := j.ephemeral(); why != "" {
		return Safe, fmt.Sprintf("self-hosted and ephemeral (%s)", why)
	}
	public, err := j.public(ctx)
	if err != nil && !strings.HasPrefix(j.Getenv("GITHUB_EVENT_NAME"), "pull_request") {
		return Unclear, fmt.Sprintf("self-hosted and persistent; whether the repository is public is not known (%v)", err)
	}
	if err == nil && !public {
		return Safe, "self-hosted and persistent, in a private repository"
	}
	whose := "in a public repository"
	if err != nil {
		whose = fmt.Sprintf("and whether the repository is public is not known (%v)", err)
	}
	return Unsafe, fmt.Sprintf("self-hosted and persistent, %s: any user can send code that stays on this machine after its job ends and waits for the next one", whose)
}

// ephemeral returns the evidence that the runner takes only one job; empty if there is none.
func (j Job) ephemeral() string {
	if j.Getenv("PAWL_RUNNER") == "ephemeral" {
		return "PAWL_RUNNER says so"
	}
	for _, dir := range j.runnerFolders() {
		text, err := readSome(j.Root, path.Join(dir, ".runner"), 1<<16)
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
func (j Job) runnerFolders() []string {
	var list []string
	for pid, depth := j.Parent, 0; pid > 1 && depth < 32; depth++ {
		at := path.Join("proc", strconv.Itoa(pid))
		if args, err := readSome(j.Root, path.Join(at, "cmdline"), 1<<16); err == nil {
			program, _, _ := strings.Cut(string(args), "\x00")
			if name := path.Base(program); path.IsAbs(program) && (name == "Runner.Worker" || name == "Runner.Listener") {
				list = append(list, path.Dir(path.Dir(program)))
			}
		}
		pid = parentOf(j.Root, at)
	}
	if temp := j.Getenv("RUNNER_TEMP"); path.IsAbs(temp) {
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
func (j Job) public(ctx context.Context) (bool, error) {
	if at := j.Getenv("GITHUB_EVENT_PATH"); path.IsAbs(at) {
		var event struct {
			Repository struct{ Private *bool }
		}
		text, err := readSome(j.Root, strings.TrimPrefix(path.Clean(at), "/"), 32<<20)
		if err == nil && json.Unmarshal(text, &event) == nil && event.Repository.Private != nil {
			return !*event.Repository.Private, nil
		}
	}
	return j.Public(ctx)
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
