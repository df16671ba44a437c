package change

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/base/shell"
	"github.com/goatnote-inc/pawl/internal/base/testrun"
	"github.com/goatnote-inc/pawl/internal/fleet/calibration"
	"github.com/goatnote-inc/pawl/internal/fleet/gate"
	"github.com/goatnote-inc/pawl/internal/fleet/job"
	"github.com/goatnote-inc/pawl/internal/fleet/placement"
	"github.com/goatnote-inc/pawl/internal/fleet/tier"
	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/forge/github"
	"github.com/goatnote-inc/pawl/internal/forge/githubtest"
	"github.com/goatnote-inc/pawl/internal/forge/untrusted/untrustedtest"
	"github.com/goatnote-inc/pawl/internal/server/agents"
	"github.com/goatnote-inc/pawl/internal/server/blob"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/store/fleetstore"
	"github.com/goatnote-inc/pawl/internal/server/store/storetest"
	"github.com/goatnote-inc/pawl/measure"
)

func TestMain(m *testing.M) {
	code := m.Run()
	storetest.Stop()
	os.Exit(code)
}

const own = "01JC0000000000000000000001"

// place is pawld's side of a project that gates octo/kernels, with a fake GitHub that serves git.
type place struct {
	t          *testing.T
	forge      *githubtest.Server
	changes    *Changes
	fleet      *fleetstore.Store
	blobs      agents.Blobs
	project    int64
	work       string // working tree
	bare       string
	base, head string
}

func newPlace(t *testing.T, gated fleetstore.Gated) *place {
	t.Helper()
	p := &place{t: t, forge: githubtest.New(t), work: t.TempDir(), bare: filepath.Join(t.TempDir(), "kernels.git")}
	all, err := store.Open(t.Context(), store.Config{URL: storetest.URL(t), Conns: 4, AllowUnsafe: true}, nil)
	p.must(err)
	t.Cleanup(all.Close)
	bucket, err := blob.Open(t.Context(), "file://"+t.TempDir())
	p.must(err)
	t.Cleanup(func() { _ = bucket.Close() })
	made, err := all.CreateProject(t.Context(), store.Project{Project: client.Project{Slug: "kernels"}})
	p.must(err)
	p.project, p.fleet, p.blobs = made.ID, fleetstore.New(all.DB()), agents.Blobs{Store: all, Bucket: bucket}
	gated.Repository, gated.Suite, gated.Secret = p.forge.Repo.String(), "pawl.yaml", strings.Repeat("s", 32)
	p.must(p.fleet.SetGated(t.Context(), p.project, gated))

	p.git("init", "-q", "--bare", p.bare)
	p.must(p.forge.ServeGit(p.bare))
	p.git("init", "-q", "-b", "main")
	p.base = p.commit("refs/heads/main", untrustedtest.Suite)
	p.head = p.commit("refs/pull/1/head", untrustedtest.Suite)
	p.forge.SetMergeBase(p.base, p.head, p.base)
	env := map[string]string{"GITHUB_TOKEN": p.forge.Token, github.APIVariable: p.forge.URL, "GITHUB_SERVER_URL": p.forge.URL}
	access := func(repo forge.Repo) forge.Access {
		return forge.Access{
			Repo: repo, Getenv: func(name string) string { return env[name] },
			Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
		}
	}
	p.changes = New(Options{
		Fleet: p.fleet, Blobs: p.blobs, Dir: t.TempDir(), Log: slog.New(slog.DiscardHandler), Now: time.Now, PullRef: github.PullRef,
		Project: func(ctx context.Context, slug string) (int64, error) {
			found, err := all.Project(ctx, slug)
			return found.ID, err
		},
		Open: func(repo forge.Repo) (forge.Client, error) { return github.Forge{}.Open(access(repo)) },
		Remote: func(ctx context.Context, repo forge.Repo) (forge.Remote, error) {
			return github.Remote(ctx, access(repo))
		},
	})
	return p
}

func (p *place) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) git(args ...string) string {
	p.t.Helper()
	return testrun.Git(p.t, p.work, args...)
}

// commit makes a commit, pushes it to a ref, and shows its suite at the forge.
func (p *place) commit(ref, suite string) string {
	p.t.Helper()
	p.must(os.WriteFile(filepath.Join(p.work, "pawl.yaml"), []byte(suite), 0o600))
	p.git("add", "-A")
	p.git("commit", "-q", "--allow-empty", "-m", ref)
	p.git("push", "-q", "--force", p.bare, "HEAD:"+ref)
	sha := p.git("rev-parse", "HEAD")
	p.forge.AddFile(sha, "pawl.yaml", suite)
	return sha
}

func (p *place) pull(change func(*forge.Pull)) {
	pull := forge.Pull{Number: 1, Open: true, HeadBranch: "change", HeadSHA: p.head, BaseSHA: p.base}
	change(&pull)
	p.forge.AddPull(pull)
}

// check returns the only check on a commit.
func (p *place) check(sha string) forge.Check {
	p.t.Helper()
	checks := p.forge.Checks(sha)
	if len(checks) != 1 {
		p.t.Fatalf("commit %.12s has checks %+v", sha, checks)
	}
	return checks[0]
}

// measured publishes a run that is slower by this fraction, as a device of the model would.
func (p *place) measured(w gate.Work, model string, slower float64) {
	p.t.Helper()
	run := untrustedtest.Record(map[string]float64{"softmax/N128": slower})
	run.Trust = measure.Trust(w.Trust)
	for i := range run.Implementations {
		run.Implementations[i].Commit = map[string]string{measure.Base: w.Base, measure.Candidate: w.Head}[run.Implementations[i].Name]
	}
	file := filepath.Join(p.t.TempDir(), "current.json")
	p.must(measure.Save(file, run))
	text, err := os.ReadFile(file)
	p.must(err)
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, content := range map[string][]byte{"current.json": text, "exit-code": []byte("0")} {
		f, err := z.Create(name)
		p.must(err)
		_, _ = f.Write(content)
	}
	p.must(z.Close())
	sum := sha256.Sum256(b.Bytes())
	digest := hex.EncodeToString(sum[:])
	p.must(p.blobs.Put(p.t.Context(), "kernels", digest, bytes.NewReader(b.Bytes()), int64(b.Len())))
	p.must(p.fleet.Publish(p.t.Context(), p.project, gate.Publication{
		Project: "kernels", Gate: w.Gate, Commit: w.Head, Suite: w.Suite, Model: model, Device: "GPU-" + model,
		Result: job.Result{Attempt: 1, Record: digest, Rounds: 16},
	}))
}

var event = gate.Event{Project: "kernels", Gate: own, Pull: 1}

func (p *place) prepare(e gate.Event) gate.Prepared {
	p.t.Helper()
	if e.Head == "" {
		e.Head = p.head
	}
	got, err := p.changes.Prepare(p.t.Context(), e)
	p.must(err)
	return got
}

func TestPrepare_PullRequest(t *testing.T) {
	p := newPlace(t, fleetstore.Gated{Models: []string{"l4", "h100"}})
	p.pull(func(*forge.Pull) {})
	var got gate.Prepared
	for range 2 { // an activity may run twice
		got = p.prepare(event)
	}
	if w := got.Work; w.Base != p.base || w.Head != p.head || w.Trust != "" || w.Tier != tier.Own || w.Gate != own || !slices.Equal(got.Models, []string{"h100", "l4"}) {
		t.Errorf("prepared %+v", got)
	}
	if parts, err := p.fleet.Gate(t.Context(), p.project, own); err != nil || len(parts) != 2 || parts[0].Change != "pull/1" {
		t.Errorf("parts %+v, %v", parts, err)
	}
	if c := p.check(p.head); c.Status != forge.InProgress {
		t.Errorf("check %+v", c)
	}
	// A repository without anything else can read the bundle.
	from, err := p.blobs.Get(t.Context(), "kernels", got.Work.Bundle)
	p.must(err)
	defer from.Close()
	text, err := io.ReadAll(from)
	p.must(err)
	fresh := t.TempDir()
	file := filepath.Join(fresh, "bundle")
	p.must(os.WriteFile(file, text, 0o600))
	for _, args := range [][]string{{"init", "-q"}, {"bundle", "unbundle", file}, {"cat-file", "-e", p.base}, {"checkout", "-q", p.head}} {
		if _, err := shell.GitOutput(t.Context(), fresh, args...); err != nil {
			t.Errorf("git %v: %v", args, err)
		}
	}
}

// A copy that is used for months stays a few packs, with all that was fetched.
func TestPrepare_PacksItsCopy(t *testing.T) {
	p := newPlace(t, fleetstore.Gated{Models: []string{"l4"}})
	const pushes = 8
	for range pushes {
		before := p.base
		p.base = p.commit("refs/heads/main", untrustedtest.Suite)
		p.prepare(gate.Event{Project: "kernels", Gate: own, Branch: "main", Before: before, Head: p.base})
	}
	mirror := filepath.Join(p.changes.o.Dir, strconv.FormatInt(p.project, 10)+".git")
	if commits := testrun.Git(t, mirror, "rev-list", "--count", "--all"); commits != strconv.Itoa(pushes+2) {
		t.Errorf("the copy has %s commits, want %d", commits, pushes+2)
	}
	count := testrun.Git(t, mirror, "count-objects", "-v")
	var loose, packs int
	for line := range strings.Lines(count) {
		_, _ = fmt.Sscanf(line, "count: %d", &loose)
		_, _ = fmt.Sscanf(line, "packs: %d", &packs)
	}
	if loose != 0 || packs < 1 || packs > 4 {
		t.Errorf("after %d pushes:\n%s", pushes, count)
	}
}

func TestPrepare_Rules(t *testing.T) {
	fork := func(q *forge.Pull) { q.Fork, q.HeadRepo = true, 77 }
	same := func(*forge.Pull) {}
	for name, c := range map[string]struct {
		gated fleetstore.Gated
		pull  func(*forge.Pull)
		event func(*place) gate.Event
		skip  string // reason; empty if it is gated
		on    string // model and trust
	}{
		"own change":               {gated: fleetstore.Gated{Models: []string{"l4"}, ForkModels: []string{"cpu"}}, pull: same, on: "l4"},
		"a fork":                   {gated: fleetstore.Gated{Models: []string{"l4"}, ForkModels: []string{"cpu"}}, pull: fork, on: "cpu checked"},
		"a fork without a tier":    {gated: fleetstore.Gated{Models: []string{"l4"}}, pull: fork, skip: "pull requests from forks are not gated"},
		"a fork that is gone":      {gated: fleetstore.Gated{Models: []string{"l4"}}, pull: func(q *forge.Pull) { q.Fork = true }, skip: "pull requests from forks are not gated"},
		"closed meanwhile":         {gated: fleetstore.Gated{Models: []string{"l4"}}, pull: func(q *forge.Pull) { q.Open = false }, skip: "the pull request is closed"},
		"the forge has a new head": {gated: fleetstore.Gated{Models: []string{"l4"}}, pull: same, event: func(*place) gate.Event { e := event; e.Head = strings.Repeat("9", 40); return e }, on: "l4"},
		"a project that is gone":   {gated: fleetstore.Gated{Models: []string{"l4"}}, pull: same, event: func(*place) gate.Event { e := event; e.Project = "gone"; return e }, skip: "the project gates nothing any more"},
		"a push": {gated: fleetstore.Gated{Models: []string{"l4"}}, pull: same, on: "l4", event: func(p *place) gate.Event {
			p.head = p.commit("refs/heads/main", untrustedtest.Suite)
			return gate.Event{Project: "kernels", Gate: own, Branch: "main", Before: p.base, Head: p.head}
		}},
		"a base without a suite": {gated: fleetstore.Gated{Models: []string{"l4"}}, pull: func(q *forge.Pull) { q.BaseSHA = "" }, skip: "the base has no suite pawl.yaml", event: func(p *place) gate.Event {
			p.git("rm", "-q", "pawl.yaml")
			p.git("commit", "-q", "-m", "no suite")
			p.git("push", "-q", "--force", p.bare, "HEAD:refs/heads/main")
			before := p.git("rev-parse", "HEAD")
			p.head = p.commit("refs/heads/main", untrustedtest.Suite)
			return gate.Event{Project: "kernels", Gate: own, Branch: "main", Before: before, Head: p.head}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t, c.gated)
			p.pull(c.pull)
			e := event
			if c.event != nil {
				e = c.event(p)
			}
			got := p.prepare(e)
			if on := strings.TrimSpace(strings.Join(got.Models, ",") + " " + got.Work.Trust); got.Skip != c.skip || on != c.on || got.Work.Trust == string(measure.Checked) && got.Work.Tier != tier.Checked {
				t.Errorf("skip %q, on %q; want %q, %q", got.Skip, on, c.skip, c.on)
			}
			if c.skip != "" && len(p.forge.Checks(p.head)) != 0 {
				t.Error("the forge was told about a change that is not gated")
			}
			if c.skip == "" && got.Work.Head != p.head {
				t.Errorf("head %s, want %s", got.Work.Head, p.head)
			}
		})
	}
}

func TestAnnounce_OneReportOfAllDevices(t *testing.T) {
	p := newPlace(t, fleetstore.Gated{Models: []string{"l4", "h100"}})
	p.pull(func(*forge.Pull) {})
	w := p.prepare(event).Work
	p.must(p.fleet.SetDevice(t.Context(), fleetstore.Device{Device: placement.Device{ID: "GPU-h100", Host: "gpu1", Power: placement.Ready}, Model: "h100"}))
	_, _, err := p.fleet.Calibrated(t.Context(), "GPU-h100", calibration.Record{
		At: time.Date(2026, 11, 18, 8, 0, 0, 0, time.UTC), Driver: "570.86", Seed: 1, Rounds: 16, Noise: 0.002, Smallest: 0.005, Planted: 0.015, Found: true,
	})
	p.must(err)
	p.measured(w, "l4", 0)
	p.measured(w, "h100", 0.3)
	e := event
	e.Head = p.head
	for range 2 { // an activity may run twice
		p.must(p.changes.Announce(t.Context(), gate.Announcement{Event: e, Work: w, Outcomes: []gate.Outcome{{}}}))
	}
	if c := p.check(p.head); c.Status != forge.Completed || !strings.Contains(c.Title, "1 regression") {
		t.Errorf("check %+v", c)
	}
	reports := p.forge.Comments(1)
	if len(reports) != 1 || !strings.Contains(reports[0].Body, "Regression on h100, maintained on l4.") || !strings.Contains(reports[0].Body, "noise 0.2 %, finds changes of 0.5 %") {
		t.Errorf("reports %+v", reports)
	}
}

func TestAnnounce_Fork(t *testing.T) {
	p := newPlace(t, fleetstore.Gated{Models: []string{"l4"}, ForkModels: []string{"l4"}})
	p.pull(func(q *forge.Pull) { q.Fork, q.HeadRepo = true, 77 })
	w := p.prepare(event).Work
	p.measured(w, "l4", 0)
	p.must(p.changes.Announce(t.Context(), gate.Announcement{Event: event, Work: w, Outcomes: []gate.Outcome{{}}}))
	if c := p.check(p.head); c.Conclusion != forge.Neutral || !strings.Contains(c.Title, "claimed by a fork") || strings.Contains(c.Title, "failed") {
		t.Errorf("check %+v", c)
	}
}

func TestAnnounce_WithoutResults(t *testing.T) {
	p := newPlace(t, fleetstore.Gated{Models: []string{"l4"}})
	p.pull(func(*forge.Pull) {})
	w := p.prepare(event).Work
	e := event
	e.Head = p.head
	for _, c := range []struct {
		a     gate.Announcement
		title string
	}{
		{gate.Announcement{Event: e, Work: w, Superseded: true}, "superseded"},
		{gate.Announcement{Event: e, Failed: "the suite of the base cannot be read"}, "pawl or its machine failed"},
		{gate.Announcement{Event: e, Work: w, Outcomes: []gate.Outcome{{}}}, "pawl or its machine failed"}, // its part has no result
	} {
		p.must(p.changes.Announce(t.Context(), c.a))
		if got := p.check(p.head); got.Status != forge.Completed || got.Conclusion == forge.Success || got.Title != c.title {
			t.Errorf("check %+v, want %q", got, c.title)
		}
	}
}

// What an agent says it delivered may not be there: trying again for a day would only keep the next push waiting.
func TestAnnounce_DocumentsThatAreNotThere(t *testing.T) {
	for name, record := range map[string]string{"a digest": strings.Repeat("a", 64), "no digest": "../../secret"} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t, fleetstore.Gated{Models: []string{"l4"}})
			p.pull(func(*forge.Pull) {})
			w := p.prepare(event).Work
			p.must(p.fleet.Publish(t.Context(), p.project, gate.Publication{
				Project: "kernels", Gate: w.Gate, Commit: w.Head, Suite: w.Suite, Model: "l4", Device: "GPU-l4", Result: job.Result{Attempt: 1, Record: record},
			}))
			p.must(p.changes.Announce(t.Context(), gate.Announcement{Event: event, Work: w, Outcomes: []gate.Outcome{{}}}))
			if c := p.check(p.head); c.Status != forge.Completed || c.Conclusion == forge.Success || c.Title != "pawl or its machine failed" {
				t.Errorf("check %+v", c)
			}
		})
	}
}

// Credentials are in no argument, and go to no other protocol or host.
func TestTransport(t *testing.T) {
	options, env := transport(forge.Remote{URL: "https://git.example/a/b.git", Header: "Authorization: Basic c2VjcmV0"})
	if all := strings.Join(options, " "); strings.Contains(all, "c2VjcmV0") || strings.Contains(all, "protocol.http.allow") || !strings.Contains(all, "http.followRedirects=false") {
		t.Errorf("options %s", all)
	}
	if len(env) != 3 || !strings.HasSuffix(env[2], "c2VjcmV0") {
		t.Errorf("environment %v", env)
	}
	for remote, want := range map[string]bool{"http://127.0.0.1:8080/a/b.git": true, "http://git.example/a/b.git": false, "file:///tmp/b.git": false} {
		options, _ := transport(forge.Remote{URL: remote})
		if got := strings.Contains(strings.Join(options, " "), "protocol.http.allow=always"); got != want {
			t.Errorf("%s: %v", remote, options)
		}
	}
}
