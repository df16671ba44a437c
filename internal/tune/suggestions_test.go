package tune_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/base/golden"
	"github.com/goatnote-inc/pawl/internal/tune"
	"github.com/goatnote-inc/pawl/internal/tune/space"
	"github.com/goatnote-inc/pawl/ratchet"
)

// matmul is a search of a made-up kernel: blocks of 64 by 128 are best, large ones do not
// compile, and one way to unroll is wrong.
func matmul() *tune.Report {
	ints := func(list ...float64) (out []any) {
		for _, x := range list {
			out = append(out, x)
		}
		return out
	}
	r := &tune.Report{
		Header: tune.Header{
			Format: tune.Format, Case: "matmul/N512", Device: gpu.Identity{Kind: gpu.NVIDIA, Name: "NVIDIA L4"}, Commit: "0123456789abcdef", Strategy: "auto", Seed: 7,
			Space: tune.Space{
				Parameters: []space.Parameter{
					{Name: "BLOCK_M", Values: ints(16, 32, 64, 128), Default: 32.0},
					{Name: "BLOCK_N", Values: ints(16, 32, 64, 128), Default: 32.0},
					{Name: "UNROLL", Values: ints(1, 2, 4, 8), Default: 1.0, When: "BLOCK_M >= 32"},
					{Name: "LAYOUT", Values: []any{"row", "column"}, Default: "row"},
					{Name: "PREFETCH", Values: []any{false, true}, Default: false},
				},
				Constraints: []string{"BLOCK_M * BLOCK_N <= 16384", "BLOCK_M <= N"}, Fixed: map[string]any{"N": 512.0}, Points: 208,
			},
		},
		Created: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Complete: true, End: "evaluations", Seconds: 312, Price: 0.8,
		Journal: "tuning/journal.jsonl", Command: "pawl tune matmul/N512 --evals 120 --seed 7", Build: "make harness BLOCK_M=32",
	}
	rng := rand.New(rand.NewPCG(1, 1))
	log := math.Log2
	seen := map[string]bool{}
	for len(r.Evaluations) < 120 {
		p := map[string]any{}
		for _, q := range r.Header.Space.Parameters {
			p[q.Name] = q.Default
			if len(r.Evaluations) > 0 {
				p[q.Name] = q.Values[rng.IntN(len(q.Values))]
			}
		}
		m, n, u := p["BLOCK_M"].(float64), p["BLOCK_N"].(float64), p["UNROLL"].(float64)
		if m < 32 {
			u = 1
			p["UNROLL"] = u
		}
		if seen[tune.Key(p)] {
			continue
		}
		seen[tune.Key(p)] = true
		e := tune.Evaluation{N: len(r.Evaluations), Point: p, Build: 1.5, Check: 0.2, Measure: 0.4, At: r.Created.Add(time.Duration(len(r.Evaluations)-120) * 3 * time.Second)}
		switch {
		case m*n > 8192:
			e.Status, e.Why = tune.CompileError, "ptxas error : Entry function 'matmul' uses too much shared data"
		case u == 8 && p["LAYOUT"] == "column":
			e.Status, e.Why = tune.Wrong, "c[3, 5] is 1.25 and should be 2.5"
		default:
			cost := 0.25*math.Abs(log(m)-6) + 0.15*math.Abs(log(n)-7) + 0.04*math.Abs(log(u)-log(m)+4)
			if p["LAYOUT"] == "column" {
				cost += 0.02
			}
			var samples []float64
			for range 5 {
				samples = append(samples, math.Round(8e5*math.Exp(cost+0.004*rng.NormFloat64())))
			}
			e.Measured(samples, len(r.Evaluations)%17 == 16)
		}
		r.Evaluations = append(r.Evaluations, e)
	}
	r.Default = r.Evaluations[0]
	r.Best, _ = tune.Best(r.Evaluations)
	return r
}

// proven is what a proof may come to: on the other config the best of the search is slower.
func proven(r *tune.Report, a tune.Answer, speedup float64) *tune.Report {
	verdict := map[tune.Answer]ratchet.Verdict{tune.Faster: ratchet.Improvement, tune.Small: ratchet.Maintained, tune.Same: ratchet.Maintained, tune.Inconclusive: ratchet.Inconclusive}[a]
	ranked := tune.Ranked(r.Evaluations)
	small := tune.Comparison{Case: "matmul/N256", Verdict: ratchet.Regression, Answer: tune.Same, Speedup: 0.91, Low: 0.9, High: 0.92}
	tuned := tune.Comparison{Case: r.Header.Case, Verdict: verdict, Answer: a, Speedup: speedup, Low: speedup - 0.02, High: speedup + 0.02}
	r.Proof = &tune.Proof{
		Rounds: 12, Seconds: 60, Record: "tuning/proof.json",
		Finalists: []tune.Finalist{
			{N: ranked[0].N, Point: ranked[0].Point, Checked: 40, Cases: []tune.Comparison{small, tuned}},
			{N: ranked[1].N, Point: ranked[1].Point, ResultError: "c[0, 1] is 2 and should be 3", Cases: []tune.Comparison{{Case: "matmul/N256", Excluded: "BLOCK_M <= N does not hold"}}},
		},
	}
	configs := []tune.Config{{Case: "matmul/N256", Params: map[string]any{"N": 256.0}}, {Case: r.Header.Case, Params: map[string]any{"N": 512.0}}}
	r.Proof.Conclude(r.Header.Case, configs, r.Default.Point)
	r.Proof.Sentence = fmt.Sprintf("What the proof says: %s.", a) // its own tests hold it to its words
	return r
}

func rendered(t testing.TB, r *tune.Report) (string, *tune.Suggestions) {
	t.Helper()
	s := tune.NewSuggestions(r)
	var b bytes.Buffer
	if err := s.Markdown(&b); err != nil {
		t.Fatal(err)
	}
	return b.String(), s
}

func TestSuggestions(t *testing.T) {
	few := matmul()
	few.Evaluations, few.Header.Space.Points, few.Proof = few.Evaluations[:8], 0, nil
	few.Best, _ = tune.Best(few.Evaluations)
	few.Build, few.Header.Device.Kind, few.End, few.Price, few.Resumed = "", gpu.CPU, "interrupted", 0, 3
	unproven := matmul()
	unproven.Unproven, unproven.Unchecked = "by --no-proof", "the suite has no check"
	for name, r := range map[string]*tune.Report{
		"faster": proven(matmul(), tune.Faster, 2.31), "small": proven(matmul(), tune.Small, 1.03), "same": proven(matmul(), tune.Same, 0.98),
		"inconclusive": proven(matmul(), tune.Inconclusive, 1.1), "unproven": unproven, "few": few,
	} {
		t.Run(name, func(t *testing.T) {
			got, _ := rendered(t, r)
			golden.Check(t, "suggestions-"+name+".md", got)
		})
	}
}

// What is to be pasted into C is compiled, and says what the table says.
func TestPastedIntoC(t *testing.T) {
	r := proven(matmul(), tune.Faster, 2.31)
	_, s := rendered(t, r)
	if s.Dispatch == nil {
		t.Fatal("there is no dispatch, and two configs have two points")
	}
	header := ""
	for _, f := range s.Forms {
		if f.Language == "c" {
			header = f.Text
		}
	}
	best := r.Proof.Finalists[0].Point
	for name, program := range map[string]string{
		"dispatch": s.Dispatch.Text + fmt.Sprintf("\nint main(void)\n{\n    return !(matmul_tuning_for(512).BLOCK_M == %v && matmul_tuning_for(256).BLOCK_M == 32 && matmul_tuning_for(4096).BLOCK_M == 32);\n}\n", best["BLOCK_M"]),
		"header":   header + fmt.Sprintf("enum { row, column };\nint main(void)\n{\n    return !(BLOCK_M == %v && BLOCK_N == %v && LAYOUT == %v && !PREFETCH == %v);\n}\n", best["BLOCK_M"], best["BLOCK_N"], best["LAYOUT"], map[any]int{false: 1, true: 0}[best["PREFETCH"]]),
	} {
		for compiler, end := range map[string]string{"cc": ".c", "c++": ".cpp"} {
			path, err := exec.LookPath(compiler)
			if err != nil {
				t.Logf("there is no %s here", compiler)
				continue
			}
			file := filepath.Join(t.TempDir(), name+end)
			if err := os.WriteFile(file, []byte(program), 0o644); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.CommandContext(t.Context(), path, "-Wall", "-Wextra", "-Werror", "-o", file+".out", file).CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s\n%s", compiler, err, out, program)
			}
			if out, err := exec.CommandContext(t.Context(), file+".out").CombinedOutput(); err != nil {
				t.Errorf("%s with %s says something else: %v\n%s\n%s", name, compiler, err, out, program)
			}
		}
	}
}

func TestFailureRules(t *testing.T) {
	space := []space.Parameter{
		{Name: "A", Values: []any{1.0, 2.0, 4.0, 8.0, 16.0}},
		{Name: "B", Values: []any{1.0, 2.0, 4.0, 8.0, 16.0}},
		{Name: "C", Values: []any{1.0, 2.0, 4.0}},
		{Name: "mode", Values: []any{"x", "y", "z"}},
	}
	n := func(p map[string]any, name string) float64 { return p[name].(float64) }
	for _, test := range []struct {
		name  string
		fails func(p map[string]any, rng *rand.Rand) bool
		want  []string
	}{
		{"one value", func(p map[string]any, _ *rand.Rand) bool { return p["mode"] == "y" }, []string{"mode = y"}},
		{"from a value on", func(p map[string]any, _ *rand.Rand) bool { return n(p, "A") >= 8 }, []string{"A >= 8"}},
		{"a product", func(p map[string]any, _ *rand.Rand) bool { return n(p, "A")*n(p, "B") > 32 }, []string{"A * B > 32"}},
		{"a product of three", func(p map[string]any, _ *rand.Rand) bool { return n(p, "A")*n(p, "B")*n(p, "C") > 64 }, []string{"A * B * C > 64"}},
		{"two at once", func(p map[string]any, _ *rand.Rand) bool { return n(p, "B") == 2 && p["mode"] == "z" }, []string{"B = 2 and mode = z"}},
		{"no pattern", func(_ map[string]any, rng *rand.Rand) bool { return rng.IntN(3) == 0 }, nil},
		{"with an exception", func(p map[string]any, rng *rand.Rand) bool { return p["mode"] == "y" && rng.IntN(8) > 0 }, nil},
	} {
		for seed := range uint64(20) {
			rng := rand.New(rand.NewPCG(seed, 9))
			r := &tune.Report{Header: tune.Header{Case: "k", Space: tune.Space{Parameters: space}}}
			for len(r.Evaluations) < 150 {
				e := tune.Evaluation{N: len(r.Evaluations), Point: map[string]any{}}
				for _, p := range space {
					e.Point[p.Name] = p.Values[rng.IntN(len(p.Values))]
				}
				if e.Measured([]float64{1}, false); test.fails(e.Point, rng) {
					e = tune.Evaluation{N: e.N, Point: e.Point, Status: tune.CompileError}
				}
				r.Evaluations = append(r.Evaluations, e)
			}
			var got []string
			for _, f := range tune.NewSuggestions(r).Failures {
				for _, rule := range f.Rules {
					got = append(got, rule.Condition)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s, seed %d (-want +got):\n%s", test.name, seed, diff)
			}
		}
	}
}

const evil = "<img src=x onerror=alert(1)> @everyone `x` | # h\n## heading\n```\n[a](javascript:x) \u202e"

// hostile is a search of which somebody else wrote every name.
func hostile() *tune.Report {
	r := matmul()
	r.Header.Case, r.Header.Device.Name, r.Header.Commit, r.Header.Strategy = evil+"/"+evil, evil, evil, evil
	r.Journal, r.Command, r.Unchecked, r.Unproven, r.Build = evil, evil, evil, evil, evil
	r.Header.Space.Parameters[0].Name, r.Header.Space.Parameters[0].When = evil, evil
	r.Header.Space.Parameters[3].Values = []any{evil, "column"}
	r.Header.Space.Constraints = nil
	for i, e := range r.Evaluations {
		e.Point[evil] = e.Point["BLOCK_M"]
		delete(e.Point, "BLOCK_M")
		if e.Point["LAYOUT"] == "row" {
			e.Point["LAYOUT"] = evil
		}
		r.Evaluations[i].Why = evil
	}
	r.Best, _ = tune.Best(r.Evaluations)
	r = proven(r, tune.Faster, 1.5)
	r.Proof.Record, r.Proof.Sentence, r.Proof.Baseline, r.Proof.SlowerCases = evil, evil, evil, []string{evil}
	return r
}

// Names of a journal that somebody else wrote are names, whatever is in them.
func TestSuggestionsOfHostileNames(t *testing.T) {
	r := hostile()
	got, s := rendered(t, r)
	if len(s.Forms) != 1 || s.Dispatch != nil {
		t.Errorf("forms %+v, dispatch %v: only YAML can quote such names", s.Forms, s.Dispatch)
	}
	outside := true
	headings := 0
	for line := range strings.Lines(got) {
		if strings.HasPrefix(line, "```") {
			outside = !outside
			continue
		}
		if !outside {
			continue
		}
		if strings.HasPrefix(line, "#") {
			headings++
		}
		bare := strings.NewReplacer("<code>", "", "</code>", "").Replace(line)
		if strings.ContainsAny(bare, "<\u202e") || strings.Contains(bare, "@everyone") || strings.Contains(bare, "[a](") {
			t.Errorf("markup in %q", line)
		}
	}
	if headings != 9 {
		t.Errorf("%d headings, want 9:\n%s", headings, got)
	}
}
