package github

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/forge"
)

// event is the payload of an event, as far as the workflows look at it.
type event map[string]any

func (w *world) repository() event {
	return event{
		"id": w.github.RepoID, "name": w.github.Repo.Name, "full_name": w.github.Repo.String(), "private": true, "visibility": "private",
		"default_branch": "main", "owner": event{"login": w.github.Repo.Owner},
	}
}

func (w *world) pullEvent(p forge.Pull) event {
	head := event{"id": w.github.RepoID}
	if p.HeadRepo != 0 {
		head["id"] = p.HeadRepo
	}
	return event{
		"action": "synchronize", "number": p.Number, "repository": w.repository(),
		"pull_request": event{
			"number": p.Number, "state": "open",
			"head": event{"sha": p.HeadSHA, "ref": p.HeadBranch, "repo": head},
			"base": event{"sha": p.BaseSHA, "ref": "main", "repo": event{"id": w.github.RepoID}},
		},
	}
}

// ran is what a run of a workflow left.
type ran struct {
	log  string
	jobs map[string]bool // whether it succeeded; those that ran
	took time.Duration
}

// jobEnd is how act tells that a job is over.
var jobEnd = regexp.MustCompile(`(?m)^\[[^/\]]*/([^\]]*?) *\] 🏁  Job (succeeded|failed)`)

// act runs a workflow for an event, with a token.
func (w *world) act(workflow, name, token string, e event, more ...string) ran {
	w.Helper()
	payload, err := json.Marshal(e)
	if err != nil {
		w.Fatal(err)
	}
	file := filepath.Join(w.temp, "event.json")
	if err := os.WriteFile(file, payload, 0o600); err != nil {
		w.Fatal(err)
	}
	args := []string{
		name, "--workflows", ".github/workflows/" + workflow + ".yml", "--eventpath", file, "--no-cache-server", "--action-offline-mode",
		"--platform", "self-hosted=-self-hosted", "--platform", "ubuntu-latest=-self-hosted", "--secret", "GITHUB_TOKEN=" + token,
		"--env", "GITHUB_API_URL=" + w.github.URL, "--env", "GITHUB_REPOSITORY=" + w.github.Repo.String(), "--env", "GITHUB_RUN_ID=77",
	}
	ours, folder := w.installer()
	args = append(args, "--local-repository", ours+"="+folder)
	for _, pinned := range w.pinned() {
		stub, err := filepath.Abs("testdata/actions/" + strings.TrimPrefix(strings.Split(pinned, "@")[0], "actions/"))
		if err != nil {
			w.Fatal(err)
		}
		args = append(args, "--local-repository", pinned+"="+stub)
	}
	for name, value := range w.settings() {
		args = append(args, "--env", name+"="+value)
	}
	cmd := exec.CommandContext(w.Context(), "act", append(args, more...)...)
	cmd.Dir, cmd.Env = w.dir, w.environ()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	began := time.Now()
	err = cmd.Run()
	r := ran{log: out.String(), jobs: map[string]bool{}, took: time.Since(began)}
	for _, m := range jobEnd.FindAllStringSubmatch(r.log, -1) {
		r.jobs[m[1]] = m[2] == "succeeded"
	}
	w.Logf("%s on %s: %v in %s", workflow, name, r.jobs, r.took.Round(100*time.Millisecond))
	if os.Getenv("PAWL_E2E_LOG") != "" || len(r.jobs) == 0 {
		w.Logf("%v\n%s", err, r.log)
	}
	w.Cleanup(func() {
		if w.Failed() {
			w.Logf("act %s %s:\n%s", workflow, name, r.log)
		}
	})
	return r
}

// wantJobs compares which jobs ran and ended well.
func (w *world) wantJobs(r ran, want string) {
	w.Helper()
	var all []string
	for _, name := range []string{"announce", "touched", "measure", "measure-fork", "publish", "accept", "move", "apply", "cost"} {
		if good, there := r.jobs[name]; there && good {
			all = append(all, name)
		} else if there {
			all = append(all, name+" failed")
		}
	}
	if got := strings.Join(all, ", "); got != want {
		w.Errorf("jobs that ran: %s; want %s", got, want)
	}
}

// pinned are the actions of others that the workflows of the repository use.
func (w *world) pinned() []string {
	var list []string
	files, err := filepath.Glob(filepath.Join(w.dir, ".github/workflows/*.yml"))
	if err != nil || len(files) == 0 {
		w.Fatalf("no workflows: %v", err)
	}
	seen := map[string]bool{}
	for _, file := range files {
		for _, m := range regexp.MustCompile(`uses: (actions/[a-z-]+@[0-9a-f]{40})`).FindAllStringSubmatch(read(w, file), -1) {
			if !seen[m[1]] {
				seen[m[1]] = true
				list = append(list, m[1])
			}
		}
	}
	return list
}

// actionFolder holds the shipped action alone: act copies it whole for every job.
func (w *world) actionFolder() string {
	dir := filepath.Join(w.temp, "action")
	for _, name := range []string{"action.yml", "checksums.txt", "scripts/action"} {
		text, err := os.ReadFile(filepath.Join("../..", name))
		if err != nil {
			continue // not every one is there before the first release
		}
		to := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			w.Fatal(err)
		}
		if err := os.WriteFile(to, text, 0o755); err != nil {
			w.Fatal(err)
		}
	}
	return dir
}

// dispatch is the event of a run by hand.
func (w *world) dispatch(inputs event) (event, []string) {
	var more []string
	for name, value := range inputs {
		more = append(more, "--input", fmt.Sprintf("%s=%v", name, value))
	}
	return event{"inputs": inputs, "ref": "refs/heads/main", "repository": w.repository()}, more
}
