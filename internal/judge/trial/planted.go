package trial

import "github.com/goatnote-inc/pawl/internal/kernel/harness"

// Work causes a real slowdown of known size: it is how many runs a side does for every 16 that its
// samples count. 0 is for a trial without such a side.
type Work int

// Amounts of work.
const (
	AllWork  Work = 16 // as many runs as counted
	MoreWork Work = 17 // one more
)

// Slowdown is the slowdown of a side with MoreWork, as a fraction.
const Slowdown = float64(MoreWork)/float64(AllWork) - 1

// minSamples is the min number of samples of a round. Samples of many runs need not be many.
const minSamples = 6

// setRuns sets the runs per sample. agreed is the number that the previous sides use, 0 for the first
// side. chosen is the number that this side's harness chose for the case.
func (p *process) setRuns(agreed, chosen int) {
	p.batch = agreed
	if p.Work == 0 || p.scores() || !p.session.Welcome.Has(harness.FeatureVerify) { // harnesses with that feature support the batch field
		return
	}
	units := (max(agreed, chosen, 1) + int(AllWork) - 1) / int(AllWork)
	p.batch = units * int(p.Work)
	fewer := p.samples * max(chosen, 1) / (units * int(AllWork))
	p.samples = max(fewer, min(minSamples, p.samples))
}

// count scales samples with extra runs as if the extra runs were not there. It returns false if the
// harness did not do as many runs as requested.
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
