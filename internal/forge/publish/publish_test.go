package publish_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/forge/github"
	"github.com/goatnote-inc/pawl/internal/forge/githubtest"
	"github.com/goatnote-inc/pawl/internal/forge/publish"
	"github.com/goatnote-inc/pawl/internal/forge/untrusted"
	"github.com/goatnote-inc/pawl/internal/forge/untrusted/untrustedtest"
	"github.com/goatnote-inc/pawl/measure"
)

const gate = ".github/workflows/pawl-gate.yml"

// publishing has a checked-out base, a fake GitHub, and the results of a job.
type publishing struct {
	*testing.T
	server  *githubtest.Server
	suite   string // its file; empty if the base has none
	results string // the folder
	env     map[string]string
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

// publish carries out a request, with a simulated clock.
func (p *publishing) publish(want publish.Request) (publish.Result, error) {
	p.Helper()
	var mu sync.Mutex
	now := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	getenv := func(name string) string { return p.env[name] }
	pub := publish.Publisher{Now: now, Log: p.Logf}
	var err error
	if pub.Job, err = (github.Forge{}).Job(getenv); err != nil {
		p.Fatal(err)
	}
	pub.Client, err = github.Forge{}.Open(forge.Access{
		Repo: p.server.Repo, Getenv: getenv,
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
	if err != nil {
		p.Fatal(err)
	}
	if p.suite != "" {
		text, err := os.ReadFile(p.suite)
		if err == nil {
			err = pub.ReadSuite("pawl.yaml", text)
		}
		if err != nil {
			p.Fatal(err)
		}
	}
	want.Workflow = gate
	return pub.Publish(p.Context(), want)
}

// run carries out a request that must succeed.
func (p *publishing) run(want publish.Request) publish.Result {
	p.Helper()
	done, err := p.publish(want)
	if err != nil {
		p.Fatal(err)
	}
	return done
}

// ofResults asks to publish the folder of the results.
func (p *publishing) ofResults() publish.Request { return publish.Request{Results: p.results} }

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

func TestPublish_Unchanged(t *testing.T) {
	p := newPublishing(t, forge.Pull{})
	p.run(publish.Request{Start: true})
	p.check(forge.InProgress, "", "measuring")
	p.measured(0)
	p.run(p.ofResults())
	p.check(forge.Completed, forge.Success, "unchanged")
	report := p.report("pass", "softmax/N128")
	summary, err := os.ReadFile(p.env["GITHUB_STEP_SUMMARY"])
	if err != nil || !strings.Contains(report, strings.TrimSpace(string(summary))) && len(summary) == 0 {
		t.Errorf("the summary has %d bytes, error %v", len(summary), err)
	}
}

func TestPublish_SlowerUntilAccepted(t *testing.T) {
	p := newPublishing(t, forge.Pull{})
	p.measured(0.1)
	p.run(p.ofResults())
	p.check(forge.Completed, forge.Failure, "1 regression")
	p.report("fail", "/pawl accept 1111111 REASON")
	p.run(p.ofResults()) // again: still one report

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
	p.run(p.ofResults())
	p.check(forge.Completed, forge.Failure, "1 regression")

	p.server.AddComment(1, "writer", "/pawl accept 1111111 needed for @team <b>correctness</b>")
	p.run(p.ofResults())
	p.check(forge.Completed, forge.Neutral, "accepted by writer")
	if r := p.report("Accepted", "needed for"); strings.Contains(r, "<b>") || strings.Contains(r, "@team") {
		t.Errorf("the reason is markup:\n%s", r)
	}
}

func TestPublish_Untouched(t *testing.T) {
	p := newPublishing(t, forge.Pull{})
	p.run(publish.Request{Untouched: true})
	p.check(forge.Completed, forge.Success, "no kernel touched")
	if all := p.server.Comments(1); len(all) != 0 {
		t.Errorf("it comments %+v", all)
	}
}

func TestPublish_MergeGroup(t *testing.T) {
	p := newPublishing(t, forge.Pull{})
	p.event("merge_group", fmt.Sprintf(`{"merge_group": {"head_sha": %q, "base_sha": %q}}`, untrustedtest.Head, untrustedtest.Base))
	p.measured(0)
	p.run(p.ofResults())
	p.check(forge.Completed, forge.Success, "unchanged")
	if all := p.server.Comments(1); len(all) != 0 {
		t.Errorf("it comments %+v", all)
	}
}

// After a push during the measurement, the old head gets its check but no report.
func TestPublish_NewerHead(t *testing.T) {
	p := newPublishing(t, forge.Pull{})
	p.server.EditPull(1, func(pull *forge.Pull) { pull.HeadSHA = strings.Repeat("3", 40) })
	p.measured(0.1)
	p.run(p.ofResults())
	p.check(forge.Completed, forge.Failure, "1 regression")
	if all := p.server.Comments(1); len(all) != 0 {
		t.Errorf("it comments %+v", all)
	}
}

// The measured base is the merge base; the base branch has newer commits.
func TestPublish_MergeBase(t *testing.T) {
	p := newPublishing(t, forge.Pull{})
	tip := strings.Repeat("4", 40)
	p.event("pull_request", fmt.Sprintf(`{"pull_request": {"number": 1, "head": {"sha": %q, "repo": {"id": 1}}, "base": {"sha": %q, "repo": {"id": 1}}}}`, untrustedtest.Head, tip))
	p.measured(0)
	p.run(p.ofResults())
	p.check(forge.Completed, forge.Neutral, "failed")
	p.report("not where the change started")
	p.server.SetMergeBase(tip, untrustedtest.Head, untrustedtest.Base)
	p.run(p.ofResults())
	p.check(forge.Completed, forge.Success, "unchanged")
}

// A job that left no record still gets a report.
func TestPublish_RunThatEndedEarly(t *testing.T) {
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
			p.run(p.ofResults())
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
func TestPublish_FirstSuite(t *testing.T) {
	p := newPublishing(t, forge.Pull{})
	p.measured(0.1)
	p.suite = ""
	p.run(p.ofResults())
	p.check(forge.Completed, forge.Neutral, "")
	p.report("The base has no suite yet")
}

func TestPublish_TokenThatCannotWrite(t *testing.T) {
	p := newPublishing(t, forge.Pull{})
	p.measured(0)
	p.env["GITHUB_TOKEN"] = p.server.ReadOnlyToken
	if _, err := p.publish(p.ofResults()); err == nil || !strings.Contains(err.Error(), "the token does not have this permission") {
		t.Errorf("error %v", err)
	}
}

func TestPublish_DryRunWritesNothing(t *testing.T) {
	p := newPublishing(t, forge.Pull{})
	p.measured(0.1)
	got := p.run(publish.Request{Results: p.results, DryRun: true})
	if got.Conclusion != forge.Failure || got.Pull != 1 || !strings.Contains(got.Report, "softmax/N128") {
		t.Errorf("%+v", got)
	}
	if len(p.server.Checks(untrustedtest.Head))+len(p.server.Comments(1)) != 0 {
		t.Error("a dry run writes")
	}
}

// Without credentials only a dry run that needs no pull request is possible.
func TestPublish_WithoutCredentials(t *testing.T) {
	job := forge.Job{Commit: untrustedtest.Head}
	p := publish.Publisher{Job: &job, Log: t.Logf}
	if got, err := p.Publish(t.Context(), publish.Request{Start: true, DryRun: true}); err != nil || got.Status != forge.InProgress {
		t.Errorf("a dry run: %+v, error %v", got, err)
	}
	for name, want := range map[string]publish.Request{
		"writes":               {Start: true},
		"names a pull request": {Start: true, DryRun: true, Pull: 1},
		"names a run":          {DryRun: true, Run: 1},
	} {
		if _, err := p.Publish(t.Context(), want); !errors.Is(err, forge.ErrNoToken) {
			t.Errorf("a request that %s: error %v", name, err)
		}
	}
	for _, kind := range []forge.EventKind{forge.OnRun, forge.OnComment} {
		job.Event.Kind = kind
		if _, err := p.Publish(t.Context(), publish.Request{DryRun: true}); !errors.Is(err, forge.ErrNoToken) {
			t.Errorf("event %s: error %v", kind, err)
		}
	}
	job = forge.Job{}
	for _, want := range []publish.Request{{DryRun: true}, {Start: true, DryRun: true}} {
		_, err := p.Publish(t.Context(), want)
		if _, ok := errors.AsType[*forge.InputError](err); !ok {
			t.Errorf("%+v: error %v", want, err)
		}
	}
}

// Several devices end in one check and one report. The worst one decides, and one without results is named.
func TestPublish_SeveralDevices(t *testing.T) {
	p := newPublishing(t, forge.Pull{})
	folders := filepath.Dir(p.results)
	var devices []publish.Device
	for device, slower := range map[string]float64{"l4": 0, "h100": 0.3} {
		p.results = filepath.Join(folders, device)
		p.measured(slower)
		devices = append(devices, publish.Device{Name: device, Results: p.results, Calibration: "GPU-" + device + " calibrated"})
	}
	p.run(publish.Request{Devices: devices})
	p.check(forge.Completed, forge.Failure, "1 regression")
	p.report("Regression on h100, maintained on l4.", "softmax/N128 on h100", "softmax/N128 on l4", "GPU-h100 calibrated", "GPU-l4 calibrated")

	p.run(publish.Request{Devices: devices[:1]})
	p.report("How it was measured", "calibration: GPU-"+devices[0].Name+" calibrated")

	devices[0].Results, devices[1].Results = filepath.Join(folders, "l4"), ""
	devices[0].Name, devices[1].Name, devices[1].Failed = "l4", "h100", "no device was free"
	p.run(publish.Request{Devices: devices})
	p.check(forge.Completed, forge.Neutral, "unchanged")
	p.report("No answer on h100, maintained on l4.", "No answer on h100: no device was free")

	devices[0].Results, devices[0].Failed = "", "canceled"
	p.run(publish.Request{Devices: devices})
	p.check(forge.Completed, forge.Neutral, "pawl or its machine failed")
	p.report("l4: canceled", "h100: no device was free")
}

// A commit that a newer one replaced has an ended check, and the report stays as it is.
func TestPublish_Superseded(t *testing.T) {
	p := newPublishing(t, forge.Pull{})
	p.run(publish.Request{Start: true})
	p.run(publish.Request{Superseded: true, Pull: 1, SHA: untrustedtest.Head})
	p.check(forge.Completed, forge.Neutral, "superseded")
	if all := p.server.Comments(1); len(all) != 0 {
		t.Errorf("comments %+v", all)
	}
}
