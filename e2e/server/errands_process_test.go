package server

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/forge/identity"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/measure"
)

// jobsMaySend adds a rule for jobs of CI.
func jobsMaySend(y *try) {
	y.w.store(y.t, func(s *store.Store) {
		_, err := s.AddRule(y.t.Context(), y.id, identity.Rule{RepositoryID: 1001, OwnerID: 77, DefaultBranch: "main", Events: []string{"push"}, Workflow: ".github/workflows/pawl-ratchet.yml"})
		if err != nil {
			y.t.Fatal(err)
		}
	})
}

// sendAsJob sends a report as a job of CI does, with one token however often it tries.
func sendAsJob(ctx context.Context, y *try) {
	r := y.story.report(200)
	files := withFile(r)
	job := newSender(filepath.Join(y.w.dir, "job"), y.w.url, y.slug, "", y.notes)
	var mu sync.Mutex
	tokens := map[string]string{}
	job.client.Token = func(_ context.Context, digest string) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		if tokens[digest] == "" {
			audience := fmt.Sprintf("%s/%s?sha256=%s", publicURL, y.slug, digest)
			tokens[digest] = y.w.issuer.Sign(y.t, y.w.issuer.Claims(time.Now(), audience), map[string]any{
				"jti": rand.Text(), "sha": r.Commit.SHA, "exp": time.Now().Add(50 * time.Minute).Unix(), // the server may take its time to come back
			})
		}
		return tokens[digest], nil
	}
	y.expect(r, *r.Commit.At)
	if err := job.push(ctx, r, files); err != nil {
		y.problem("a job cannot send: %v", err)
	}
}

// pawl is pawl push of one record.
func (y *try) pawl(args ...string) *exec.Cmd {
	cmd := y.w.command(y.t, "pawl", append([]string{"push"}, args...)...)
	cmd.Dir = y.w.dir
	cmd.Env = append(cmd.Env, "PAWL_SERVER="+y.w.url, "PAWL_PROJECT="+y.slug, "PAWL_TOKEN="+y.key, "PAWL_SPOOL="+filepath.Join(y.w.dir, "pawl-spool-"+y.slug))
	return cmd
}

// pawlPush is killed on its way.
func pawlPush(_ context.Context, y *try) {
	folder := y.record()
	cmd := y.pawl(folder)
	cmd.Env = append(cmd.Env, "PAWLD_FAILPOINT_FILE="+y.w.order)
	out, err := cmd.CombinedOutput()
	if y.victim == self && (cmd.ProcessState == nil || !byKill(cmd.ProcessState)) {
		y.problem("pawl push was not killed: %v\n%s", err, out)
	}
}

// pawlPushed sends it again: what was in the spool from there alone, and the same folder
// where the spool never had it or the server answered for it.
func pawlPushed(y *try) {
	waits, _ := filepath.Glob(filepath.Join(y.w.dir, "pawl-spool-"+y.slug, "01*"))
	spooled := !slices.Contains([]string{"spool.begun", "spool.written", "spool.leaving"}, y.point)
	if y.victim == self && spooled != (len(waits) == 1) {
		y.problem("%d reports wait in the spool", len(waits))
	}
	cmd := y.pawl("--resume")
	if !spooled {
		cmd = y.pawl(filepath.Join(y.w.dir, "record-"+y.slug))
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		y.problem("pawl push: %v\n%s", err, out)
	}
	id := y.w.count(y.t, `select coalesce(max(id), 0) from pawl.report where project_id = $1 and run = $2`, y.id, y.story.run(300))
	if err := y.notes.add(client.Receipt{Run: y.story.run(300), Report: int64(id), Points: 1}); err != nil {
		y.t.Fatal(err)
	}
	y.want[y.story.run(300)] = kept{points: 1}
	left, _ := os.ReadDir(filepath.Join(y.w.dir, "pawl-spool-"+y.slug))
	if names := slices.DeleteFunc(left, func(e os.DirEntry) bool { return strings.HasPrefix(e.Name(), ".new-") }); len(names) > 0 {
		y.problem("the spool is not empty: %v", names)
	}
}

// record makes a folder of results with a small record.
func (y *try) record() string {
	run := &measure.Run{Header: measure.Header{
		Schema: measure.SchemaRun, ID: y.story.run(300), Created: time.Now().Add(-time.Hour), Source: measure.Measured, Trust: measure.Trusted, Suite: measure.SuiteRef{Name: "s"},
		Device: gpu.Identity{Kind: "cpu", Name: "a CPU"}, Testbed: measure.Testbed{Kind: "cpu", Device: "a CPU", Clocks: gpu.ClockPolicy{Mode: gpu.ClocksFree}},
		Implementations: []measure.Implementation{{Name: measure.Candidate, Commit: y.story.sha(300)}},
	}}
	c := measure.Case{CaseKey: measure.CaseKey{Benchmark: "b", Implementation: measure.Candidate}, Unit: "ns"}
	for round := range 4 {
		run.Rounds = append(run.Rounds, measure.Round{Index: round})
		c.Rounds = append(c.Rounds, measure.CaseRound{Round: round, Samples: measure.Samples{100, 101, float64(102 + round)}})
	}
	run.Cases, run.End = []measure.Case{c}, measure.End{State: measure.Complete}
	folder := filepath.Join(y.w.dir, "record-"+y.slug)
	if err := os.Mkdir(folder, 0o755); err != nil {
		y.t.Fatal(err)
	}
	if err := measure.Save(filepath.Join(folder, "current.json"), run); err != nil {
		y.t.Fatal(err)
	}
	return folder
}

// emptyDatabase is one that was never migrated.
func emptyDatabase(y *try) { y.w.exec(y.t, `create database `+y.slug) }

func (y *try) elsewhere(args ...string) *exec.Cmd {
	cmd := y.w.command(y.t, "pawld", args...)
	cmd.Env = append(cmd.Env, "PAWLD_DATABASE_URL="+y.w.pg.URL(y.slug), "PAWLD_BLOBS_URL=file://"+filepath.Join(y.w.dir, "blobs-"+y.slug))
	return cmd
}

func migrate(_ context.Context, y *try) {
	cmd := y.elsewhere("migrate")
	cmd.Env = append(cmd.Env, "PAWLD_FAILPOINT_FILE="+y.w.order)
	out, err := cmd.CombinedOutput()
	if y.victim == self && (cmd.ProcessState == nil || !byKill(cmd.ProcessState)) {
		y.problem("pawld migrate was not killed: %v\n%s", err, out)
	}
}

// migrated migrates again, and uses the database.
func migrated(y *try) {
	for _, args := range [][]string{{"migrate"}, {"migrate"}, {"project", "create", "first"}, {"fsck", "--deep"}} {
		if out, err := y.elsewhere(args...).CombinedOutput(); err != nil {
			y.problem("pawld %v: %v\n%s", args, err, out)
		}
	}
	y.w.exec(y.t, `drop database `+y.slug+` with (force)`)
}
