package github

import (
	"fmt"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/forge"
)

func TestReadWebhook(t *testing.T) {
	head, before := strings.Repeat("a", 40), strings.Repeat("b", 40)
	pull := func(action, repo, sha string, number int) string {
		return fmt.Sprintf(`{"action": %q, "pull_request": {"number": %d, "head": {"sha": %q}}, "repository": {"full_name": %q}}`, action, number, sha, repo)
	}
	push := func(ref, before, after string) string {
		return fmt.Sprintf(`{"ref": %q, "before": %q, "after": %q, "repository": {"full_name": "octo/kernels"}}`, ref, before, after)
	}
	repo := forge.Repo{Owner: "octo", Name: "kernels"}
	for name, c := range map[string]struct {
		event, body string
		want        forge.Delivery
		ok, wrong   bool
	}{
		"a new pull request":      {"pull_request", pull("opened", "octo/kernels", head, 7), forge.Delivery{Repo: repo, Pull: 7, Head: head}, true, false},
		"a new head":              {"pull_request", pull("synchronize", "octo/kernels", head, 7), forge.Delivery{Repo: repo, Pull: 7, Head: head}, true, false},
		"a closed one":            {"pull_request", pull("closed", "octo/kernels", head, 7), forge.Delivery{Repo: repo, Pull: 7, Head: head, Closed: true}, true, false},
		"a label":                 {event: "pull_request", body: pull("labeled", "octo/kernels", head, 7)},
		"a push":                  {"push", push("refs/heads/main", before, head), forge.Delivery{Repo: repo, Branch: "main", Before: before, Head: head}, true, false},
		"a tag":                   {event: "push", body: push("refs/tags/v1", before, head)},
		"a new branch":            {event: "push", body: push("refs/heads/x", strings.Repeat("0", 40), head)},
		"a deleted branch":        {event: "push", body: push("refs/heads/x", before, strings.Repeat("0", 40))},
		"another event":           {event: "star", body: "no JSON"},
		"not JSON":                {event: "push", body: "{", wrong: true},
		"a path as repository":    {event: "pull_request", body: pull("opened", "../kernels", head, 7), wrong: true},
		"an option as commit":     {event: "pull_request", body: pull("opened", "octo/kernels", "--upload-pack=x", 7), wrong: true},
		"a short commit":          {event: "push", body: push("refs/heads/main", before, "abc"), wrong: true},
		"a negative pull request": {event: "pull_request", body: pull("opened", "octo/kernels", head, -1), wrong: true},
		"a long branch":           {event: "push", body: push("refs/heads/"+strings.Repeat("x", 300), before, head), wrong: true},
		"no pull request":         {event: "pull_request", body: `{"action": "opened", "repository": {"full_name": "octo/kernels"}}`, wrong: true},
	} {
		got, ok, err := readWebhook(c.event, []byte(c.body))
		if ok != c.ok || (err != nil) != c.wrong || ok && got != c.want {
			t.Errorf("%s: %+v, %t, %v", name, got, ok, err)
		}
	}
}

func TestRemote(t *testing.T) {
	vars := map[string]string{"GITHUB_TOKEN": "secret"}
	a := forge.Access{Repo: forge.Repo{Owner: "octo", Name: "kernels"}, Getenv: func(name string) string { return vars[name] }}
	r, err := Remote(t.Context(), a)
	if err != nil || r.URL != "https://github.com/octo/kernels.git" || r.Header != "Authorization: Basic eC1hY2Nlc3MtdG9rZW46c2VjcmV0" {
		t.Errorf("%+v, %v", r, err)
	}
	vars[serverVariable] = "https://git.example/"
	if r, err = Remote(t.Context(), a); err != nil || r.URL != "https://git.example/octo/kernels.git" {
		t.Errorf("%+v, %v", r, err)
	}
	delete(vars, "GITHUB_TOKEN")
	if _, err := Remote(t.Context(), a); err == nil {
		t.Error("no credentials, and no error")
	}
}
