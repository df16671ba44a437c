package gitlab

import (
	"errors"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/forge"
)

func TestForge_Job(t *testing.T) {
	merge := map[string]string{
		"GITLAB_CI": "true", "CI_PIPELINE_SOURCE": "merge_request_event", "CI_PROJECT_PATH": "g/s/kernels", "CI_MERGE_REQUEST_PROJECT_PATH": "g/s/kernels", "CI_COMMIT_SHA": "cc",
		"CI_COMMIT_REF_NAME": "refs/merge-requests/5/head", "CI_MERGE_REQUEST_IID": "5", "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME": "change", "CI_MERGE_REQUEST_REF_PATH": "refs/merge-requests/5/head",
		"CI_MERGE_REQUEST_DIFF_BASE_SHA": "bb", "CI_MERGE_REQUEST_PROJECT_ID": "1", "CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "1", "GITLAB_USER_LOGIN": "ada", "CI_PIPELINE_URL": "https://gitlab.example/p/40",
	}
	with := func(changed map[string]string) map[string]string {
		all := map[string]string{}
		maps.Copy(all, merge)
		maps.Copy(all, changed)
		return all
	}
	job := forge.Job{
		Repo: "g/s/kernels", Actor: "ada", Ref: "refs/merge-requests/5/head", Branch: "change", Commit: "cc", Pull: 5, RunURL: "https://gitlab.example/p/40",
		Event: forge.Event{Kind: forge.OnPull, Name: "merge_request_event", Head: "cc", Base: "bb"},
	}
	merged, train, fork := job, job, job
	merged.Event.Head, train.Event.Kind, fork.Event.Fork = "aa", forge.OnQueue, true
	for name, tc := range map[string]struct {
		env  map[string]string
		want *forge.Job
	}{
		"no job":                   {nil, nil},
		"another forge":            {map[string]string{"GITHUB_ACTIONS": "true", "CI": "true"}, nil},
		"a merge request":          {merge, &job},
		"its merge with the base":  {with(map[string]string{"CI_MERGE_REQUEST_SOURCE_BRANCH_SHA": "aa"}), &merged},
		"a merge train":            {with(map[string]string{"CI_MERGE_REQUEST_EVENT_TYPE": "merge_train"}), &train},
		"a fork, run in its place": {with(map[string]string{"CI_PROJECT_PATH": "mallory/kernels", "CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "2"}), &fork},
		"a push": {
			map[string]string{"GITLAB_CI": "true", "CI_PIPELINE_SOURCE": "push", "CI_PROJECT_PATH": "g/k", "CI_COMMIT_BRANCH": "main", "CI_COMMIT_REF_NAME": "main", "CI_COMMIT_SHA": "cc"},
			&forge.Job{Repo: "g/k", Actor: "gitlab", Ref: "refs/heads/main", Branch: "main", Commit: "cc", Event: forge.Event{Kind: forge.OnMain, Name: "push"}},
		},
		"a trigger of unknown origin": {
			map[string]string{"GITLAB_CI": "true", "CI_PIPELINE_SOURCE": "trigger", "CI_PROJECT_PATH": "g/k", "CI_COMMIT_TAG": "v1", "CI_COMMIT_REF_NAME": "v1"},
			&forge.Job{Repo: "g/k", Actor: "gitlab", Ref: "refs/tags/v1", Branch: "v1", Event: forge.Event{Name: "trigger"}},
		},
	} {
		got, err := Forge{}.Job(func(name string) string { return tc.env[name] })
		if d := cmp.Diff(tc.want, got); d != "" || err != nil {
			t.Errorf("%s: %v (-want +got)\n%s", name, err, d)
		}
	}
	env := with(map[string]string{"CI_MERGE_REQUEST_IID": "5; rm"})
	if j, err := (Forge{}).Job(func(name string) string { return env[name] }); err == nil {
		t.Errorf("%+v", j)
	}
}

func TestForge_Open(t *testing.T) {
	access := forge.Access{Repo: forge.Repo{Owner: "g/s", Name: "kernels"}, Getenv: func(string) string { return "" }}
	if _, err := (Forge{}).Open(access); !errors.Is(err, forge.ErrNoToken) {
		t.Errorf("%v", err)
	}
	env := map[string]string{"GITLAB_TOKEN": "glpat-x", "CI_API_V4_URL": "https://gitlab.example/api/v4"}
	access.Getenv = func(name string) string { return env[name] }
	if c, err := (Forge{}).Open(access); err != nil || c == nil {
		t.Errorf("%v", err)
	}
}
