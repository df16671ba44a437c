package ratchet

import "slices"

// Doubtful returns the entries whose session still counts and may hold times of another build than
// the commit's own: an older pawl wrote them, without a recipe, and built a base and a baseline by
// the recipe of the change. Entries that made a commit the baseline are not among them, except
// carried ones, since their session is of the candidate, which every pawl built by its own recipe.
func (b Baselines) Doubtful(entries []Entry) []Entry {
	var list []Entry
	for _, e := range entries {
		found := b.at[place{e.Case, e.Testbed.Key}]
		switch {
		case e.Session == nil || e.Session.Recipe != "" || !found.stands():
		case e.Seq < found.Seq, e.Seq == found.Seq && e.Kind != KindCarried:
		case slices.ContainsFunc(found.Sessions, func(s Session) bool { return s.Run.Same(e.Session.Run) }):
			list = append(list, e)
		}
	}
	return list
}

// SetAside returns an entry by which the session of e no longer counts. It needs a time, a reason
// and an actor.
func (e Entry) SetAside() Entry {
	return Entry{Kind: KindSetAside, Case: e.Case, Testbed: e.Testbed, Commit: e.Commit, Run: &e.Session.Run}
}
