package trial

import (
	"slices"
	"time"

	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/measure"
)

// A plain command cannot be stopped for another's turn: its own clock would go on. But the commands of a round
// can run on the same core, one after the other. The first rounds run on all cores and show how many threads
// do the work. Timers of Python that wait for their turn by themselves are in commandturns.go.

// place says where a command runs. The zero value is any core.
type place struct {
	counted bool // count its threads
	bound   bool // bind it to core
	core    int
	seat    *seat // at the table where it takes turns; nil if it takes none
}

// commandPlace returns where the commands of a round run.
func (t *trial) commandPlace(round int) place {
	core := t.roundCore(round)
	if core < 0 || len(t.Sides) < 2 {
		return place{}
	}
	at := place{bound: true, core: core}
	for _, s := range t.Sides {
		c, ok := s.Runner.(*Commands)
		if !ok {
			return place{}
		}
		at.bound = at.bound && c.cores.oneThread()
	}
	at.counted = !at.bound
	return at
}

// noteCore writes the core of the round into the results, if the commands of all sides were bound to it.
func (t *trial) noteCore(results []measure.Result, at place) {
	for _, s := range t.Sides {
		if c, ok := s.Runner.(*Commands); !ok || !c.cores.bound {
			return
		}
	}
	for i := range results {
		results[i].Round.Core = &at.core
	}
}

// coreUse is what is known about the threads of a command.
type coreUse struct {
	readings int                // in which a thread ran or waited for a core
	crowded  int                // of these, with several threads
	unfit    bool               // it chose its own cores, or does something else on one core
	bound    bool               // the last run was bound
	timed    timed              // what the recorder of Python saw in the last run on all cores
	cases    []string           // of the last run on all cores
	each     func(harness.Load) // is called with every reading; for tests
}

const (
	// minReadings is the number of readings from which threads are known.
	minReadings = 20
	// maxCrowded is the share of readings in which a command that one thread works for may have several: a pipe, or
	// the collector of a runtime.
	maxCrowded = 0.05
	// minTimed is the CPU time in seconds from which the recorder of Python knows what its timers measure. Less is that of a timer
	// that waits for another process.
	minTimed = 0.02
	// startTime is the CPU time after which a program has started. Before that, it is not bound: programs count their cores when they
	// start, and with another number they would do or report something else.
	startTime = 20 * time.Millisecond
	// Readings are frequent at first, for short commands.
	firstReading, lastReading = time.Millisecond, 20 * time.Millisecond
)

// known reports whether more readings would change nothing.
func (u *coreUse) known() bool { return u.unfit || u.readings >= minReadings }

// oneThread reports whether at most one thread works at a time. Threads that wait for a core count, so that the answer does not depend
// on the load of the machine. Where the recorder of Python saw what was measured, only that counts: libraries have threads
// that spin for a while after the import.
func (u *coreUse) oneThread() bool {
	if t := u.timed; !u.unfit && t.Alone >= minTimed {
		return t.Others <= maxCrowded*t.Alone
	}
	return !u.unfit && u.readings >= minReadings && float64(u.crowded) <= maxCrowded*float64(u.readings)
}

// add counts a reading.
func (u *coreUse) add(running int) {
	if running > 0 {
		u.readings++
	}
	if running > 1 {
		u.crowded++
	}
}

// changes reports whether a bound run has other cases than a run on all cores, such as names with the number of cores. The command is
// not bound again then.
func (u *coreUse) changes(cases []measure.Case) bool {
	names := make([]string, len(cases))
	for i, c := range cases {
		names[i] = c.Name()
	}
	slices.Sort(names)
	if !u.bound {
		u.cases = names
		return false
	}
	if slices.Equal(names, u.cases) {
		return false
	}
	u.unfit = true
	return true
}

// follow reads the processes of a command until the returned function is called: it counts their threads, or
// binds them once the program has started.
func (u *coreUse) follow(tree *harness.Tree, at place) (stop func()) {
	u.bound = false
	if !at.bound && (!at.counted || u.known()) {
		return func() {}
	}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for wait := firstReading; ; wait = min(wait*5/4, lastReading) {
			select {
			case <-done:
				return
			case <-time.After(wait):
			}
			load := tree.Load()
			if u.each != nil {
				u.each(load)
			}
			switch {
			case !at.bound:
				u.add(load.Running)
			case load.CPU >= startTime:
				again := u.bound // a process that started during the first binding may have been missed
				u.bound = tree.Bind(at.core)
				if u.unfit = !u.bound; u.unfit || again {
					return
				}
			}
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}
