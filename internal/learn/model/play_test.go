package model

import (
	"os"
	"strconv"
	"testing"
)

// In worlds that assume other things than it does, too, the model names the best fix more
// often than either of the simple rankers, and its intervals hold what they promise.
func TestModelBeatsBoth(t *testing.T) {
	var priors, mean, model tally
	for i, kind := range worlds {
		for _, seed := range []uint64{uint64(200 + i)} {
			sessions := []int{12}
			priors.add(play(kind.make(seed), NewPriors(), sessions)[0])
			mean.add(play(kind.make(seed), NewMean(), sessions)[0])
			model.add(play(kind.make(seed), New(), sessions)[0])
		}
	}
	t.Logf("priors %s\nmean   %s\nmodel  %s", show(priors), show(mean), show(model))
	if model.rate() < priors.rate()+0.05 || model.rate() < mean.rate()+0.02 {
		t.Errorf("the best is named in %.2f by the priors, in %.2f by the mean, in %.2f by the model", priors.rate(), mean.rate(), model.rate())
	}
	if model.regret > mean.regret || model.regret > priors.regret {
		t.Errorf("what is lost against the best: priors %.2f, mean %.2f, model %.2f", priors.regret, mean.regret, model.regret)
	}
	if c := model.coverage(); c < 0.75 || c > 0.92 {
		t.Errorf("intervals of 80 %% hold %.2f", c)
	}
}

// TestPlayWorlds prints how the rankers fare: PAWL_LAB=20 go test -run PlayWorlds -v plays 20
// worlds of each kind.
func TestPlayWorlds(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("PAWL_LAB"))
	if n == 0 {
		t.Skip("PAWL_LAB says how many worlds to play")
	}
	sessions := []int{0, 10, 50}
	explores := os.Getenv("PAWL_LAB_EXPLORE") != ""
	rankers := []struct {
		name string
		make func() Ranker
	}{
		{"priors", func() Ranker { return NewPriors() }},
		{"mean", func() Ranker { return NewMean() }},
		{"model", func() Ranker { return New() }},
		{"model, explores", func() Ranker { return New(Explore(0.7)) }},
	}
	if !explores {
		rankers = rankers[:3]
	}
	all := map[string][]tally{}
	for _, kind := range worlds {
		for _, r := range rankers {
			sum := make([]tally, len(sessions))
			for seed := range n {
				for i, x := range play(kind.make(uint64(seed)), r.make(), sessions) {
					sum[i].add(x)
				}
			}
			if all[r.name] == nil {
				all[r.name] = make([]tally, len(sessions))
			}
			line := ""
			for i, x := range sum {
				all[r.name][i].add(x)
				line += show(x)
			}
			t.Logf("%-18s %-16s %s", kind.name, r.name, line)
		}
	}
	for _, r := range rankers {
		line := ""
		for _, x := range all[r.name] {
			line += show(x)
		}
		t.Logf("%-18s %-16s %s", "ALL", r.name, line)
	}
}

func show(x tally) string {
	f := func(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }
	return "  best " + f(x.rate()) + " said " + f(x.chance/x.asked) + " lost " + strconv.FormatFloat(x.regret/x.asked, 'f', 3, 64) + " covers " + f(x.coverage())
}
