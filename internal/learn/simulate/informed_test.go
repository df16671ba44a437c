package simulate

import "testing"

// Who knows how worlds are drawn does better with each session than who believes the rules,
// and no better than who knows the world.
func TestInformedLearns(t *testing.T) {
	var rules, before, after, most []Step
	for seed := range uint64(4) {
		w := New(seed+100, Options{})
		r := NewInformed(500)
		rules = append(rules, Examine(w, Priors{}, 50)...)
		before = append(before, Examine(w, r, 50)...)
		Play(w, r, 50)
		after = append(after, Examine(w, r, 50)...)
		most = append(most, Examine(w, w.Oracle(), 50)...)
	}
	if b, a := Judge(before).Right, Judge(after).Right; a < b+0.1 {
		t.Errorf("it is right in %.2f before and in %.2f after 50 sessions", b, a)
	}
	if p, b := Judge(rules).Right, Judge(before).Right; b < p-0.05 {
		t.Errorf("it is right in %.2f, the rules in %.2f", b, p)
	}
	if a, o := Judge(after).Regret, Judge(most).Regret; a <= o || a > 0.05 {
		t.Errorf("its regret is %.3f, that of the oracle %.3f", a, o)
	}
}
