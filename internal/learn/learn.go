// Package learn tells the story of working sessions: how long it took to a working build
// and to the bottleneck, what was tried in vain, what was gained and what it cost, session
// over session, with what had been forecast.
//
// It puts journal, gates, lesson and model together. It must not know how anything is
// measured, and it writes nothing but what it is asked for.
package learn

import "github.com/goatnote-inc/pawl/internal/learn/model"

// newRanker is what recommends fixes and judges attempts afterwards: the one that won in
// docs/lab/learning.md.
func newRanker() model.Ranker { return model.New() }
