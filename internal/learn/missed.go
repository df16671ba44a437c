package learn

import (
	"sync"
	"time"

	"github.com/goatnote-inc/pawl/internal/learn/gates"
	"github.com/goatnote-inc/pawl/internal/learn/journal"
)

// missedMost is how long a journal may be to be asked: each entry is asked with all that
// came before it.
const missedMost = 400

// allGates are pawl's own, read once.
var allGates = sync.OnceValue(gates.All)

// missed marks where gates would have stopped a session that was held without them: the
// first stop of each gate. A session in which a gate spoke has told so itself.
func (m *marking) missed() {
	s := m.session
	if len(s.Entries) > missedMost || m.gated {
		return
	}
	said := map[string]bool{}
	for i, e := range s.Entries {
		if e.Did == nil || e.Did.Command == "" {
			continue
		}
		before := &journal.Session{Started: s.Started, Began: s.Began, Entries: s.Entries[:i]}
		began := e.Time.Add(-time.Duration(e.Did.Seconds * float64(time.Second)))
		facts := gates.LearnNow(before, gates.Now{Time: began, Did: *e.Did})
		stop := gates.Stopped(allGates().Look(facts, before.Entries), e.Did.Command, e.Did.Args...)
		if stop == nil || said[stop.Gate.ID] {
			continue
		}
		said[stop.Gate.ID] = true
		m.add(since(s, began), MarkMissed, stop.Gate.ID, stop.Sentence)
	}
}
