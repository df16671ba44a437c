package ledger_test

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/judge/ledger"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

func migration() ledger.Migration {
	return ledger.Migration{
		Benchmark: "attention", Testbed: measure.Testbed{Kind: gpu.NVIDIA, Device: "NVIDIA L4"}, Timer: measure.TimerDevice,
		Now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Actor: "ada",
		Resolve: func(commit string) (string, error) {
			if !strings.HasPrefix(commit, "abc") {
				return "", errors.New("gone")
			}
			return strings.Repeat("abc0", 10), nil
		},
	}
}

func TestMigrate(t *testing.T) {
	f, err := os.Open("testdata/baseline.json")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	entries, err := ledger.Migrate(f, migration())
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		Case, Commit, Reason string
		Rounds               []float64
	}
	var got []row
	for _, e := range entries {
		got = append(got, row{e.Case, e.Commit, e.Reason, e.Session.Rounds})
	}
	want := []row{
		{"attention/B32_H8_S128_D64", "", `best time in the migrated file; its commit "unknown" could not be resolved`, []float64{60416.25}},
		{"attention/B32_H8_S256_D64", "", "best time in the migrated file", []float64{99328.5}},
		{"attention/B32_H8_S512_D64", strings.Repeat("abc0", 10), `best time in the migrated file, dated "2025-10-13T05:41:29.123456"`, []float64{320511.75}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}

	// It goes into an empty ledger, and only there.
	l := open(t, ledger.Location{Dir: t.TempDir()})
	all := func(ledger.State) ([]ratchet.Entry, error) { return entries, nil }
	if _, err := l.Append(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append(t.Context(), all); err == nil || !strings.Contains(err.Error(), "there is a baseline, or one was reset") {
		t.Errorf("migrated twice: %v", err)
	}

	// By itself it decides nothing, however much slower the candidate is.
	state, err := l.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	base, ok := state.Baselines.Find("attention/B32_H8_S512_D64", ratchet.NewTestbed(migration().Testbed, measure.TimerDevice))
	if !ok {
		t.Fatal("it is not found")
	}
	candidate := ratchet.Evidence{Unit: "ns", Gate: true, HasCandidate: true}
	for i := range 32 {
		candidate.Candidate = append(candidate.Candidate, ratchet.NewRound(measure.CaseRound{Round: i, Samples: []float64{640000 + float64(i)}}, "today"))
	}
	e := base.AsBase(ratchet.Default(), candidate, ratchet.Session{Unit: "ns"})
	if got := ratchet.Judge(ratchet.Default(), []ratchet.Evidence{e}).Cases[0].Verdict; got != ratchet.Inconclusive {
		t.Errorf("against one migrated number the verdict is %s", got)
	}
}

func TestFilesThatCannotBeMigrated(t *testing.T) {
	for text, says := range map[string]string{
		``:                                       "migrate",
		`[]`:                                     "migrate",
		`{}`:                                     "0 configs",
		`{"configs":{}}`:                         "0 configs",
		`{"configs":{"a":{}}}`:                   "must be above 0",
		`{"configs":[{"a":1}]}`:                  "expected {",
		`{"configs":{"a":{"median_ms":-1}}}`:     "must be above 0",
		`{"configs":{"a":{"median_ms":"fast"}}}`: "expected {",
		`{"configs":{"a\nb":{"median_ms":1}}}`:   "must be one line of text",
		`{"configs":{"a":{"median_ms":1},"a":{"median_ms":2}}}`: "duplicate",
		`{"performance":{"mean_time_ms":1}}`:                    "0 configs",
	} {
		if _, err := ledger.Migrate(strings.NewReader(text), migration()); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want ...%s...", text, err, says)
		}
	}
	if _, err := ledger.Migrate(strings.NewReader(strings.Repeat(" ", 5<<20)), migration()); err == nil {
		t.Error("a huge file was read")
	}
	if _, err := ledger.Migrate(strings.NewReader(`{"configs":{"a":{"median_ms":1}}}`), ledger.Migration{}); err == nil {
		t.Error("a file was migrated to nowhere")
	}
}

// Whatever the file, what comes of it can be recorded.
func FuzzMigrate(f *testing.F) {
	seed, err := os.ReadFile("testdata/baseline.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, err := ledger.Migrate(bytes.NewReader(data), migration())
		if err != nil {
			return
		}
		if _, err := ratchet.Fold(entries); err != nil {
			t.Fatal(err)
		}
		lines, _, err := ratchet.Head{}.Seal(entries)
		if err != nil {
			t.Fatal(err)
		}
		if _, faults := ratchet.Inspect(lines); len(faults) > 0 {
			t.Fatal(faults)
		}
	})
}
