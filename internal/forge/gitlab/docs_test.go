package gitlab

import (
	"os"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// ciJob is what the test reads of a job in .gitlab-ci.yml.
type ciJob struct {
	Stage       string
	Script      []string
	Needs       []string
	Rules       []map[string]string
	Environment struct{ Name, Action string }
	Artifacts   struct {
		Name  string
		Paths []string
	}
	Variables map[string]string
}

// The jobs of the page are YAML that GitLab can read, and the job that runs kernels never has a token.
func TestDocs_JobsOfThePage(t *testing.T) {
	page, err := os.ReadFile("../../../docs/how-to/gitlab.md")
	if err != nil {
		t.Fatal(err)
	}
	jobs := map[string]ciJob{}
	blocks := strings.Split(string(page), "```yaml\n")[1:]
	if len(blocks) != 2 {
		t.Fatalf("the page has %d blocks of YAML, want 2", len(blocks))
	}
	for _, block := range blocks {
		text, _, _ := strings.Cut(block, "```")
		var all map[string]yaml.Node
		if err := yaml.Unmarshal([]byte(text), &all); err != nil {
			t.Fatal(err)
		}
		for name, node := range all {
			if name == "stages" {
				continue
			}
			var j ciJob
			if err := node.Decode(&j); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			jobs[name] = j
		}
	}
	for _, name := range []string{"pawl-measure", "pawl-publish", "pawl-push"} {
		j, ok := jobs[name]
		if !ok || len(j.Script) == 0 || len(j.Rules) != 1 || !strings.Contains(j.Rules[0]["if"], "merge_request_event") {
			t.Errorf("%s: %+v", name, j)
		}
		if writes := j.Environment.Name == "pawl-publish" && j.Environment.Action == "access"; writes == (name == "pawl-measure") {
			t.Errorf("%s has the environment %+v", name, j.Environment)
		}
		if runs := strings.Contains(strings.Join(j.Script, "\n"), "pawl run"); runs != (name == "pawl-measure") {
			t.Errorf("%s runs kernels: %v", name, runs)
		}
	}
	if m := jobs["pawl-measure"]; m.Artifacts.Name != "pawl-results" || len(m.Artifacts.Paths) != 1 || m.Variables["GIT_DEPTH"] != "0" {
		t.Errorf("%+v", m)
	}
	if strings.Contains(strings.ToUpper(strings.Join(jobs["pawl-measure"].Script, " ")), "TOKEN") {
		t.Error("the job that runs kernels names a token")
	}
}
