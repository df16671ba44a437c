package build

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/measure"
)

const (
	forkPull = `{"pull_request": {"head": {"repo": {"full_name": "eve/kernels"}}, "base": {"repo": {"full_name": "acme/kernels"}}}}`
	ownPull  = `{"pull_request": {"head": {"repo": {"full_name": "Acme/kernels"}}, "base": {"repo": {"full_name": "acme/kernels"}}}}`
)

func TestStranger(t *testing.T) {
	for name, test := range map[string]struct {
		trust measure.Trust
		event string
		text  string
		env   map[string]string
		want  string // in the reason; empty for one's own
	}{
		"at home":                 {},
		"trusted":                 {trust: measure.Trusted},
		"checked":                 {trust: measure.Checked, want: "checked"},
		"self-timed":              {trust: measure.SelfTimed, want: "self-timed"},
		"a push":                  {event: "push", text: `{}`},
		"own pull request":        {event: "pull_request", text: ownPull},
		"fork":                    {event: "pull_request", text: forkPull, want: `"eve/kernels"`},
		"fork, privileged":        {event: "pull_request_target", text: forkPull, want: `"eve/kernels"`},
		"a fork that was deleted": {event: "pull_request", text: `{"pull_request": {"head": {"repo": null}, "base": {"repo": {"full_name": "acme/kernels"}}}}`, want: "of unknown origin"},
		"no description":          {event: "pull_request", want: "of unknown origin"},
		"a broken description":    {event: "pull_request", text: `{"pull_request": [`, want: "cannot be read"},
		"another description":     {event: "pull_request", text: `[]`, want: "cannot be read"},
		"after a fork's run":      {event: "workflow_run", text: `{"workflow_run": {"head_repository": {"full_name": "eve/kernels"}}, "repository": {"full_name": "acme/kernels"}}`, want: `"eve/kernels"`},
		"after an own run":        {event: "workflow_run", text: `{"workflow_run": {"head_repository": {"full_name": "acme/kernels"}}, "repository": {"full_name": "acme/kernels"}}`},
		"a comment on an issue":   {event: "issue_comment", text: `{"issue": {}}`},
		"a comment on a pull":     {event: "issue_comment", text: `{"issue": {"pull_request": {}}}`, want: "comment"},
		"a merge request":         {env: map[string]string{"CI_MERGE_REQUEST_PROJECT_ID": "1", "CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "1"}},
		"a fork's merge request":  {env: map[string]string{"CI_MERGE_REQUEST_PROJECT_ID": "1", "CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "2"}, want: "merge request"},
	} {
		t.Run(name, func(t *testing.T) {
			got := UntrustedReason(test.trust, environment(t, test.event, test.text, test.env))
			if (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// environment is that of a job on GitHub.
func environment(t *testing.T, event, text string, env map[string]string) func(string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "event.json")
	if text != "" {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return func(name string) string {
		switch name {
		case "GITHUB_EVENT_NAME":
			return event
		case "GITHUB_EVENT_PATH":
			return path
		}
		return env[name]
	}
}

func TestConfine(t *testing.T) {
	for name, test := range map[string]struct {
		mode string
		fork bool
		ours string // of who runs pawl
		want bool
	}{
		"own code":                   {mode: "auto"},
		"own code, always":           {mode: "always", want: true},
		"own code, never":            {mode: "never"},
		"a fork":                     {mode: "auto", fork: true, want: true},
		"a fork, always":             {mode: "always", fork: true, want: true},
		"a fork's suite says never":  {mode: "never", fork: true, want: true},
		"who runs it says never":     {mode: "always", fork: true, ours: "never"},
		"who runs it says always":    {mode: "never", ours: "always", want: true},
		"who runs it says auto":      {mode: "never", fork: true, ours: "auto", want: true},
		"nothing is said":            {fork: true, want: true},
		"nothing is said, own code":  {},
		"a word that nobody knows":   {mode: "perhaps"},
		"the same, for a fork's run": {mode: "perhaps", fork: true, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			event, text := "push", "{}"
			if test.fork {
				event, text = "pull_request", forkPull
			}
			t.Setenv("PATH", t.TempDir()) // without bubblewrap it shows whether one is wanted
			s, err := Confine(t.Context(), test.mode, measure.Trusted, environment(t, event, text, map[string]string{SandboxVariable: test.ours}))
			e, wanted := errors.AsType[*SandboxError](err)
			if wanted != test.want || s != nil {
				t.Fatalf("got %v, %v, want a sandbox: %v", s, err, test.want)
			}
			if wanted && test.fork && (!strings.Contains(e.Error(), "eve/kernels") || !strings.Contains(e.Error(), "apt-get install bubblewrap")) {
				t.Errorf("it does not say why and what to do: %v", e)
			}
		})
	}
	getenv := func(string) string { return "sometimes" }
	if _, err := Confine(t.Context(), "auto", measure.Trusted, getenv); err == nil {
		t.Error("a word that nobody knows was taken for an answer")
	}
}

func FuzzStrangerInEvent(f *testing.F) {
	f.Add("pull_request", forkPull)
	f.Add("pull_request", ownPull)
	f.Add("workflow_run", `{"workflow_run": {"head_repository": {"full_name": "a/b"}}, "repository": {"full_name": "a/b"}}`)
	f.Add("issue_comment", `{"issue": {}}`)
	f.Fuzz(func(t *testing.T, event, text string) {
		why := untrustedInEvent(event, strings.NewReader(text))
		if why == "" && event != "issue_comment" && !strings.Contains(text, "full_name") && !strings.Contains(text, `\u`) && !strings.Contains(strings.ToLower(text), "full_name") {
			t.Errorf("%q is taken for one's own, and says nothing of whose it is", text)
		}
	})
}
