package browser_test

import (
	"os"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// A run that is under way is seen as it goes, and becomes the run that was sent.
func TestLiveRun(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	s := newSite(t)
	all := payloads()
	r := hostileReport(all, 0)
	r.Run = "01JC0000000000000000000001"
	sent := s.ingest(t, r)
	key, _, err := s.store.NewKey(t.Context(), s.project.ID, store.Key{Name: "ci", Scopes: []store.Scope{store.ScopeReport}})
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"<img src=x onerror=alert(1)>", "</script><script>alert(2)</script>", "'-alert(3)-'"}
	story := []client.LiveEvent{
		{Kind: client.LiveStep, Text: "building candidate"},
		{
			Kind: client.LiveStarted, Run: r.Run, Suite: "attention", Commit: r.Commit.SHA, Branch: names[0], Device: "NVIDIA L4", Pawl: "0.8.0", Sides: []string{measure.Candidate, measure.Base},
			Cases: len(names), Planned: []int{4, 8, 16}, Now: client.LiveDevice{TemperatureC: 61, SMClockMHz: 1500, PowerW: 70, Reasons: []string{"power cap"}},
		},
	}
	for round := 1; round <= 2; round++ {
		for i, name := range names {
			v := 12_000 + float64(1000*i)
			story = append(story,
				client.LiveEvent{Kind: client.LiveCase, Case: name, Side: measure.Base, Unit: "ns", Round: round, Median: v, Value: v},
				client.LiveEvent{Kind: client.LiveCase, Case: name, Side: measure.Candidate, Unit: "ns", Round: round, Median: v * 1.03, Value: v * 1.03},
			)
		}
		story = append(story, client.LiveEvent{Kind: client.LiveRound, Round: round, Of: 4})
	}
	story = append(story, client.LiveEvent{Kind: client.LiveVerdict, Verdict: ratchet.Regression, Text: names[0]}, client.LiveEvent{Kind: client.LiveEnded, State: "complete"})
	for i := range story {
		story[i].N, story[i].At = int64(i+1), now.Add(time.Duration(i-100)*time.Second)
	}
	tell(t, browse(t, "live.mjs", map[string]any{
		"url": s.url, "key": key, "run": "01JC0000000000000000000007", "report": sent.Report, "story": story, "names": names, "pictures": os.Getenv("PAWL_PICTURES"),
	}))
}
