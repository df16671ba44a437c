package trial

// threads is how many threads the sides of a case use, as far as their warm-up showed.
type threads int

const (
	unknownThreads threads = iota
	oneThread              // on all sides
	manyThreads            // on at least one side, or it cannot be told
)

// Cores of a shared machine differ in speed, and each process tends to stay on its own. So the sides of
// a round run on the same core if they use one thread each. The next round uses the next core.

// roundCore returns the core of a round; -1 if there is no choice.
func (t *trial) roundCore(round int) int {
	if len(t.Cores) < 2 {
		return -1
	}
	return t.Cores[round%len(t.Cores)]
}

// startingCore returns the core for the warm-up of a case. It is -1 until a warm-up on all cores has shown
// that one thread does the work.
func (t *trial) startingCore(name string, round int) int {
	if t.threads[name] != oneThread {
		return -1
	}
	return t.roundCore(round)
}

// shareCore binds all sides to one core after the warm-up, or to none if a side uses several threads. It
// returns the core; -1 for none. All sides are stopped, so that the CPU time of their threads is exact.
func (t *trial) shareCore(name string, round int, playing []*participant) int {
	core := t.roundCore(round)
	if core < 0 || len(playing) == 0 || t.threads[name] == manyThreads {
		return -1
	}
	t.threads[name] = oneThread
	for _, s := range playing {
		if !s.process.tree.WorkTime().OneThread(s.process.work) || !s.process.bind(core) {
			t.threads[name] = manyThreads
		}
	}
	if t.threads[name] == oneThread {
		return core
	}
	for _, s := range playing {
		s.process.bind(-1)
	}
	return -1
}

// bind lets the process run on one core only, or on all if core is -1. It reports whether it does.
func (p *process) bind(core int) bool {
	switch {
	case core == p.core:
		return true
	case core < 0:
		p.tree.Unbind()
	case !p.tree.Bind(core):
		return false
	}
	p.core = core
	return true
}
