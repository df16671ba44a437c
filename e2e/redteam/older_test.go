package redteam

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/goatnote-inc/pawl/internal/base/testrun"
)

// An honestVerdict is what one pawl said of one variant of an honest kernel.
type honestVerdict struct {
	Suite    string `json:"suite"`
	Level    string `json:"level"`
	Variant  int    `json:"variant"`
	Case     string `json:"case"`
	Older    bool   `json:"older"`
	Verdict  string `json:"verdict"`
	Sentence string `json:"sentence"`
	Flagged  bool   `json:"flagged"`
}

// TestHonestBesideOlder judges every honest variant with this pawl and with an older one, in random order,
// with as many rounds as a suite takes by default. It prints by how much the share without an answer
// differs, in pairs. Only with PAWL_OLDER, the folder of an older checkout, and PAWL_LAB, a folder for
// verdicts: what is there is kept, so that it can be stopped and goes on.
func TestHonestBesideOlder(t *testing.T) {
	older, out := os.Getenv("PAWL_OLDER"), os.Getenv("PAWL_LAB")
	if older == "" || out == "" {
		t.Skip("only with PAWL_OLDER=FOLDER and PAWL_LAB=FOLDER")
	}
	must(t, os.MkdirAll(out, 0o755))
	path := filepath.Join(out, "honest.jsonl")
	pawls := []way{{"", binary, "../.."}, {"", buildOlder(t, older), older}}
	verdicts := testrun.Rows[honestVerdict](t, path)
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	must(t, err)
	defer file.Close()
	done := map[string]bool{}
	for _, v := range verdicts {
		done[fmt.Sprint(v.Suite, v.Level, v.Variant, v.Older)] = true
	}
	for _, s := range honest {
		for v := 1; v <= s.variants; v++ {
			for _, level := range []string{"trusted", "checked"} {
				for _, which := range rand.Perm(2) {
					if done[fmt.Sprint(s.suite, level, v, which == 1)] {
						continue
					}
					some := honestOnce(t, pawls[which], s.suite, s.file, level, v)
					for _, one := range some {
						one.Older = which == 1
						must(t, json.NewEncoder(file).Encode(one))
						verdicts = append(verdicts, one)
					}
					t.Logf("%s/%s/%d, older %v: %d verdicts", s.suite, level, v, which == 1, len(some))
				}
			}
		}
	}
	sayDifference(t, verdicts)
}

func honestOnce(t *testing.T, w way, suite, file, level string, variant int) (verdicts []honestVerdict) {
	t.Helper()
	dir := repositoryWith(t, filepath.Join(w.source, "sdk"), suite, edit{file: "pawl.yaml", from: ", rounds: [4]", to: ""})
	choose(t, filepath.Join(dir, file), variant)
	got := judgeWith(t, w.pawl, dir, "--trust", level, "--fuzz", "0")
	if len(got.Cases) == 0 || got.Code > 2 {
		t.Fatalf("nothing was judged:\n%s", got.Said)
	}
	for _, c := range got.Cases {
		verdicts = append(verdicts, honestVerdict{suite, level, variant, c.Name, false, c.Verdict, c.Sentence, flagged(c)})
	}
	return verdicts
}

// sayDifference prints counts, and the difference of the shares without an answer with its 95 % interval
// for pairs (Wald, on pairs of which only one has an answer).
func sayDifference(t *testing.T, verdicts []honestVerdict) {
	t.Helper()
	type pair struct{ now, older bool }
	pairs := map[string]*pair{}
	counts := map[string]int{}
	for _, v := range verdicts {
		key := fmt.Sprint(v.Suite, v.Level, v.Variant, v.Case)
		if pairs[key] == nil {
			pairs[key] = &pair{}
		}
		who := "now"
		if v.Older {
			who = "older"
			pairs[key].older = v.Verdict == "inconclusive"
		} else {
			pairs[key].now = v.Verdict == "inconclusive"
		}
		counts[who+" "+v.Verdict]++
		if v.Flagged {
			counts[who+" flagged"]++
		}
	}
	var only, onlyOlder float64
	for _, p := range pairs {
		switch {
		case p.now && !p.older:
			only++
		case p.older && !p.now:
			onlyOlder++
		}
	}
	n := float64(len(pairs))
	difference := (only - onlyOlder) / n
	half := 1.96 * math.Sqrt((only+onlyOlder)/n-difference*difference) / math.Sqrt(n)
	t.Logf("%d pairs; %v", len(pairs), counts)
	t.Logf("without an answer only now %.0f, only before %.0f: %+.1f points (%+.1f to %+.1f)", only, onlyOlder, 100*difference, 100*(difference-half), 100*(difference+half))
}
