package ratchet

import "slices"

// SuspectEntries returns the entries whose session still counts but may hold times of a build other than the
// commit's own. They were written without a recipe by an older version of pawl, which built a base and a
// baseline by the recipe of the change. Entries that made a commit the baseline are not included, except
// carried ones: their session is of the candidate, which every version of pawl built by its own recipe.
func (b Baselines) SuspectEntries(entries []Entry) []Entry {
	var list []Entry
	for _, e := range entries {
		found := b.at[baselineKey{e.Case, e.Testbed.Key}]
		switch {
		case e.Session == nil || e.Session.Recipe != "" || !found.active():
		case e.Seq < found.Seq, e.Seq == found.Seq && e.Kind != KindCarried:
		case slices.ContainsFunc(found.Sessions, func(s Session) bool { return s.Run.Same(e.Session.Run) }):
			list = append(list, e)
		}
	}
	return list
}

// SetAside returns an entry that stops the session of e from counting. The caller must set the time, reason
// and actor.
func (e Entry) SetAside() Entry {
	return Entry{Kind: KindSetAside, Case: e.Case, Testbed: e.Testbed, Commit: e.Commit, Run: &e.Session.Run}
}
