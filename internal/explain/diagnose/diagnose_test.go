package diagnose

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goatnote-inc/pawl/internal/explain/profile"
)

func anyFacts(t *rapid.T) profile.Facts {
	names := make([]string, 0, len(quantities()))
	for name := range quantities() {
		names = append(names, name)
	}
	slices.Sort(names)
	facts := profile.Facts{}
	for _, name := range rapid.SliceOfN(rapid.SampledFrom(names), 0, 60).Draw(t, "names") {
		facts[name] = rapid.OneOf(rapid.Float64Range(0, 100), rapid.Float64Range(-1e3, 1e12), rapid.Float64()).Draw(t, name)
	}
	return facts
}

// Whatever a profile holds, a diagnosis is in order: shares are shares, what is
// intended stands last, causes before what they explain, and it is always the same.
func TestDiagnosisIsInOrder(t *testing.T) {
	rs := Rules()
	rapid.Check(t, func(t *rapid.T) {
		s := Subject{Facts: anyFacts(t)}
		s.Launch.CC = rapid.SampledFrom([]string{"", "7.5", "8.0", "8.9", "9.0", "99.9", "x"}).Draw(t, "cc")
		d := rs.Diagnose(s)
		if d.Sentence == "" || len(d.Lines) == 0 || d.Bottleneck == "" {
			t.Fatalf("a diagnosis without words: %+v", d)
		}
		faults := true
		for i, f := range d.Findings {
			if f.Share != nil && !(*f.Share >= 0 && *f.Share <= 1) {
				t.Errorf("rule %s has a share of %v", f.Rule, *f.Share)
			}
			if f.Sentence == "" || f.Title == "" {
				t.Errorf("rule %s says nothing", f.Rule)
			}
			if !f.Intended && !faults {
				t.Errorf("rule %s stands behind one that is intended", f.Rule)
			}
			faults = !f.Intended
			for _, fix := range f.Fixes {
				if fix.Gain < 0 || fix.Gain > 1 || f.Share != nil && *f.Share > 0 && fix.Gain > *f.Share || fix.Do == "" {
					t.Errorf("rule %s has the fix %+v", f.Rule, fix)
				}
			}
			if slices.ContainsFunc(d.Findings[:i], func(g Finding) bool { return g.Rule == f.Rule }) {
				t.Errorf("rule %s speaks twice", f.Rule)
			}
		}
		if diff := cmp.Diff(d, rs.Diagnose(s)); diff != "" {
			t.Errorf("the same profile, another diagnosis:\n%s", diff)
		}
	})
}

func TestNothingIsSaidOfNothing(t *testing.T) {
	d := Rules().Diagnose(Subject{})
	if d.Bottleneck != Unknown || len(d.Findings) != 0 {
		t.Errorf("got %s and %v", d.Bottleneck, d.Findings)
	}
	if want := "The profile does not show what limits the kernel."; d.Sentence != want {
		t.Errorf("got %q, want %q", d.Sentence, want)
	}
}

// Whatever callgrind counts, it is of one class or another.
func TestCountsOfTheHostHaveAClass(t *testing.T) {
	for misses, want := range map[float64]Bottleneck{1e3: Compute, 4.9e5: Compute, 1.5e6: Balanced, 5e6: Memory} {
		v := profile.Facts{
			"host_instructions": 38.4e6, "host_reads": 5.65e6, "host_writes": 0.87e6, "host_l1_misses": misses, "host_llc_misses": 0,
			"host_l1_miss_pct": 100 * misses / 6.52e6, "host_llc_miss_pct": 0, "host_branches": 8e5, "host_branch_misses": 17e3, "host_branch_miss_pct": 2.1,
		}
		if d := Rules().Diagnose(Subject{Facts: v}); d.Bottleneck != want {
			t.Errorf("%v misses: %s, want %s: %s", misses, d.Bottleneck, want, d.Sentence)
		}
	}
}

// The tool's estimate takes the place of pawl's, and goes first.
func TestToolsEstimatesGoFirst(t *testing.T) {
	estimate := 8.3
	s := Subject{Facts: profile.Facts{
		"dram_pct": 92, "memory_pct": 92, "sm_pct": 19, "dram_bytes": 1e8, "issue_active": 0.1,
		"stall_long_scoreboard_pct": 85, "stall_long_scoreboard": 58, "warp_latency": 69,
	}}
	rs := Rules()
	if d := rs.Diagnose(s); d.Findings[0].Rule != "dram-roof" || d.Findings[0].Basis != basisPawl {
		t.Errorf("without the tool's rules: %s first", d.Findings[0].Rule)
	}
	rule := profile.Rule{ID: "CPIStall", Kind: "OPT", Text: "waiting for a scoreboard dependency on a L1TEX operation", Speedup: &estimate, Scope: "global"}
	s.Launch.Rules = []profile.Rule{rule}
	d := rs.Diagnose(s)
	if f := d.Findings[0]; f.Rule != "stall-long-scoreboard" || f.Basis != basisTool || *f.Share != 0.083 {
		t.Errorf("with them: %+v", f)
	}
	rule.Scope = "local"
	s.Launch.Rules = []profile.Rule{rule}
	if d := rs.Diagnose(s); d.Findings[0].Rule != "dram-roof" {
		t.Errorf("an estimate of a section is taken for one of the runtime: %s first", d.Findings[0].Rule)
	}
}

// A page without the metrics of a rule may still hold the tool's own finding.
func TestToolSpeaksWhereMetricsAreMissing(t *testing.T) {
	estimate := 44.3
	text := "The memory access pattern for global loads from L1TEX might not be optimal."
	s := Subject{Facts: profile.Facts{"dram_pct": 70, "memory_pct": 70, "sm_pct": 19}}
	s.Launch.Rules = []profile.Rule{{ID: "MemoryCacheAccessPattern", Kind: "OPT", Text: text, Speedup: &estimate, Scope: "global"}}
	d := Rules().Diagnose(s)
	if f := d.Findings[0]; f.Rule != "uncoalesced-loads" || f.Sentence != text {
		t.Errorf("got %+v", f)
	}
}

func TestCausesStandBeforeSymptoms(t *testing.T) {
	half, most, little := 0.5, 0.8, 0.1
	symptom := rankedFinding{Finding: Finding{Rule: "symptom", Share: &most}, rule: &Rule{}}
	cause := rankedFinding{Finding: Finding{Rule: "cause", Share: &half}, rule: &Rule{Explains: []string{"symptom"}}}
	order := func(list ...rankedFinding) (ids []string) {
		for _, f := range rank(list) {
			ids = append(ids, f.Rule)
		}
		return ids
	}
	if diff := cmp.Diff([]string{"cause", "symptom"}, order(symptom, cause)); diff != "" {
		t.Errorf("a cause that is large enough (-want +got):\n%s", diff)
	}
	cause.Share = &little
	if diff := cmp.Diff([]string{"symptom", "cause"}, order(cause, symptom)); diff != "" {
		t.Errorf("a cause that is too small (-want +got):\n%s", diff)
	}
	cause.Share, cause.Intended = &half, true
	if diff := cmp.Diff([]string{"symptom", "cause"}, order(cause, symptom)); diff != "" {
		t.Errorf("a cause that is no fault (-want +got):\n%s", diff)
	}
	cause.Intended, symptom.firm = false, true
	if diff := cmp.Diff([]string{"symptom", "cause"}, order(cause, symptom)); diff != "" {
		t.Errorf("an estimate of the tool is overruled (-want +got):\n%s", diff)
	}
}

func TestInWords(t *testing.T) {
	for _, tt := range []struct {
		x    float64
		unit string
		want string
	}{
		{16.67, "%", "16.7 %"},
		{70.87, "%", "71 %"},
		{100, "%", "100 %"},
		{99.6, "%", "99.6 %"},
		{0, "%", "0 %"},
		{0.04, "%", "0 %"},
		{0.4, "%", "0.4 %"},
		{1540000, "ns", "1.54 ms"},
		{999.9, "ns", "1 us"},
		{3200, "ns", "3.2 us"},
		{2.5e9, "ns", "2.5 s"},
		{1e13, "ns", "10000 s"},
		{32768, "byte", "32 KiB"},
		{16, "byte", "16 bytes"},
		{1500, "byte", "1500 bytes"},
		{2.1e9, "byte", "1.96 GiB"},
		{212.43e9, "byte/s", "212 GB/s"},
		{794.94e6, "hz", "795 MHz"},
		{168, "", "168"},
		{0.123, "", "0.12"},
		{35.31, "", "35.3"},
		{1624.75, "", "1625"},
		{5.2e7, "", "52 million"},
		{-3, "", "-3"},
		{3, "warps", "3 warps"},
	} {
		if got := inWords(tt.x, tt.unit); got != tt.want {
			t.Errorf("inWords(%v, %q) is %q, want %q", tt.x, tt.unit, got, tt.want)
		}
	}
}
