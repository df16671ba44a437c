package diagnose_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/base/golden"
	"github.com/goatnote-inc/pawl/internal/explain/diagnose"
	"github.com/goatnote-inc/pawl/internal/explain/profile"
)

// seen reads the raw page of a recorded report.
func seen(t *testing.T, name string) diagnose.Subject {
	t.Helper()
	data := os.Getenv("PAWL_DATA")
	if data == "" {
		t.Skip("PAWL_DATA does not name the recorded data")
	}
	f, err := os.Open(filepath.Join(data, "ncu", "real", name+".raw.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p, err := profile.ReadRaw(f)
	if err != nil {
		t.Fatal(err)
	}
	s, err := diagnose.NewSubject(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// steps are the versions of one kernel in the order in which they were written.
var steps = []string{
	"", "_v2", "_v3_loop_unroll", "_v4_8_per_thread", "_v5_4_per_thread", "_v6_1d_1_per_thread",
	"_v7_1d_1_per_thread_blocked", "_v7_1d_4_per_thread_blocked", "_v8_1d_1_per_thread_stripped", "_v8_1d_4_per_thread_stripped",
}

// The ten versions of an addition of matrices, told as what each step changed. Every
// slow one reads in another order than the fast ones.
func TestStoryOfTenVersions(t *testing.T) {
	var story strings.Builder
	for i := 1; i < len(steps); i++ {
		d := compare(t, seen(t, "cuda-mlp-inference_report"+steps[i-1]), seen(t, "cuda-mlp-inference_report"+steps[i]))
		fmt.Fprintf(&story, "%s: %s\n", strings.TrimPrefix(steps[i], "_"), d.Sentence)
		if change := math.Abs(math.Log(d.After / d.Before)); change < 0.02 {
			continue
		}
		if len(d.Causes) == 0 || d.Causes[0].Name != "uncoalesced" {
			t.Errorf("%s: %+v", steps[i], d.Causes)
		}
	}
	golden.Check(t, "difference/story.txt", story.String())
}

// The factors of the accounting make up the whole time, on real reports: what is left
// over is what the profiler's passes differ by.
func TestAccountsAddUp(t *testing.T) {
	for i := 1; i < len(steps); i++ {
		a, b := seen(t, "cuda-mlp-inference_report"+steps[i-1]).Facts, seen(t, "cuda-mlp-inference_report"+steps[i]).Facts
		ratio := func(name string) float64 { return math.Log(b[name] / a[name]) }
		sum := ratio("instructions") + ratio("warp_latency") - ratio("active_warps") - ratio("sm_active_pct") - ratio("sm_clock_hz")
		if left := math.Abs(ratio("time_ns") - sum); left > 0.03+0.1*math.Abs(sum) || math.IsNaN(left) {
			t.Errorf("%s: time %.3f, factors %.3f", steps[i], ratio("time_ns"), sum)
		}
	}
}

func TestRealPairOfGemms(t *testing.T) {
	d := compare(t, seen(t, "CudaCode_gemm_reps_naive"), seen(t, "CudaCode_gemm_reps_global_mem_coalesce"))
	if len(d.Causes) == 0 || !strings.HasPrefix(d.Causes[0].Title, "access pattern") || !strings.Contains(d.Sentence, "access pattern") {
		t.Errorf("%s\n%+v", d.Sentence, d.Causes)
	}
	t.Log(d.Sentence)
}

func compare(t *testing.T, before, after diagnose.Subject) *diagnose.Difference {
	t.Helper()
	d, err := diagnose.Compare(before, after)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// The page of the lab tells the same story.
func TestLabPageTellsTheStory(t *testing.T) {
	page, err := os.ReadFile("../../../docs/lab/differences.md")
	if err != nil {
		t.Fatal(err)
	}
	story, err := os.ReadFile("testdata/difference/story.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(story)) {
		version, says, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if row := "| `" + version + "` | " + says + " |"; !strings.Contains(string(page), row) {
			t.Errorf("docs/lab/differences.md lacks %s", row)
		}
	}
}

// Two launches of one kernel in one report: nothing is made up.
func TestRealNoiseHasNoCause(t *testing.T) {
	for _, name := range []string{"CudaCode_gemm_reps_naive", "CudaCode_gemm_reps_global_mem_coalesce"} {
		first, second := seen(t, name), seen(t, name)
		first.Launch, second.Launch = first.Profile.Launches[0], first.Profile.Launches[1]
		first.Facts, second.Facts = first.Launch.Facts(), second.Launch.Facts()
		if d := compare(t, first, second); len(d.Causes) > 0 || !strings.HasPrefix(d.Sentence, "No notable change") {
			t.Errorf("%s: %s", name, d.Sentence)
		}
	}
}
