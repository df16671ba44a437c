package untrusted_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/base/archive"
	"github.com/goatnote-inc/pawl/internal/forge/comment"
	"github.com/goatnote-inc/pawl/internal/forge/untrusted"
	"github.com/goatnote-inc/pawl/internal/forge/untrusted/untrustedtest"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

func terms(t *testing.T, text string) untrusted.Terms {
	t.Helper()
	s, err := suite.Parse("pawl.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return untrusted.Terms{
		Suite: s, Heads: []string{untrustedtest.Head},
		Base: func(commit string) bool { return commit == untrustedtest.Base },
	}
}

var now = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

func verdicts(r ratchet.Result) map[string]ratchet.Verdict {
	m := map[string]ratchet.Verdict{}
	for _, c := range r.Cases {
		m[c.Name] = c.Verdict
	}
	return m
}

// bend changes every case of a record.
func bend(run *measure.Run, f func(*measure.Case)) {
	for i := range run.Cases {
		f(&run.Cases[i])
	}
}

var slower = map[string]float64{"softmax/N128": 0.1}

func TestJudge(t *testing.T) {
	tests := map[string]struct {
		slower map[string]float64
		bend   func(*measure.Run)
		terms  func(*untrusted.Terms)
		accept bool
		suite  string
		want   ratchet.Verdict
		cases  map[string]ratchet.Verdict
	}{
		"honest, the same": {want: ratchet.Maintained},
		"honest, slower":   {slower: slower, want: ratchet.Regression},
		"honest, faster":   {slower: map[string]float64{"softmax/N128": -0.2}, want: ratchet.Improvement},
		"watched case is slower": {
			slower: map[string]float64{"sum/N64": 0.3}, want: ratchet.Maintained,
			cases: map[string]ratchet.Verdict{"sum/N64": ratchet.Regression},
		},
		"the record gates nothing": {
			slower: slower, want: ratchet.Regression,
			bend: func(run *measure.Run) { bend(run, func(c *measure.Case) { c.Gate = false }) },
		},
		"the record says that slower is better": {
			slower: slower, want: ratchet.Regression,
			bend: func(run *measure.Run) { bend(run, func(c *measure.Case) { c.Better = measure.Higher }) },
		},
		"a slow case is left out": {
			slower: slower, want: ratchet.Missing, cases: map[string]ratchet.Verdict{"softmax/N128": ratchet.Missing},
			bend: func(run *measure.Run) {
				run.Cases = slices.DeleteFunc(run.Cases, func(c measure.Case) bool { return c.Config == "N128" })
			},
		},
		"a slow case is called new": {
			slower: slower, want: ratchet.Inconclusive, cases: map[string]ratchet.Verdict{"softmax/N128": ratchet.Inconclusive},
			bend: func(run *measure.Run) {
				run.Cases = slices.DeleteFunc(run.Cases, func(c measure.Case) bool {
					return c.Config == "N128" && c.Implementation == measure.Base
				})
			},
		},
		"no samples at all": {
			want: ratchet.Inconclusive,
			bend: func(run *measure.Run) { bend(run, func(c *measure.Case) { c.Rounds = nil }) },
		},
		"the record says that a slow case cannot have changed": {
			slower: slower, want: ratchet.Inconclusive, cases: map[string]ratchet.Verdict{"softmax/N128": ratchet.Inconclusive},
			bend: func(run *measure.Run) {
				bend(run, func(c *measure.Case) {
					if c.Config == "N128" {
						c.Rounds, c.Unchanged = nil, measure.Skipped
					}
				})
			},
		},
		"the record says that of a case and measures it": {
			slower: slower, want: ratchet.Regression,
			bend: func(run *measure.Run) { bend(run, func(c *measure.Case) { c.Unchanged = measure.Skipped }) },
		},
		"the record accepts its own definition": {
			want: ratchet.Inconclusive,
			bend: func(run *measure.Run) {
				run.Definition, run.Accepted = &measure.Definition{Changed: []string{"harness.c"}}, "trust me"
			},
		},
		"a person accepted it": {
			want:   ratchet.Maintained,
			bend:   func(run *measure.Run) { run.Definition = &measure.Definition{Changed: []string{"harness.c"}} },
			accept: true,
		},
		"the forge knows of another suite": {
			want:  ratchet.Inconclusive,
			terms: func(t *untrusted.Terms) { t.Definition = &measure.Definition{Changed: []string{"policy"}} },
		},
		"cases of the harness": {
			slower: slower, want: ratchet.Regression, suite: "version: 1\nharness: {command: ./h}\n",
			bend: func(run *measure.Run) { bend(run, func(c *measure.Case) { c.Gate = false }) },
		},
		"cases of the harness, all new": {
			want: ratchet.Inconclusive, suite: "version: 1\nharness: {command: ./h}\n",
			bend: func(run *measure.Run) {
				run.Cases = slices.DeleteFunc(run.Cases, func(c measure.Case) bool { return c.Implementation == measure.Base })
			},
		},
		"quarantined by the base": {
			slower: slower, want: ratchet.Maintained, cases: map[string]ratchet.Verdict{"softmax/N128": ratchet.Regression},
			suite: untrustedtest.Suite + "quarantine: [{case: softmax/N128, owner: '@k', until: 2026-12-31, reason: r}]\n",
		},
		"quarantined until yesterday": {
			slower: slower, want: ratchet.Regression,
			suite: untrustedtest.Suite + "quarantine: [{case: softmax/N128, owner: '@k', until: 2026-11-14, reason: r}]\n",
		},
		"quarantined by the record": {
			slower: slower, want: ratchet.Regression,
			bend: func(run *measure.Run) { bend(run, func(c *measure.Case) { c.Quarantine = "@me, until 2099: no" }) },
		},
		"a benchmark of the harness is watched": {
			slower: slower, want: ratchet.Maintained, suite: "version: 1\nharness: {command: ./h}\nbenchmarks:\n  softmax: {gate: false}\n  sum: {}\n",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if test.suite == "" {
				test.suite = untrustedtest.Suite
			}
			run, by := untrustedtest.Record(test.slower), terms(t, test.suite)
			if test.bend != nil {
				test.bend(run)
			}
			if test.terms != nil {
				test.terms(&by)
			}
			c := untrusted.Claim{Run: run, Verdict: ratchet.Improvement}
			if other := c.Elsewhere(by); other != nil {
				t.Fatalf("measured something else: %q", other)
			}
			held, whole, err := c.ApplyTerms(by)
			if err != nil {
				t.Fatal(err)
			}
			got := comment.Judge(held, whole, ratchet.Default(), test.accept, now).Result
			if got.Verdict != test.want {
				t.Errorf("verdict %s, want %s: %s", got.Verdict, test.want, got.Sentence)
			}
			for name, want := range test.cases {
				if v := verdicts(*got)[name]; v != want {
					t.Errorf("%s is %q, want %s", name, v, want)
				}
			}
		})
	}
}

func TestElsewhere(t *testing.T) {
	for name, test := range map[string]struct {
		bend func(*measure.Run)
		want string
	}{
		"another head":    {func(r *measure.Run) { r.Implementations[0].Commit = untrustedtest.Base }, "the candidate is commit"},
		"another base":    {func(r *measure.Run) { r.Implementations[1].Commit = untrustedtest.Head }, "the base is commit"},
		"no commit":       {func(r *measure.Run) { r.Implementations[0].Commit = "" }, "the candidate is commit"},
		"other changes":   {func(r *measure.Run) { r.Implementations[0].Dirty = true }, "a tree with uncommitted changes"},
		"one side":        {func(r *measure.Run) { r.Implementations = r.Implementations[:1] }, "does not have both sides"},
		"less trust":      {func(r *measure.Run) { r.Trust = measure.SelfTimed }, "trust"},
		"another device":  {func(r *measure.Run) { r.Device.Kind = gpu.CPU }, "device of kind"},
		"a name too long": {func(r *measure.Run) { r.Implementations[0].Commit = strings.Repeat("x", 5000) }, "the candidate is commit"},
	} {
		t.Run(name, func(t *testing.T) {
			run := untrustedtest.Record(nil)
			test.bend(run)
			got := strings.Join(untrusted.Claim{Run: run}.Elsewhere(terms(t, untrustedtest.Suite+"device: {kind: nvidia}\n")), "\n")
			if !strings.Contains(got, test.want) || len(got) > 300 {
				t.Errorf("it says %.400q, want %q", got, test.want)
			}
		})
	}
}

// write lays out results as a job leaves them.
func write(t *testing.T, run *measure.Run, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	if run != nil {
		if err := measure.Save(filepath.Join(dir, untrusted.Record), run); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestRead(t *testing.T) {
	c, err := untrusted.Read(write(t, untrustedtest.Record(nil), map[string]string{
		untrusted.Code: "1\n", untrusted.Verdict: `{"verdict": "regression", "stopped": {"step": "build", "side": "candidate", "why": "no"}}`,
	}))
	if err != nil {
		t.Fatal(err)
	}
	if c.Run == nil || c.Code != 1 || c.Verdict != ratchet.Regression || c.Stopped == nil || c.Stopped.Step != "build" {
		t.Errorf("read %+v", c)
	}
	dir := t.TempDir()
	if err := measure.Save(filepath.Join(dir, untrusted.CompressedRecord), untrustedtest.Record(nil)); err != nil {
		t.Fatal(err)
	}
	if c, err := untrusted.Read(dir); err != nil || c.Run == nil || c.Code != -1 {
		t.Errorf("packed: %+v, error %v", c, err)
	}
	for _, code := range []string{"", "yes", "-1", "1e3", "99999999999"} {
		if c, err := untrusted.Read(write(t, nil, map[string]string{untrusted.Code: code})); err != nil || c.Code != -1 {
			t.Errorf("exit code %q: %d, error %v", code, c.Code, err)
		}
	}
	if c, _ := untrusted.Read(write(t, nil, map[string]string{untrusted.Verdict: `{"verdict": "success"}`})); c.Verdict != "" {
		t.Errorf("a verdict nobody knows: %q", c.Verdict)
	}
}

func TestReadRefuses(t *testing.T) {
	for name, bend := range map[string]func(*measure.Run){
		"imported":         func(r *measure.Run) { r.Source = measure.Imported },
		"a negative time":  func(r *measure.Run) { r.Cases[0].Rounds[0].Samples[3] = -1 },
		"no time":          func(r *measure.Run) { r.Cases[0].Rounds[0].Samples[3] = 0 },
		"eleven days":      func(r *measure.Run) { r.Cases[0].Rounds[0].Samples[3] = 1e16 },
		"a case twice":     func(r *measure.Run) { r.Cases = append(r.Cases, r.Cases[0]) },
		"hot and hot":      func(r *measure.Run) { c := r.Cases[0]; c.Cache = measure.Hot; r.Cases = append(r.Cases, c) },
		"a side twice":     func(r *measure.Run) { r.Implementations = append(r.Implementations, r.Implementations[0]) },
		"a round twice":    func(r *measure.Run) { r.Cases[0].Rounds[1].Round = 0 },
		"round of nowhere": func(r *measure.Run) { r.Cases[0].Rounds[1].Round = 1 << 40 },
		"too many rounds":  func(r *measure.Run) { r.Rounds = make([]measure.Round, 5000) },
	} {
		run := untrustedtest.Record(nil)
		bend(run)
		if _, err := untrusted.Read(write(t, run, nil)); !errors.Is(err, archive.ErrRejected) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	for name, text := range map[string]string{
		"no record":   "{}",
		"a list":      "[]",
		"deep":        `{"schema":"pawl.run/v1","x":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + "}",
		"NaN":         `{"schema":"pawl.run/v1","cases":[{"rounds":[{"samples":[NaN]}]}]}`,
		"infinity":    `{"schema":"pawl.run/v1","cases":[{"benchmark":"a","rounds":[{"round":0,"samples":[1e999]}]}]}`,
		"name twice":  `{"schema":"pawl.run/v1","source":"measured","source":"imported"}`,
		"a long word": `{"schema":"` + strings.Repeat("x", 1<<17) + `"}`,
	} {
		if _, err := untrusted.Read(write(t, nil, map[string]string{untrusted.Record: text})); !errors.Is(err, archive.ErrRejected) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	dir := f.TempDir()
	run := untrustedtest.Record(nil)
	for i := range run.Cases {
		run.Cases[i].Rounds = run.Cases[i].Rounds[:1]
	}
	if err := measure.Save(filepath.Join(dir, "r"), run); err != nil {
		f.Fatal(err)
	}
	record, err := os.ReadFile(filepath.Join(dir, "r"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(record, []byte(`{"verdict":"improvement"}`))
	f.Add([]byte(`{"record":"header"}`), []byte(`{"stopped":null}`))
	f.Fuzz(func(t *testing.T, record, verdict []byte) {
		dir := t.TempDir()
		if err := errors.Join(os.WriteFile(filepath.Join(dir, untrusted.Record), record, 0o600), os.WriteFile(filepath.Join(dir, untrusted.Verdict), verdict, 0o600)); err != nil {
			t.Fatal(err)
		}
		c, err := untrusted.Read(dir)
		if err != nil || c.Run == nil {
			return
		}
		c.Elsewhere(terms(t, untrustedtest.Suite))
		held, whole, err := c.ApplyTerms(terms(t, untrustedtest.Suite))
		if err == nil && comment.Judge(held, whole, ratchet.Default(), false, now).Result.Verdict == "" {
			t.Error("no verdict at all")
		}
	})
}
