package client_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/measure/samplecodec"
	"github.com/goatnote-inc/pawl/ratchet"
)

// repository is a clone with three commits, a day apart.
func repository(t *testing.T) (dir, head string) {
	t.Helper()
	dir = t.TempDir()
	git := func(day int, args ...string) string {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = dir
		at := fmt.Sprintf("2026-11-%02dT08:00:00+02:00", day)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=a@example.com",
			"GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=a@example.com", "GIT_AUTHOR_DATE="+at, "GIT_COMMITTER_DATE="+at)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git(1, "init", "-q", "-b", "trunk", ".")
	if err := os.MkdirAll(filepath.Join(dir, ".github"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".github", "CODEOWNERS"), []byte("/kernels/ @octo/kernels\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	git(1, "add", "-A")
	git(1, "commit", "-q", "-m", "one")
	git(2, "commit", "-q", "--allow-empty", "-m", "two \x1b[31mred\x1b[0m")
	git(3, "commit", "-q", "--allow-empty", "-m", "three\n\nand more")
	return dir, git(3, "rev-parse", "HEAD")
}

// results is a results folder of pawl run.
func results(t *testing.T, commit string) (string, *measure.Run) {
	t.Helper()
	dir := t.TempDir()
	run := &measure.Run{Header: measure.Header{
		Schema: measure.SchemaRun, ID: "01JCPT3Y3JQK6Z0Q8W3V5N7D9F", Created: now.Add(-time.Hour), Pawl: "0.8.0", Source: measure.Measured, Trust: measure.Trusted,
		Suite:  measure.SuiteRef{Name: "attention", Path: "pawl.yaml"},
		Device: gpu.Identity{Kind: gpu.NVIDIA, Name: "NVIDIA L4"}, Testbed: measure.Testbed{Kind: gpu.NVIDIA, Device: "NVIDIA L4", Clocks: gpu.ClockPolicy{Mode: gpu.ClocksFree}},
		Implementations: []measure.Implementation{{Name: measure.Candidate, Commit: commit}, {Name: measure.Base, Commit: sha(1)}, {Name: "sdpa"}},
	}}
	run.Calibration = []measure.Calibration{{When: "open", Kernel: "k", Timer: measure.TimerDevice, Samples: measure.Samples{10, 11, 12}}}
	state := func(temperature, clock float64) *gpu.State {
		return &gpu.State{At: now, TemperatureC: temperature, SMClockMHz: clock, PowerW: 60}
	}
	for i := range 4 {
		r := measure.Round{Index: i, Sides: []measure.Side{{Implementation: measure.Candidate, Started: now, After: state(60+float64(i), 1500+float64(i))}}}
		if i == 3 {
			r.Dropped = "throttled"
		}
		run.Rounds = append(run.Rounds, r)
	}
	for _, side := range []string{measure.Candidate, measure.Base, "sdpa"} {
		c := measure.Case{CaseKey: measure.CaseKey{Benchmark: "attention", Config: "S512", Implementation: side}, Unit: "ns", Timer: measure.TimerDevice}
		for i, middle := range []float64{1000, 1010, 1020, 9999} {
			c.Rounds = append(c.Rounds, measure.CaseRound{Round: i, Samples: measure.Samples{middle - 5, middle, middle + 5}, Clocks: measure.Samples{1500, 1500, 1500}})
		}
		run.Cases = append(run.Cases, c)
	}
	run.Cases = append(run.Cases, measure.Case{
		CaseKey: measure.CaseKey{Benchmark: "attention", Config: "S1024", Implementation: measure.Candidate}, Unit: "ns",
		Rounds: []measure.CaseRound{{Round: 0, Error: "out of memory", Samples: measure.Samples{}}},
	})
	run.End = measure.End{State: measure.Complete, Seconds: 12.5, Dollars: 0.25}
	if err := measure.Save(filepath.Join(dir, "current.json"), run); err != nil {
		t.Fatal(err)
	}
	return dir, run
}

func addVerdict(t *testing.T, dir, run string) {
	t.Helper()
	key := measure.CaseKey{Benchmark: "attention", Config: "S512", Implementation: measure.Candidate}
	base := ratchet.Judgment{Name: "attention/S512", CaseKey: key, Verdict: ratchet.Improvement}
	gain := base
	gain.Facts = &ratchet.Facts{Base: ratchet.Side{Median: 1100}}
	doc := struct {
		ratchet.Result
		Run   string
		Gain  ratchet.Result
		Moved []string
		Whys  []string
	}{
		ratchet.Result{Schema: ratchet.Schema, Verdict: ratchet.Improvement, Sentence: "8 % faster.\nReally.", Cases: []ratchet.Judgment{base}},
		run,
		ratchet.Result{Cases: []ratchet.Judgment{gain}},
		[]string{"attention/S512"},
		[]string{"fewer loads"},
	}
	text, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	for old, name := range map[string]string{`"Run"`: `"run"`, `"Gain"`: `"gain"`, `"Moved"`: `"moved"`, `"Whys"`: `"whys"`} {
		text = bytes.Replace(text, []byte(old), []byte(name), 1)
	}
	if err := os.WriteFile(filepath.Join(dir, "verdict.json"), text, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestNewReport(t *testing.T) {
	clone, head := repository(t)
	dir, run := results(t, head)
	addVerdict(t, dir, run.ID)
	in := client.Input{
		Results: dir, Repository: clone, Now: now, Pull: 12,
		Path: func(s measure.SuiteRef, benchmark string) string { return "kernels/" + benchmark + ".cu" },
	}
	got, list, err := client.NewReport(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	day := func(n int) *time.Time {
		at := time.Date(2026, 11, n, 6, 0, 0, 0, time.UTC)
		return &at
	}
	want := &client.Report{
		Schema: client.SchemaReport, Run: run.ID, Measured: now.Add(-time.Hour), Pawl: "0.8.0", Suite: "attention",
		Commit: client.Commit{SHA: head, Parent: got.History[0].SHA, At: day(3), Author: "Ada", Title: "three"}, Branch: "trunk", Pull: 12,
		History: []client.Commit{
			{SHA: got.History[0].SHA, Parent: got.History[1].SHA, At: day(2), Author: "Ada", Title: "two  [31mred [0m"},
			{SHA: got.History[1].SHA, At: day(1), Author: "Ada", Title: "one"},
		},
		Trust: measure.Trusted, Device: run.Device, Testbed: run.Testbed,
		Health:  client.Health{TemperatureC: 63, SMClockMHz: 1501.5, PowerW: 60, Calibration: 11, Noise: got.Health.Noise, Dropped: 1, Seconds: 12.5, Dollars: 0.25},
		Verdict: ratchet.Improvement, Sentence: "8 % faster. Really.", Blobs: got.Blobs,
		Points: []client.Point{
			{
				CaseKey: run.Cases[0].CaseKey, Unit: "ns", Timer: measure.TimerDevice, Value: 1010, Low: 1000, High: 1020, Spread: 10.0 / 1010, Rounds: 3, Samples: 9,
				Verdict: ratchet.Improvement, Baseline: 1100, Moved: true, Path: "kernels/attention.cu", Owners: []string{"@octo/kernels"},
			},
			{
				CaseKey: run.Cases[2].CaseKey, Unit: "ns", Timer: measure.TimerDevice, Value: 1010, Low: 1000, High: 1020, Spread: 10.0 / 1010, Rounds: 3, Samples: 9,
				Path: "kernels/attention.cu", Owners: []string{"@octo/kernels"},
			},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got.Health.Noise != got.Points[0].Spread {
		t.Errorf("noise %v", got.Health.Noise)
	}
	kinds := map[client.BlobKind]client.File{}
	for _, f := range list {
		kinds[f.Kind] = f
	}
	if len(list) != 4 || len(kinds) != 4 {
		t.Fatalf("files %+v", list)
	}
	stripped := measureDocument(t, kinds[client.BlobRecord])
	back, err := samplecodec.Join(stripped, kinds[client.BlobSamples].Data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(run.Cases, back.Cases); diff != "" {
		t.Errorf("the record does not come back:\n%s", diff)
	}
	if text := unpack(t, kinds[client.BlobWhy]); string(text) != `["fewer loads"]` {
		t.Errorf("why: %s", text)
	}

	// The same results give the same report, whole and to the byte.
	again, _, err := client.NewReport(t.Context(), in)
	if err != nil || !bytes.Equal(encode(t, got), encode(t, again)) {
		t.Errorf("another report of the same results: %v", err)
	}
}

func unpack(t *testing.T, f client.File) []byte {
	t.Helper()
	r, err := f.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	z, err := zstd.NewReader(r)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func measureDocument(t *testing.T, f client.File) *measure.Run {
	t.Helper()
	path := filepath.Join(t.TempDir(), "record.json")
	if err := os.WriteFile(path, unpack(t, f), 0o600); err != nil {
		t.Fatal(err)
	}
	run, err := measure.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// Without a clone, without a verdict: the commit is reported as the record names it.
func TestNewReportOfARecordAlone(t *testing.T) {
	dir, run := results(t, sha(7))
	addVerdict(t, dir, "01JCPT3Y3JQK6Z0Q8W3V5N7D9G") // on another run
	elsewhere, _ := repository(t)
	for _, where := range []string{"", elsewhere} {
		r, list, err := client.NewReport(t.Context(), client.Input{Results: filepath.Join(dir, "current.json"), Repository: where, Now: now, Branch: "b\nc"})
		if err != nil {
			t.Fatal(err)
		}
		if r.Commit.SHA != sha(7) || r.Commit.At != nil || r.History != nil || r.Verdict != "" || r.Branch != "b c" || len(list) != 2 || r.Run != run.ID {
			t.Errorf("%+v, %d files", r, len(list))
		}
	}
}

// Profiles go along. What is a link does not: it may lead anywhere.
func TestNewReportTakesProfiles(t *testing.T) {
	dir, _ := results(t, sha(7))
	if err := os.Mkdir(filepath.Join(dir, "profiles"), 0o755); err != nil {
		t.Fatal(err)
	}
	secret := filepath.Join(t.TempDir(), "secret")
	for path, text := range map[string]string{
		secret: "a secret", filepath.Join(dir, "profiles", "a.ncu-rep"): "profile a", filepath.Join(dir, "profiles", "a again.ncu-rep"): "profile a",
		filepath.Join(dir, "profiles", "b.nsys-rep"): "profile b", filepath.Join(dir, "profiles", "b.txt"): "text", filepath.Join(dir, "profiles", "empty.ncu-rep"): "",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(secret, filepath.Join(dir, "profiles", "link.ncu-rep")); err != nil {
		t.Fatal(err)
	}
	r, list, err := client.NewReport(t.Context(), client.Input{Results: dir, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range list {
		names = append(names, f.Name)
	}
	if diff := cmp.Diff([]string{"current.json.zst", "samples", "a again.ncu-rep", "b.nsys-rep"}, names); diff != "" || len(r.Blobs) != 4 {
		t.Error(diff)
	}
}

func TestNewReportRefuses(t *testing.T) {
	change := func(f func(*measure.Run)) string {
		dir, run := results(t, sha(7))
		f(run)
		if err := measure.Save(filepath.Join(dir, "current.json"), run); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	unmeasured := func(verdict string) string {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "verdict.json"), []byte(`{"schema":"pawl.verdict/v1","verdict":"`+verdict+`"}`), 0o600); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	for name, tc := range map[string]struct{ dir, want string }{
		"identical":    {unmeasured("identical"), client.ErrIdentical.Error()},
		"broken":       {unmeasured("broken"), "no such file"},
		"no folder":    {filepath.Join(t.TempDir(), "nowhere"), "no such file"},
		"empty folder": {t.TempDir(), "no such file"},
		"no commit":    {change(func(r *measure.Run) { r.Implementations = nil }), "has no commit"},
		"no rounds":    {change(func(r *measure.Run) { r.Cases = r.Cases[3:] }), "no case with a valid round"},
		"no device":    {change(func(r *measure.Run) { r.Device.Name = "" }), "/device/name"},
		"the future":   {change(func(r *measure.Run) { r.Created = now.Add(48 * time.Hour) }), "/measured: is in the future"},
	} {
		_, _, err := client.NewReport(t.Context(), client.Input{Results: tc.dir, Now: now})
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
		if want := name == "no commit" || name == "no rounds" || name == "identical"; errors.Is(err, client.ErrNothingToReport) != want {
			t.Errorf("%s: nothing to report? %v", name, err)
		}
	}
}
