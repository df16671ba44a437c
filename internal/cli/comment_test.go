package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/cli"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/forge/githubtest"
	"github.com/goatnote-inc/pawl/internal/forge/untrusted"
	"github.com/goatnote-inc/pawl/internal/forge/untrusted/untrustedtest"
	"github.com/goatnote-inc/pawl/measure"
)

const gate = ".github/workflows/pawl-gate.yml"

// publishing has a checked-out base, a fake GitHub, and the results of a job.
type publishing struct {
	*testing.T
	server   *githubtest.Server
	suite    string // its file
	results  string // the folder
	env      map[string]string
	out, err bytes.Buffer
}

// newPublishing returns a publishing with open pull request 1 and its event.
func newPublishing(t *testing.T, pull forge.Pull) *publishing {
	t.Helper()
	t.Parallel()
	dir := t.TempDir()
	p := &publishing{T: t, server: githubtest.New(t), suite: filepath.Join(dir, "pawl.yaml"), results: filepath.Join(dir, "results")}
	p.write(p.suite, untrustedtest.Suite)
	pull.Open, pull.HeadBranch, pull.HeadSHA, pull.BaseSHA = true, "change", untrustedtest.Head, untrustedtest.Base
	p.server.AddPull(pull)
	p.server.AddFile(untrustedtest.Head, "pawl.yaml", untrustedtest.Suite)
	p.env = map[string]string{
		"GITHUB_REPOSITORY": p.server.Repo.String(), "GITHUB_API_URL": p.server.URL, "GITHUB_TOKEN": p.server.Token,
		"GITHUB_SERVER_URL": "https://github.example", "GITHUB_RUN_ID": "77", "GITHUB_STEP_SUMMARY": filepath.Join(dir, "summary.md"),
		"GOMEMLIMIT": "off",
	}
	p.event("pull_request", fmt.Sprintf(`{"pull_request": {"number": 1, "head": {"sha": %q, "repo": {"id": 1}}, "base": {"sha": %q, "repo": {"id": 1}}}}`, untrustedtest.Head, untrustedtest.Base))
	return p
}

func (p *publishing) write(path, text string) {
	p.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		p.Fatal(err)
	}
}

func (p *publishing) event(name, text string) {
	p.Helper()
	path := filepath.Join(p.TempDir(), "event.json")
	p.write(path, text)
	p.env["GITHUB_EVENT_NAME"], p.env["GITHUB_EVENT_PATH"] = name, path
}

// measured writes a record of a change that is slower by this fraction.
func (p *publishing) measured(slower float64) {
	p.Helper()
	p.write(filepath.Join(p.results, untrusted.Code), "0\n")
	if err := measure.Save(filepath.Join(p.results, untrusted.Record), untrustedtest.Record(map[string]float64{"softmax/N128": slower})); err != nil {
		p.Fatal(err)
	}
}

func (p *publishing) run(want int, args ...string) {
	p.Helper()
	p.out.Reset()
	p.err.Reset()
	if code := p.main(append([]string{"ci", "comment", "--suite", p.suite}, args...)...); code != want {
		p.Fatalf("exit code %d, want %d\n%s%s", code, want, p.out.String(), p.err.String())
	}
}

// main runs pawl with a simulated clock.
func (p *publishing) main(args ...string) int {
	var mu sync.Mutex
	now := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	return cli.Main(p.Context(), args, &command.IO{
		In: strings.NewReader(""), Out: &p.out, Err: &p.err, Getenv: func(name string) string { return p.env[name] },
		Now: func() time.Time {
			mu.Lock()
			defer mu.Unlock()
			return now
		},
		Sleep: func(ctx context.Context, d time.Duration) error {
			mu.Lock()
			defer mu.Unlock()
			now = now.Add(max(d, 0))
			return ctx.Err()
		},
	})
}

// check returns the only check on the head, after comparing it.
func (p *publishing) check(status forge.Status, conclusion forge.Conclusion, title string) forge.Check {
	p.Helper()
	checks := p.server.Checks(untrustedtest.Head)
	if len(checks) != 1 || checks[0].Name != "pawl" {
		p.Fatalf("the head has checks %+v", checks)
	}
	if c := checks[0]; c.Status != status || c.Conclusion != conclusion || !strings.Contains(c.Title, title) {
		p.Errorf("the check is %s, %q, %q; want %s, %q, %q", c.Status, c.Conclusion, c.Title, status, conclusion, title)
	}
	return checks[0]
}

// report returns the only report on pull request 1, which must contain want.
func (p *publishing) report(want ...string) string {
	p.Helper()
	all := p.server.Comments(1)
	var own []string
	for _, c := range all {
		if c.Author == p.server.Login {
			own = append(own, c.Body)
		}
	}
	if len(own) != 1 {
		p.Fatalf("there are %d reports among %d comments", len(own), len(all))
	}
	for _, w := range want {
		if !strings.Contains(own[0], w) {
			p.Errorf("the report does not say %q:\n%s", w, own[0])
		}
	}
	return own[0]
}

func TestCommentSame(t *testing.T) {
	p := newPublishing(t, forge.Pull{})
	p.run(0, "--start")
	p.check(forge.InProgress, "", "measuring")
	p.measured(0)
	p.run(0, "--results", p.results)
	p.check(forge.Completed, forge.Success, "unchanged")
	report := p.report("pass", "softmax/N128")
	summary, err := os.ReadFile(p.env["GITHUB_STEP_SUMMARY"])
	if err != nil || !strings.Contains(report, strings.TrimSpace(string(summary))) && len(summary) == 0 {
		t.Errorf("the summary has %d bytes, error %v", len(summary), err)
	}
	if !strings.Contains(p.out.String(), `check "pawl" on 111111111111 is success`) {
		t.Errorf("it says %q", p.out.String())
	}
}

func TestCommentSlower(t *testing.T) {
	p := newPublishing(t, forge.Pull{})
	p.measured(0.1)
	p.run(1, "--results", p.results, "--fail")
	p.check(forge.Completed, forge.Failure, "1 regression")
	p.report("fail", "/pawl accept 1111111 REASON")
	p.run(0, "--results", p.results) // again: still one report, and exit code 0 without --fail

	for _, c := range []struct{ author, body string }{
		{"reader", "/pawl accept 1111111 I want it"},
		{"writer", "/pawl accept 2222222 another head"},
		{"writer", "> /pawl accept 1111111 quoted"},
		{"writer", "/pawl accept 1111111"},
	} {
		p.server.AddComment(1, c.author, c.body)
	}
	p.server.SetPermission("reader", forge.Triage)
	p.server.SetPermission("writer", forge.Write)
	p.run(0, "--results", p.results)
	p.check(forge.Completed, forge.Failure, "1 regression")

	p.server.AddComment(1, "writer", "/pawl accept 1111111 needed for @team <b>correctness</b>")
	p.run(0, "--results", p.results, "--fail")
	p.check(forge.Completed, forge.Neutral, "accepted by writer")
	if r := p.report("Accepted", "needed for"); strings.Contains(r, "<b>") || strings.Contains(r, "@team") {
		t.Errorf("the reason is markup:\n%s", r)
	}
}

func TestCommentUntouched(t *testing.T) {
	p := newPublishing(t, forge.Pull{})
	p.run(0, "--untouched")
	p.check(forge.Completed, forge.Success, "no kernel touched")
	if all := p.server.Comments(1); len(all) != 0 {
		t.Errorf("it comments %+v", all)
	}
}

func TestCommentMergeGroup(t *testing.T) {
	p := newPublishing(t, forge.Pull{})
	p.event("merge_group", fmt.Sprintf(`{"merge_group": {"head_sha": %q, "base_sha": %q}}`, untrustedtest.Head, untrustedtest.Base))
	p.measured(0)
	p.run(0, "--results", p.results)
	p.check(forge.Completed, forge.Success, "unchanged")
	if all := p.server.Comments(1); len(all) != 0 {
		t.Errorf("it comments %+v", all)
	}
}

// After a push during the measurement, the old head gets its check but no report.
func TestCommentStale(t *testing.T) {
	p := newPublishing(t, forge.Pull{})
	p.server.EditPull(1, func(pull *forge.Pull) { pull.HeadSHA = strings.Repeat("3", 40) })
	p.measured(0.1)
	p.run(0, "--results", p.results)
	p.check(forge.Completed, forge.Failure, "1 regression")
	if all := p.server.Comments(1); len(all) != 0 {
		t.Errorf("it comments %+v", all)
	}
}

// The measured base is the merge base; the base branch has newer commits.
func TestCommentMergeBase(t *testing.T) {
	p := newPublishing(t, forge.Pull{})
	tip := strings.Repeat("4", 40)
	p.event("pull_request", fmt.Sprintf(`{"pull_request": {"number": 1, "head": {"sha": %q, "repo": {"id": 1}}, "base": {"sha": %q, "repo": {"id": 1}}}}`, untrustedtest.Head, tip))
	p.measured(0)
	p.run(0, "--results", p.results)
	p.check(forge.Completed, forge.Neutral, "failed")
	p.report("not where the change started")
	p.server.SetMergeBase(tip, untrustedtest.Head, untrustedtest.Base)
	p.run(0, "--results", p.results)
	p.check(forge.Completed, forge.Success, "unchanged")
}

// A job that left no record still gets a report.
func TestCommentEndedEarly(t *testing.T) {
	for name, test := range map[string]struct {
		files map[string]string
		want  forge.Conclusion
		says  string
	}{
		"nothing":                  {nil, forge.Neutral, "canceled"},
		"the tool failed":          {map[string]string{"exit-code": "3"}, forge.Neutral, "exit code 3"},
		"no answer":                {map[string]string{"exit-code": "2"}, forge.Neutral, "no answer"},
		"green without a record":   {map[string]string{"exit-code": "0", "verdict.json": `{"verdict": "improvement"}`}, forge.Neutral, "left no record"},
		"green without a verdict":  {map[string]string{"exit-code": "0"}, forge.Neutral, "left no record"},
		"identical":                {map[string]string{"exit-code": "0", "verdict.json": `{"verdict": "identical"}`}, forge.Success, "no input of a build or a kernel differs from the base"},
		"identical without a code": {map[string]string{"verdict.json": `{"verdict": "identical"}`}, forge.Neutral, "canceled"},
		"broken": {map[string]string{
			"exit-code":    "1",
			"verdict.json": `{"verdict": "broken", "stopped": {"step": "build", "side": "candidate", "why": "softmax.cu:12:3: error: no <b>such</b> thing @root"}}`,
		}, forge.Failure, "softmax.cu:12:3"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPublishing(t, forge.Pull{})
			for name, text := range test.files {
				p.write(filepath.Join(p.results, name), text)
			}
			if err := os.MkdirAll(p.results, 0o755); err != nil {
				t.Fatal(err)
			}
			p.run(0, "--results", p.results)
			c := p.check(forge.Completed, test.want, "")
			if r := p.report(test.says); strings.Contains(r, "<b>") || strings.Contains(r, "@root") {
				t.Errorf("it is markup:\n%s", r)
			}
			if name == "broken" && (len(c.Annotations) != 1 || c.Annotations[0].Path != "softmax.cu" || c.Annotations[0].Line != 12) {
				t.Errorf("annotations %+v", c.Annotations)
			}
		})
	}
}

// A base without a suite has no policy for the change.
func TestCommentFirstSuite(t *testing.T) {
	p := newPublishing(t, forge.Pull{})
	p.measured(0.1)
	if code := p.main("ci", "comment", "--results", p.results); code != 0 { // this folder has no pawl.yaml
		t.Fatalf("exit code %d: %s", code, p.err.String())
	}
	p.check(forge.Completed, forge.Neutral, "")
	p.report("The base has no suite yet")
}

func TestCommentRefused(t *testing.T) {
	p := newPublishing(t, forge.Pull{})
	p.measured(0)
	p.env["GITHUB_TOKEN"] = p.server.ReadOnlyToken
	p.run(3, "--results", p.results)
	if !strings.Contains(p.err.String(), "the token does not have this permission") {
		t.Errorf("it says %q", p.err.String())
	}
	p.env["GITHUB_TOKEN"] = ""
	p.run(3, "--results", p.results)
}

func TestCommentUsage(t *testing.T) {
	p := newPublishing(t, forge.Pull{})
	p.run(4)
	p.run(4, "--start", "--untouched")
	p.env["GITHUB_REPOSITORY"] = ""
	p.run(4, "--start")
	p.env["GITHUB_REPOSITORY"] = "a/b/../../c"
	p.run(4, "--start")
}

func TestCommentJSON(t *testing.T) {
	p := newPublishing(t, forge.Pull{})
	p.measured(0.1)
	p.run(0, "--results", p.results, "--dry-run", "--json")
	var got map[string]any
	if err := json.Unmarshal(p.out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got["conclusion"] != "failure" || got["pull"] != 1.0 || !strings.Contains(got["report"].(string), "softmax/N128") {
		t.Errorf("it says %v", got)
	}
	if len(p.server.Checks(untrustedtest.Head))+len(p.server.Comments(1)) != 0 {
		t.Error("a dry run writes")
	}
}
