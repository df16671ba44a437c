package doctor_test

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/goatnote-inc/pawl/internal/doctor"
	"github.com/goatnote-inc/pawl/internal/forge/workflow"
)

// Which runners may run untrusted kernels, and which are refused.
func TestRunnerThatMayRunStrangersCode(t *testing.T) {
	private, public := `{"repository":{"private":true}}`, `{"repository":{"private":false}}`
	persistent := "\ufeff" + `{"agentId": 7, "workFolder": "_work"}`
	ephemeral := "\ufeff" + `{"agentId": 7, "Ephemeral": true}`
	for name, c := range map[string]struct {
		env           map[string]string
		event, runner string
		api           string // "public", "private" or nothing
		want          doctor.State
		says          string
	}{
		"a laptop":                         {env: map[string]string{"GITHUB_ACTIONS": ""}, event: public, want: doctor.Note, says: "not a GitHub Actions job"},
		"hosted":                           {env: map[string]string{"RUNNER_ENVIRONMENT": "github-hosted"}, event: public, want: doctor.OK, says: "deleted after the job"},
		"private":                          {event: private, runner: persistent, want: doctor.OK, says: "private"},
		"public and persistent":            {event: public, runner: persistent, want: doctor.Missing, says: "any user can send code"},
		"public, and no file":              {event: public, want: doctor.Missing, says: "any user can send code"},
		"public, and a broken file":        {event: public, runner: "{", want: doctor.Missing, says: "any user can send code"},
		"public and not ephemeral":         {event: public, runner: `{"ephemeral": false}`, want: doctor.Missing, says: "any user can send code"},
		"public and ephemeral":             {event: public, runner: ephemeral, want: doctor.OK, says: "its .runner file"},
		"public and ephemeral, as text":    {event: public, runner: `{"ephemeral": "True"}`, want: doctor.OK, says: "its .runner file"},
		"public, and the image says so":    {env: map[string]string{"PAWL_RUNNER": "ephemeral"}, event: public, runner: persistent, want: doctor.OK, says: "PAWL_RUNNER"},
		"public, by the API":               {event: `{"schedule":"0 3 * * *"}`, runner: persistent, api: "public", want: doctor.Missing, says: "public repository"},
		"private, by the API":              {event: `{}`, runner: persistent, api: "private", want: doctor.OK, says: "private"},
		"not known, a pull request":        {event: `{`, runner: persistent, want: doctor.Missing, says: "not known"},
		"not known, something merged":      {env: map[string]string{"GITHUB_EVENT_NAME": "schedule"}, event: `{}`, runner: persistent, want: doctor.Warn, says: "not known"},
		"an event longer than there is":    {event: `{"x":"` + strings.Repeat("a", 33<<20) + `"}`, runner: persistent, want: doctor.Missing, says: "not known"},
		"a file longer than a runner's is": {event: public, runner: `{"ephemeral": true, "x": "` + strings.Repeat("a", 1<<17) + `"}`, want: doctor.Missing, says: "any user can send code"},
	} {
		env := map[string]string{
			"GITHUB_ACTIONS": "true", "RUNNER_ENVIRONMENT": "self-hosted", "GITHUB_EVENT_NAME": "pull_request",
			"GITHUB_EVENT_PATH": "/home/r/_work/_temp/event.json", "RUNNER_TEMP": "/home/r/_work/_temp",
		}
		maps.Copy(env, c.env)
		files := fstest.MapFS{"home/r/_work/_temp/event.json": {Data: []byte(c.event)}}
		if c.runner != "" {
			files["home/r/.runner"] = &fstest.MapFile{Data: []byte(c.runner)}
		}
		r := doctor.ExamineCI(t.Context(), nil, workflow.Job{
			Getenv: func(k string) string { return env[k] }, Root: files,
			Public: func(context.Context) (bool, error) {
				if c.api == "" {
					return false, errors.New("no answer")
				}
				return c.api == "public", nil
			},
		})
		got := r.Findings[len(r.Findings)-1]
		if got.Name != "runner" || got.State != c.want || !strings.Contains(got.Message, c.says) {
			t.Errorf("%s: %s: %s, want %s and %q", name, got.State, got.Message, c.want, c.says)
		}
		if usable := c.want != doctor.Missing; r.Usable() != usable {
			t.Errorf("%s: usable %v", name, r.Usable())
		}
	}
}

// The runner's folder is found above this process, wherever its work folder lies.
func TestRunnerIsFoundAboveThisProcess(t *testing.T) {
	files := fstest.MapFS{
		"proc/30/cmdline":    {Data: []byte("/bin/bash\x00-e\x00script.sh\x00")},
		"proc/30/stat":       {Data: []byte("30 (a) b) S 20 30 30")},
		"proc/20/cmdline":    {Data: []byte("/srv/runner/bin/Runner.Worker\x00spawnclient\x00")},
		"proc/20/stat":       {Data: []byte("20 (Runner.Worker) S 20 20 20")}, // its own parent: that ends, too
		"srv/runner/.runner": {Data: []byte(`{"ephemeral": true}`)},
	}
	env := map[string]string{"GITHUB_ACTIONS": "true", "RUNNER_TEMP": "/mnt/work/_temp"}
	r := doctor.ExamineCI(t.Context(), nil, workflow.Job{
		Getenv: func(k string) string { return env[k] }, Root: files, Parent: 30,
		Public: func(context.Context) (bool, error) { return true, nil },
	})
	if got := r.Findings[len(r.Findings)-1]; got.State != doctor.OK {
		t.Errorf("%s: %s", got.State, got.Message)
	}
}

func TestWorkflowsOfARepository(t *testing.T) {
	examine := func(files map[string][]byte) doctor.Report {
		return doctor.ExamineCI(t.Context(), files, workflow.Job{Getenv: func(string) string { return "" }})
	}
	target := []byte("on: pull_request_target\npermissions: {}\njobs: {}\n")
	if r := examine(map[string][]byte{".github/workflows/bench.yml": target}); r.Usable() || !strings.Contains(r.First().Message, "bench.yml:1: pull_request_target") {
		t.Errorf("pull_request_target passes: %v", r)
	}
	loose := []byte("on: push\npermissions: {}\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps: [{run: pawl version}]\n")
	if r := examine(map[string][]byte{"a.yml": loose}); !r.Usable() || r.Count(doctor.Warn) != 1 {
		t.Errorf("a job without a timeout: %v", r)
	}
	if r := examine(nil); !r.Usable() || r.Findings[0].State != doctor.Note {
		t.Errorf("no workflows: %v", r)
	}
}
