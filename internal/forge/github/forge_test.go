package github

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/forge"
)

func TestForge_Job(t *testing.T) {
	file := func(text string) string {
		path := filepath.Join(t.TempDir(), "event.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	pull := file(`{"pull_request": {"number": 12, "head": {"sha": "aa", "repo": {"id": 2}}, "base": {"sha": "bb", "repo": {"id": 1}}}}`)
	own := file(`{"pull_request": {"number": 12, "head": {"sha": "aa", "repo": {"id": 1}}, "base": {"sha": "bb", "repo": {"id": 1}}}}`)
	gone := file(`{"pull_request": {"number": 12, "head": {"sha": "aa", "repo": null}, "base": {"sha": "bb", "repo": {"id": 1}}}}`)
	comment := `{"action": %q, "issue": {"number": 3, "pull_request": {}}, "comment": {"body": "/pawl accept"}}`
	for name, tc := range map[string]struct {
		env  map[string]string
		want *forge.Job
	}{
		"no job":         {nil, nil},
		"another forge":  {map[string]string{"CI": "true", "GITLAB_CI": "true"}, nil},
		"by its ref":     {map[string]string{"GITHUB_REF": "refs/pull/7/merge"}, &forge.Job{Ref: "refs/pull/7/merge", Pull: 7}},
		"a branch":       {map[string]string{"GITHUB_REF": "refs/heads/refs/pull/7/merge"}, &forge.Job{Ref: "refs/heads/refs/pull/7/merge"}},
		"not a number":   {map[string]string{"GITHUB_REF": "refs/pull/x/merge"}, &forge.Job{Ref: "refs/pull/x/merge"}},
		"a large number": {map[string]string{"GITHUB_REF": "refs/pull/99999999999/merge"}, &forge.Job{Ref: "refs/pull/99999999999/merge"}},
		"a fork": {
			map[string]string{"GITHUB_EVENT_NAME": "pull_request", "GITHUB_EVENT_PATH": pull, "GITHUB_HEAD_REF": "change", "GITHUB_REF_NAME": "12/merge", "GITHUB_SHA": "cc"},
			&forge.Job{Branch: "change", Commit: "cc", Pull: 12, Event: forge.Event{Kind: forge.OnPull, Name: "pull_request", Head: "aa", Base: "bb", Fork: true}},
		},
		"a branch of the repository": {
			map[string]string{"GITHUB_EVENT_NAME": "pull_request_target", "GITHUB_EVENT_PATH": own},
			&forge.Job{Pull: 12, Event: forge.Event{Kind: forge.OnTarget, Name: "pull_request_target", Head: "aa", Base: "bb"}},
		},
		"a deleted fork": {
			map[string]string{"GITHUB_EVENT_NAME": "pull_request", "GITHUB_EVENT_PATH": gone},
			&forge.Job{Pull: 12, Event: forge.Event{Kind: forge.OnPull, Name: "pull_request", Head: "aa", Base: "bb", Fork: true}},
		},
		"a merge queue": {
			map[string]string{"GITHUB_EVENT_NAME": "merge_group", "GITHUB_EVENT_PATH": file(`{"merge_group": {"head_sha": "aa", "base_sha": "bb"}}`)},
			&forge.Job{Event: forge.Event{Kind: forge.OnQueue, Name: "merge_group", Head: "aa", Base: "bb"}},
		},
		"a run": {
			map[string]string{"GITHUB_EVENT_NAME": "workflow_run", "GITHUB_EVENT_PATH": file(`{"workflow_run": {"id": 5}}`)},
			&forge.Job{Event: forge.Event{Kind: forge.OnRun, Name: "workflow_run", Run: 5}},
		},
		"a new comment": {
			map[string]string{"GITHUB_EVENT_NAME": "issue_comment", "GITHUB_EVENT_PATH": file(fmt.Sprintf(comment, "created"))},
			&forge.Job{Event: forge.Event{Kind: forge.OnComment, Name: "issue_comment", Pull: 3, Comment: "/pawl accept"}},
		},
		"an edited comment": {
			map[string]string{"GITHUB_EVENT_NAME": "issue_comment", "GITHUB_EVENT_PATH": file(fmt.Sprintf(comment, "edited"))},
			&forge.Job{Event: forge.Event{Kind: forge.OnComment, Name: "issue_comment"}},
		},
		"a push": {
			map[string]string{
				"GITHUB_EVENT_NAME": "push", "GITHUB_REF": "refs/heads/main", "GITHUB_REF_NAME": "main", "GITHUB_ACTIONS": "true", "GITHUB_ACTOR": "ann", "GITHUB_REPOSITORY": "o/r",
				"GITHUB_SERVER_URL": "https://github.example/", "GITHUB_RUN_ID": "9", "GITHUB_OUTPUT": "/out", "GITHUB_STEP_SUMMARY": "/sum",
			},
			&forge.Job{
				Repo: "o/r", Actor: "ann", Ref: "refs/heads/main", Branch: "main", RunURL: "https://github.example/o/r/actions/runs/9", Outputs: "/out", Summary: "/sum", Identity: true,
				Event: forge.Event{Kind: forge.OnMain, Name: "push"},
			},
		},
	} {
		got, err := Forge{}.Job(func(name string) string { return tc.env[name] })
		if d := cmp.Diff(tc.want, got); d != "" || err != nil {
			t.Errorf("%s: %v (-want +got)\n%s", name, err, d)
		}
	}
	for name, path := range map[string]string{"no file": "/nowhere/event.json", "not JSON": file("{")} {
		env := map[string]string{"GITHUB_EVENT_NAME": "pull_request", "GITHUB_EVENT_PATH": path}
		if j, err := (Forge{}).Job(func(name string) string { return env[name] }); err == nil {
			t.Errorf("%s: %+v", name, j)
		}
	}
}
