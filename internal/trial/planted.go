package trial

import "github.com/goatnote-inc/pawl/internal/harness"

// Work makes a slowdown that is real and known: how many runs a side does for every 16 that its samples
// count. 0 is for a trial without such a side.
type Work int

// What sides do.
const (
	AllWork  Work = 16 // as many runs as are counted
	MoreWork Work = 17 // one more
)

// Slowdown is that of a side that does MoreWork.
const Slowdown = float64(MoreWork)/float64(AllWork) - 1

// leastSamples is how many samples a round has at least. Samples of many runs need not be many.
const leastSamples = 6

// setRuns sets how many runs a sample has. agreed is what the sides before take, 0 for the first, and
// chosen what the harness of this one took for the case.
func (p *process) setRuns(agreed, chosen int) {
	p.batch = agreed
	if p.Work == 0 || p.scores() || !p.session.Welcome.Has(harness.FeatureVerify) { // those know the field
		return
	}
	units := (max(agreed, chosen, 1) + int(AllWork) - 1) / int(AllWork)
	p.batch = units * int(p.Work)
	fewer := p.samples * max(chosen, 1) / (units * int(AllWork))
	p.samples = max(fewer, min(leastSamples, p.samples))
}

// count counts samples that have more runs than the others as if they had not. It reports false where the
// harness did not do as many runs as it was asked for.
func (p *process) count(m *harness.Measured) bool {
	if p.Work != MoreWork {
		return true
	}
	if m.Batch != p.batch || m.Batch%int(MoreWork) != 0 {
		return false
	}
	counted := m.Batch / int(MoreWork) * int(AllWork)
	for _, clock := range [][]float64{m.Samples, m.Wall, m.CPU} {
		for i := range clock {
			clock[i] *= float64(m.Batch) / float64(counted)
		}
	}
	m.Batch = counted
	return true
}
