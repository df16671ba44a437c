package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/judge/loop"
	"github.com/goatnote-inc/pawl/internal/judge/seal"
	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// playedSide measures cases in memory. What it measures depends only on the round, so a round that was lost is measured
// again with the same result. Some cases are slower on the candidate.
type playedSide struct {
	name string
	kill func(round int) error
}

func (s playedSide) Round(_ context.Context, r trial.Request) ([]measure.Result, error) {
	if err := s.kill(r.Round); err != nil {
		return nil, err
	}
	var list []measure.Result
	for _, c := range r.Cases {
		rng := rand.New(rand.NewPCG(r.Seed, uint64(len(c.Key.Config)+len(s.name)<<8)))
		median := 1e5 * (1 + 0.01*rng.NormFloat64())
		if c.Key.Benchmark == "slower" && s.name == measure.Candidate {
			median *= 1.03
		}
		res := measure.Result{Case: c.Key, Round: measure.CaseRound{Round: r.Round, Quantum: 1, Samples: measure.Samples{median * 0.999, median, median * 1.001}}}
		list = append(list, res)
		r.Measured(res)
	}
	return list, nil
}

// played is what a gate in memory did.
type played struct {
	state loop.State
	past  []trial.PastRound
	looks []string // the loop's state after each look, as JSON
}

// play lets the loop decide on rounds, of which some are past. It is killed in round last, or never if that is negative.
func play(t *testing.T, seed uint64, past []trial.PastRound, last int) played {
	t.Helper()
	ctx, kill := context.WithCancel(t.Context())
	defer kill()
	got := played{past: slices.Clone(past)}
	d := &driver{}
	d.State = loop.Start(loop.Plan{Policy: ratchet.Default()})
	if err := d.apply(loop.Built{}); err != nil {
		t.Fatal(err)
	}
	r := NewSetup(Options{})
	var stopped error
	r.Decide = func(seen *measure.Run, over bool) (undecided []string) {
		undecided, stopped = d.look(seen, over)
		text, err := json.Marshal(d.State)
		if err = errors.Join(err, stopped); err != nil {
			t.Fatal(err)
		}
		got.looks = append(got.looks, string(text))
		return undecided
	}
	p := trial.Plan{
		Seed: seed, Growth: ratchet.Default().Looks, Past: past, Replayed: r.replayed, Now: func() time.Time { return time.Unix(0, 0) },
		Decide: func(final bool) []string { return r.Decide(r.seen, final) },
		Record: func(round measure.Round, results []measure.Result) error {
			got.past = append(got.past, trial.PastRound{Round: round, Results: results})
			r.see(round, results)
			return nil
		},
	}
	for _, name := range []string{measure.Candidate, measure.Base} {
		side := trial.Side{Name: name, Runner: playedSide{name, func(round int) error {
			if round == last {
				kill()
				return context.Canceled
			}
			return nil
		}}}
		for _, key := range []measure.CaseKey{{Benchmark: "slower"}, {Benchmark: "same", Config: "a"}, {Benchmark: "same", Config: "bb"}} {
			key.Implementation = name
			side.Cases = append(side.Cases, trial.Case{Key: key, Samples: 3})
			r.declared = append(r.declared, measure.Case{CaseKey: key, Unit: "ns", Gate: true})
		}
		p.Sides = append(p.Sides, side)
	}
	_, err := trial.Run(ctx, p)
	if killed := last >= 0; killed != errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	got.state = d.State
	return got
}

// The state of the loop after a resumption is the one it had, and the gate ends as it would have without the kill. Rounds
// go through JSON in between, as they do in a journal.
func TestResume_LoopStateIsThatOfAnUninterruptedRun(t *testing.T) {
	for seed := range uint64(6) {
		whole := play(t, seed, nil, -1)
		if whole.state.Result == nil || len(whole.past) < 4 {
			t.Fatalf("seed %d: %+v", seed, whole.state)
		}
		for cut := range len(whole.past) {
			first := play(t, seed, nil, cut)
			if len(first.past) != cut {
				t.Fatalf("%d rounds before the kill in round %d", len(first.past), cut)
			}
			second := play(t, seed, throughJSON(t, first.past), -1)
			if !slices.Equal(first.looks, second.looks[:len(first.looks)]) {
				t.Fatalf("seed %d, killed in round %d: the looks before the kill differ", seed, cut)
			}
			if diff := cmp.Diff(whole.looks, second.looks); diff != "" {
				t.Fatalf("seed %d, killed in round %d (- uninterrupted, + resumed):\n%s", seed, cut, diff)
			}
		}
	}
}

func throughJSON(t *testing.T, past []trial.PastRound) []trial.PastRound {
	t.Helper()
	text, err := json.Marshal(past)
	if err != nil {
		t.Fatal(err)
	}
	var list []trial.PastRound
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	return list
}

// resumable is a run that is about to open its journal, after one of the same question was killed.
func resumable(t *testing.T) *Setup {
	t.Helper()
	o := againOptions(t, twoImplementations)
	r := NewSetup(o)
	r.header = measure.Header{
		ID: "now", Pawl: "1.2.3", Suite: measure.SuiteRef{Digest: "s"}, Trust: measure.Trusted,
		Device: gpu.Identity{Kind: gpu.CPU, Name: "one"}, Testbed: measure.Testbed{Kind: gpu.CPU, Device: "one"},
		Plan: measure.Plan{Seed: 7, Growth: []int{4, 6}, Samples: 100},
		Implementations: []measure.Implementation{
			{Name: measure.Candidate, Commit: "c1", Build: measure.BuildFacts{Seconds: 2, Outputs: []measure.FileDigest{{Path: "h", Digest: "d1"}}}},
			{Name: measure.Base, Commit: "b1", Ref: "main", Build: measure.BuildFacts{Outputs: []measure.FileDigest{{Path: "h", Digest: "d2"}}}},
		},
	}
	for _, name := range []string{measure.Candidate, measure.Base} {
		r.declared = append(r.declared, measure.Case{CaseKey: measure.CaseKey{Benchmark: "b", Config: "N1", Implementation: name}, Unit: "ns", Timer: measure.TimerWall, Params: map[string]any{"N": 1}})
	}
	was := r.header
	was.ID, was.Implementations = "then", slices.Clone(was.Implementations)
	was.Plan.Dependence = []float64{0.1}
	was.Implementations[0].Build.Seconds, was.Implementations[0].Build.Cached = 0, true
	was.Implementations[1].Ref = "HEAD~1"
	cases := seal.WithoutRounds(r.declared)
	if err := r.addComparability(cases); err != nil {
		t.Fatal(err)
	}
	for i := range cases {
		cases[i].Rounds = []measure.CaseRound{{Samples: measure.Samples{1}}}
	}
	text, err := json.Marshal(measure.Run{Header: was, Cases: cases})
	if err != nil {
		t.Fatal(err)
	}
	r.past = &seal.Past{Run: &measure.Run{}, Seal: &seal.Seal{Question: seal.Question{Tree: "tree", Terms: "terms"}}}
	if err := json.Unmarshal(text, r.past.Run); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestDiffers(t *testing.T) {
	same := seal.Question{Tree: "tree", Terms: "terms"}
	tests := []struct {
		name   string
		change func(r *Setup, q *seal.Question)
		want   string
	}{
		{"the same question", func(*Setup, *seal.Question) {}, ""},
		{"another version", func(r *Setup, _ *seal.Question) { r.header.Pawl = "1.2.4" }, `the version of pawl was "1.2.3" and is "1.2.4"`},
		{"another suite", func(r *Setup, _ *seal.Question) { r.header.Suite.Digest = "x" }, "the suite changed"},
		{"another seed", func(r *Setup, _ *seal.Question) { r.header.Plan.Seed = 8 }, "the seed was 7 and is 8"},
		{"another plan", func(r *Setup, _ *seal.Question) { r.header.Plan.Samples = 50 }, "the plan of the measurement changed"},
		{"another device", func(r *Setup, _ *seal.Question) { r.header.Device.UUID = "GPU-2" }, "the device changed"},
		{"another testbed", func(r *Setup, _ *seal.Question) { r.header.Testbed.Driver = "550" }, "the testbed changed"},
		{"another environment", func(r *Setup, _ *seal.Question) {
			r.header.Environment.Vars = map[string]string{"OMP_NUM_THREADS": "1"}
		}, "the environment changed"},
		{"another level of trust", func(r *Setup, _ *seal.Question) { r.header.Trust = measure.Checked }, `the level of trust was "trusted" and is "checked"`},
		{"another definition", func(r *Setup, _ *seal.Question) { r.header.Definition = &measure.Definition{Changed: []string{"f"}} }, "the definition that differs from the base's changed"},
		{"another working tree", func(_ *Setup, q *seal.Question) { q.Tree = "x" }, "the working tree changed"},
		{"another baseline", func(_ *Setup, q *seal.Question) { q.Terms = "x" }, "the policy or a baseline changed"},
		{"another base", func(r *Setup, _ *seal.Question) { r.header.Implementations[1].Commit = "b2" }, `the commit of base was "b1" and is "b2"`},
		{"other outputs", func(r *Setup, _ *seal.Question) { r.header.Implementations[0].Build.Outputs[0].Digest = "x" }, "the build outputs of candidate changed"},
		{"another tool", func(r *Setup, _ *seal.Question) {
			r.header.Implementations[0].Toolchain = []measure.Tool{{Name: "python3"}}
		}, "the implementation candidate changed"},
		{"another side", func(r *Setup, _ *seal.Question) {
			r.header.Implementations = append(r.header.Implementations, measure.Implementation{Name: BaselineSide})
		}, "the list of sides changed"},
		{"another timer", func(r *Setup, _ *seal.Question) { r.declared[0].Timer = measure.TimerCPU }, "the definition of the cases changed"},
		{"a case less", func(r *Setup, _ *seal.Question) { r.declared = r.declared[:1] }, "the definition of the cases changed"},
		{"an ID of its own", func(r *Setup, _ *seal.Question) { r.ID = "mine" }, `the ID of the run was "then" and is "mine"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, q := resumable(t), same
			tt.change(r, &q)
			if why, err := r.differs(q); err != nil || why != tt.want {
				t.Errorf("%q, %v, want %q", why, err, tt.want)
			}
		})
	}
}

// sealedJournal writes a journal of one round, and its seal.
func sealedJournal(t *testing.T) (path string) {
	t.Helper()
	t.Setenv("PAWL_CACHE", t.TempDir())
	path = filepath.Join(t.TempDir(), "current.journal")
	s, err := seal.Create(path, seal.Question{Tree: "t", Terms: "u"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	j, err := measure.CreateJournal(path, measure.Header{ID: "x"}, s.Add)
	if err != nil {
		t.Fatal(err)
	}
	key := measure.CaseKey{Benchmark: "k", Implementation: measure.Candidate}
	err = errors.Join(j.AddCases([]measure.Case{{CaseKey: key, Unit: "ns"}}), j.AddRound(measure.Round{}, []measure.Result{{Case: key, Round: measure.CaseRound{Samples: measure.Samples{100}}}}))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// A journal that cannot be trusted is moved away as it is; one of another question becomes a record.
func TestFindPast_SetsAsideWhatItCannotResume(t *testing.T) {
	path := sealedJournal(t)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(text, "{\"record\":\"round\"}\n"...), 0o644); err != nil {
		t.Fatal(err)
	}
	var said []Event
	r := NewSetup(Options{Out: strings.TrimSuffix(path, ".journal") + ".json", Emit: func(e Event) { said = append(said, e) }, Now: func() time.Time { return time.Unix(0, 0) }})
	if err := r.findPast(); err != nil || r.past != nil || len(said) != 1 {
		t.Fatalf("%v, %+v, %v", err, r.past, said)
	}
	not, ok := said[0].(NotResumed)
	if _, err := os.Stat(not.Path); !ok || err != nil || !strings.HasSuffix(not.Path, "interrupted-19700101T000000Z.refused") {
		t.Errorf("%+v, %v", said, err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the journal is still there: %v", err)
	}

	said = nil
	if err := errors.Join(os.WriteFile(path, text, 0o644), r.forgetPast("the seed was 7 and is 8")); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%+v", said); !strings.Contains(got, "the seed was 7 and is 8") || !strings.Contains(got, "interrupted-19700101T000000Z.json") {
		t.Error(got)
	}
}
