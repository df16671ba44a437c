package store_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/base/testrun"
	"github.com/goatnote-inc/pawl/internal/forge/identity"
	"github.com/goatnote-inc/pawl/internal/server/alert"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/store/fsck"
	"github.com/goatnote-inc/pawl/internal/server/store/pointstore"
)

// exportedLines returns the runs and points of an export, without the numbers that they got by chance.
func exportedLines(t testing.TB, s *store.Store, project int64) string {
	t.Helper()
	var b bytes.Buffer
	if err := s.Export(t.Context(), project, &b); err != nil {
		t.Fatal(err)
	}
	names, runs := map[int64]string{}, map[int64]string{}
	var lines []string
	for text := range strings.Lines(b.String()) {
		var line struct {
			Kind   string
			Series int64
			Data   json.RawMessage
		}
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatal(err)
		}
		switch line.Kind {
		case "series":
			var one client.Series
			decodeLine(t, line.Data, &one)
			names[one.ID] = one.String()
		case "run":
			var run client.Run
			decodeLine(t, line.Data, &run)
			runs[run.ID] = run.Run
			lines = append(lines, fmt.Sprintf("run %s %s %s %d", run.Run, run.Commit, run.At, run.Points))
		case "point":
			var p client.StoredPoint
			decodeLine(t, line.Data, &p)
			lines = append(lines, fmt.Sprintf("point %s %s %s %v %v", names[line.Series], runs[p.Report], p.At, p.Value, p.Verdict))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func decodeLine(t testing.TB, data []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}

// poisoned is a history with a step, in which some runs are far off.
func poisoned(r *rand.Rand, n int) (reports []*client.Report, bad map[int]bool) {
	step := n/3 + r.IntN(n/3)
	bad = map[int]bool{}
	for i := range n {
		one := reportNo(i, 2)
		factor := 1.0
		if i >= step {
			factor = 1.3
		}
		if r.IntN(5) == 0 {
			bad[i], factor = true, factor*(2+3*r.Float64())
		}
		for k := range one.Points {
			p := &one.Points[k]
			p.Value, p.Low, p.High = p.Value*factor, p.Low*factor, p.High*factor
		}
		reports = append(reports, one)
	}
	return reports, bad
}

// Runs are sent, excluded and restored in any order, between scans and compactions. What is known in the end
// is what is known if the excluded ones were never sent; with all restored, what is known if none was excluded.
func TestExclude_IsAsIfNeverSent(t *testing.T) {
	schedules := uint64(12)
	if testrun.Nightly() {
		schedules = 1000
	}
	s, _ := opened(t)
	for seed := range schedules {
		if t.Failed() {
			return
		}
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { excludeSchedule(t, s, seed) })
	}
	problems, err := fsck.Run(t.Context(), s, fsck.Options{})
	if err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
}

func excludeSchedule(t *testing.T, s *store.Store, seed uint64) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 24))
	reports, bad := poisoned(r, 24+r.IntN(24))
	p := projectNamed(t, s, fmt.Sprint("changed-", seed))
	ids := map[int]int64{}
	out := map[int]bool{}
	toggle := func(i int) {
		t.Helper()
		var err error
		if out[i] {
			err = s.RestoreRun(t.Context(), p, ids[i], "test")
		} else {
			err = s.ExcludeRun(t.Context(), p, ids[i], "test", "far off")
		}
		if err != nil {
			t.Fatal(err)
		}
		out[i] = !out[i]
	}
	for _, i := range r.Perm(len(reports)) {
		ids[i] = ingest(t, s, p, reports[i], client.Main).Report
		switch r.IntN(8) {
		case 0:
			look(t, s, p)
		case 1:
			if _, err := s.Compact(t.Context(), pointstore.CompactOptions{Project: p, Before: noon}); err != nil {
				t.Fatal(err)
			}
		case 2, 3:
			toggle(slices.Sorted(maps.Keys(ids))[r.IntN(len(ids))])
		}
	}
	for i := range reports { // in the end the bad ones are out
		if out[i] != bad[i] {
			toggle(i)
		}
	}
	rest, all := projectNamed(t, s, fmt.Sprint("rest-", seed)), projectNamed(t, s, fmt.Sprint("all-", seed))
	for i, one := range reports {
		if !bad[i] {
			ingest(t, s, rest, one, client.Main)
		}
		ingest(t, s, all, one, client.Main)
	}
	compare := func(what string, with int64) {
		t.Helper()
		look(t, s, p)
		look(t, s, with)
		if diff := cmp.Diff(reportedCommits(t, s, with), reportedCommits(t, s, p)); diff != "" {
			t.Errorf("%s: events differ (-want +got):\n%s", what, diff)
		}
		if diff := cmp.Diff(exportedLines(t, s, with), exportedLines(t, s, p)); diff != "" {
			t.Errorf("%s: exports differ (-want +got):\n%s", what, diff)
		}
	}
	compare("excluded", rest)
	for i := range bad {
		toggle(i)
	}
	compare("restored", all)
}

// A run that is excluded or deleted has the same receipt as before, and does not come back by being sent
// again.
func TestExclude_KeepsTheReceipt(t *testing.T) {
	s, url := opened(t)
	p := projectNamed(t, s, "kernels")
	for n := range 3 {
		ingest(t, s, p, reportNo(n, 2), client.Main)
	}
	first := ingest(t, s, p, reportNo(3, 2), client.Main)
	again := func() {
		t.Helper()
		got := ingest(t, s, p, reportNo(3, 2), client.Main)
		if !got.Again || got.Report != first.Report || got.Points != first.Points || !got.Received.Equal(first.Received) {
			t.Errorf("the receipt is %+v, was %+v", got, first)
		}
	}
	if err := s.DeleteRun(t.Context(), p, first.Report, "ada"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a run that is not excluded was deleted: %v", err)
	}
	if err := s.ExcludeRun(t.Context(), p, first.Report, "ada", ""); err == nil {
		t.Error("a run was excluded without a reason")
	}
	if err := s.ExcludeRun(t.Context(), p, first.Report, "ada", "wrong machine"); err != nil {
		t.Fatal(err)
	}
	if err := s.ExcludeRun(t.Context(), p, first.Report, "ada", "wrong machine"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("it was excluded twice: %v", err)
	}
	again()
	if _, err := s.Run(t.Context(), p, first.Report); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("it is still there: %v", err)
	}
	if err := s.DeleteRun(t.Context(), p, first.Report, "ada"); err != nil {
		t.Fatal(err)
	}
	again()
	if err := s.RestoreRun(t.Context(), p, first.Report, "ada"); !errors.Is(err, store.ErrDeleted) {
		t.Errorf("a deleted run was restored: %v", err)
	}
	list, err := s.ExcludedRuns(t.Context(), p)
	if err != nil || len(list) != 1 || list[0].Reason != "wrong machine" || list[0].Actor != "ada" || list[0].Deleted == nil {
		t.Errorf("%+v, %v", list, err)
	}
	log, err := s.AuditLog(t.Context(), p, 0, 10)
	if err != nil || len(log) != 2 || log[0].Action != "run.delete" || log[1].Action != "run.exclude" || log[1].Detail["reason"] != "wrong machine" {
		t.Errorf("%+v, %v", log, err)
	}
	if n := ask(t, url, `select count(*) from pawl.point`); n != 6 {
		t.Errorf("%d points are left", n)
	}
	if problems, err := fsck.Run(t.Context(), s, fsck.Options{}); err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
	if _, err := s.DeleteProject(t.Context(), p, nil); err != nil {
		t.Fatal(err)
	}
	if n := ask(t, url, `select count(*) from pawl.excluded`); n != 0 {
		t.Errorf("%d excluded runs outlive their project", n)
	}
}

// A series whose runs are all excluded has no events and no state.
func TestExclude_LeavesNothingOfAnEmptySeries(t *testing.T) {
	s, url := opened(t)
	p := projectNamed(t, s, "kernels")
	var ids []int64
	for n := range 60 {
		ids = append(ids, ingest(t, s, p, stepped(n, 40), client.Main).Report)
	}
	look(t, s, p)
	want := reportedCommits(t, s, p)
	if ask(t, url, `select count(*) from pawl.event`) == 0 {
		t.Fatal("no event was found")
	}
	for _, id := range ids {
		if err := s.ExcludeRun(t.Context(), p, id, "ada", "all wrong"); err != nil {
			t.Fatal(err)
		}
	}
	look(t, s, p)
	for _, table := range []string{"event", "event_group", "trend_state", "point", "tile", "report", "dirty"} {
		if n := ask(t, url, `select count(*) from pawl.`+table); n != 0 {
			t.Errorf("%d rows are left in %s", n, table)
		}
	}
	for _, id := range ids {
		if err := s.RestoreRun(t.Context(), p, id, "ada"); err != nil {
			t.Fatal(err)
		}
	}
	look(t, s, p)
	if diff := cmp.Diff(want, reportedCommits(t, s, p)); diff != "" {
		t.Errorf("restored (-want +got):\n%s", diff)
	}
}

// An excluded series is in no list and has no events; the others are as if it had never been measured. Its
// points are kept, and reports keep adding to them.
func TestExcludeSeries(t *testing.T) {
	s, _ := opened(t)
	p, without := projectNamed(t, s, "kernels"), projectNamed(t, s, "without")
	send := func(from, to int) {
		for n := from; n < to; n++ {
			ingest(t, s, p, stepped(n, 40), client.Main)
			rest := stepped(n, 40)
			rest.Points = rest.Points[:2]
			ingest(t, s, without, rest, client.Main)
		}
		look(t, s, p)
		look(t, s, without)
	}
	send(0, 60)
	list, err := s.SeriesList(t.Context(), p, store.SeriesQuery{})
	if err != nil || len(list) != 3 {
		t.Fatalf("%v, %v", list, err)
	}
	id := list[slices.IndexFunc(list, func(one client.Series) bool { return strings.Contains(one.Name, "N2") })].ID
	whole := reportedCommits(t, s, p)
	if err := s.ExcludeSeries(t.Context(), p, id, "ada", "measures the wrong kernel"); err != nil {
		t.Fatal(err)
	}
	if err := s.ExcludeSeries(t.Context(), p, id, "ada", "again"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("it was excluded twice: %v", err)
	}
	look(t, s, p)
	compare := func() {
		t.Helper()
		if diff := cmp.Diff(reportedCommits(t, s, without), reportedCommits(t, s, p)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if list, err := s.SeriesList(t.Context(), p, store.SeriesQuery{}); err != nil || len(list) != 2 {
			t.Errorf("%d series are listed, %v", len(list), err)
		}
		if strings.Contains(exportedLines(t, s, p), "N2") {
			t.Error("the export has its points")
		}
	}
	compare()
	if _, err := s.Compact(t.Context(), pointstore.CompactOptions{Project: p, Before: noon}); err != nil {
		t.Fatal(err)
	}
	if err := s.RestoreSeries(t.Context(), p, id, "ada"); err != nil {
		t.Fatal(err)
	}
	look(t, s, p)
	if diff := cmp.Diff(whole, reportedCommits(t, s, p)); diff != "" {
		t.Errorf("restored (-want +got):\n%s", diff)
	}
	if err := s.ExcludeSeries(t.Context(), p, id, "ada", "measures the wrong kernel"); err != nil {
		t.Fatal(err)
	}
	send(60, 70)
	compare()
	if problems, err := fsck.Run(t.Context(), s, fsck.Options{}); err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
}

// Each bound on what people can create is held.
func TestBoundsAreHeld(t *testing.T) {
	s, _ := opened(t)
	p := projectNamed(t, s, "kernels")
	s.SetBounds(store.Bounds{Series: 10, PointsPerDay: 100, BlobBytes: 1000, Hooks: 2, Keys: 2, Members: 1, Rules: 1})
	refused := func(what string, err error) {
		t.Helper()
		if q, ok := errors.AsType[*store.QuotaError](err); !ok || q.What != what {
			t.Errorf("%v, want a quota of %s", err, what)
		}
	}
	tooMany(t, s, p, refused)
	ingest(t, s, p, reportNo(0, 10), client.Main)
	_, err := s.Ingest(t.Context(), p, incoming(reportNo(1, 11), client.Main))
	refused("series", err)
	for n := 2; n < 11; n++ {
		ingest(t, s, p, reportNo(n, 10), client.Main)
	}
	_, err = s.Ingest(t.Context(), p, incoming(reportNo(11, 10), client.Main))
	refused("points per day", err)
	refused("bytes of blobs", s.CheckBlobQuota(t.Context(), p, 1001, client.Main))
	project, err := s.ProjectByID(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	uses, err := s.Uses(t.Context(), project)
	if err != nil {
		t.Fatal(err)
	}
	used := map[string][2]int64{}
	for _, u := range uses {
		used[u.Name] = [2]int64{u.Used, u.Limit}
	}
	for name, want := range map[string][2]int64{"series": {10, 10}, "hooks": {2, 2}, "keys": {2, 2}, "members": {1, 1}, "rules": {1, 1}, "points today": {100, 100}, "bytes of files": {0, 1000}} {
		if used[name] != want {
			t.Errorf("%s: %v, want %v", name, used[name], want)
		}
	}
	s.SetBounds(store.Bounds{Database: 1})
	_, err = s.Ingest(t.Context(), p, incoming(reportNo(12, 1), client.Main))
	if _, ok := errors.AsType[*store.FullError](err); !ok {
		t.Errorf("beyond the limit of the server: %v", err)
	}
	if got := ingest(t, s, p, reportNo(0, 10), client.Main); !got.Again {
		t.Error("a full server does not know its receipts")
	}
}

// tooMany creates one hook, key, member and rule more than allowed.
func tooMany(t *testing.T, s *store.Store, p int64, refused func(what string, err error)) {
	t.Helper()
	made := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	hook := func() error {
		_, err := s.AddHook(t.Context(), p, alert.Hook{Kind: "json", URL: "https://example.com/"})
		return err
	}
	key := func() (int64, error) {
		_, k, err := s.NewKey(t.Context(), p, store.Key{Name: "ci", Scopes: []store.Scope{store.ScopeRead}})
		return k.ID, err
	}
	rule := func() error {
		_, err := s.AddRule(t.Context(), p, identity.Rule{RepositoryID: 1, OwnerID: 2, DefaultBranch: "main", Events: []string{"push"}, Workflow: ".github/workflows/a.yml"})
		return err
	}
	made(hook())
	made(hook())
	refused("hooks", hook())
	id, err := key()
	made(err)
	_, err = key()
	made(err)
	_, err = key()
	refused("keys", err)
	made(s.RevokeKey(t.Context(), p, id))
	_, err = key()
	refused("keys", err) // or keys could be made and revoked without end
	made(rule())
	refused("rules", rule())
	for n, who := range []string{"ada", "lin"} {
		a, err := s.SignIn(t.Context(), "https://login.example", who, who, "")
		made(err)
		if err = s.SetMember(t.Context(), p, a.ID, store.Viewer); n == 0 {
			made(err)
			made(s.SetMember(t.Context(), p, a.ID, store.Writer)) // a new role is no new member
		} else {
			refused("members", err)
		}
	}
}
