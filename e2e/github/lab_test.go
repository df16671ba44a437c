package github

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/measure"
)

// labRuns is how often the lab measures.
const labRuns = 5

// lastSample is when the last side of a run ended, and how long the sides took.
func lastSample(t *testing.T, path string) (end time.Time, sides time.Duration) {
	t.Helper()
	run, err := measure.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range run.Rounds {
		for _, s := range r.Sides {
			took := time.Duration(s.Seconds * float64(time.Second))
			if at := s.Started.Add(took); at.After(end) {
				end = at
			}
		}
	}
	return end, time.Duration(run.End.Seconds * float64(time.Second))
}

func spread(list []time.Duration) string {
	if len(list) == 0 {
		return "never"
	}
	slices.Sort(list)
	return fmt.Sprintf("median %.2f s, %.2f to %.2f s, n = %d", list[len(list)/2].Seconds(), list[0].Seconds(), list[len(list)-1].Seconds(), len(list))
}

// The figures of docs/lab/github.md: what a slowdown of exactly 10 % comes to, and how long
// it takes from the last sample to the comment. PAWL_LAB=1 runs it.
func TestLabGate(t *testing.T) {
	if os.Getenv("PAWL_LAB") == "" {
		t.Skip("PAWL_LAB=1 measures")
	}
	var comment, explained []time.Duration // the second where profiles were made in between
	count := map[forge.Conclusion]int{}
	for range labRuns {
		w := newCWorld(t)
		w.edit("pawl.yaml", "samples: 12", "samples: 150") // as many as a real suite takes
		w.edit("pawl.yaml", "slower: 5%, ", "")            // the usual 3 %
		w.commit("measure longer")
		w.push("main")
		w.git("checkout", "--quiet", "-b", "slower")
		w.slow(10)
		w.commit("compute a tenth twice")
		p := w.open("slower")
		w.act("pawl-gate", "pull_request", w.github.Token, w.pullEvent(p))
		check := w.check(p.HeadSHA)
		t.Logf("%s: %s", check.Conclusion, check.Title)
		count[check.Conclusion]++
		end, _ := lastSample(t, filepath.Join(w.store, "pawl-results", "current.json"))
		took := w.report(p.Number).Created.Sub(end)
		if _, err := os.Stat(filepath.Join(w.store, "pawl-results", "profiles")); err == nil {
			explained = append(explained, took)
			continue
		}
		comment = append(comment, took)
	}
	t.Logf("slower by 10 %%: %v", count)
	t.Logf("from the last sample to the comment: %s; with profiles in between: %s", spread(comment), spread(explained))
}

// What the loop takes beside the measurement, with builds that are there already and
// without looking for reasons: what pawl run takes beside its time on the device, less what
// pawl bench does, which only measures.
func TestLabAdded(t *testing.T) {
	if os.Getenv("PAWL_LAB") == "" {
		t.Skip("PAWL_LAB=1 measures")
	}
	w := newCWorld(t)
	w.git("checkout", "--quiet", "-b", "slower")
	w.slow(60)
	w.commit("compute rows twice")
	p := w.open("slower")
	p.Number = 0 // a new one each time
	beside := func(command, record string) (took, after time.Duration) {
		began := time.Now()
		w.exec("sh", "-c", command+" || [ $? -eq 1 ]")
		over := time.Now()
		end, device := lastSample(t, filepath.Join(w.dir, record))
		return over.Sub(began) - device, over.Sub(end)
	}
	var added, after, visible, posted []time.Duration
	for i := range 2*labRuns + 1 {
		bare, _ := beside("pawl bench --base origin/main --rounds 4 --out bare/current.json", "bare/current.json")
		whole, rest := beside("pawl run --no-keep --base origin/main --profile 0 --out results", "results/current.json")
		if i == 0 {
			continue // it built
		}
		added, after = append(added, whole-bare), append(after, rest)
		number := w.github.AddPull(p)
		began := time.Now()
		w.exec("sh", "-c", fmt.Sprintf("GITHUB_TOKEN=%s GITHUB_API_URL=%s pawl ci comment --results results --repo %s --pull %d", w.github.Token, w.github.URL, w.github.Repo, number))
		visible, posted = append(visible, w.report(number).Created.Sub(began)), append(posted, time.Since(began))
	}
	t.Logf("pawl run beside its time on the device, more than pawl bench: %s", spread(added))
	t.Logf("from the last sample to the end of pawl run: %s", spread(after))
	t.Logf("from the start of pawl ci comment to the comment: %s, to its end: %s", spread(visible), spread(posted))
}

// A gain of exactly 20 % on the main branch.
func TestLabRatchet(t *testing.T) {
	if os.Getenv("PAWL_LAB") == "" {
		t.Skip("PAWL_LAB=1 measures")
	}
	moved := 0
	for range 2 {
		w := newCWorld(t)
		before := w.git("rev-parse", "HEAD")
		w.slow(20)
		slow := w.commit("slow at first")
		w.push("main")
		w.act("pawl-ratchet", "push", w.github.Token, w.pushEvent(before, slow))
		w.git("fetch", "--quiet", "origin")
		w.git("checkout", "--quiet", before, "--", w.kernel)
		fast := w.commit("compute rows once")
		w.push("main")
		w.act("pawl-ratchet", "push", w.github.Token, w.pushEvent(slow, fast))
		if strings.Contains(strings.Join(w.baselines(), "\n"), "moved matmul/N160 "+fast) {
			moved++
		}
	}
	t.Logf("faster by 20 %%: the baseline moved in %d of 2", moved)
}
