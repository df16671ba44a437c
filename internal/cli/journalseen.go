package cli

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/goatnote-inc/pawl/internal/bench"
	"github.com/goatnote-inc/pawl/internal/learn/journal"
	"github.com/goatnote-inc/pawl/internal/loop"
	"github.com/goatnote-inc/pawl/internal/suite"
)

// witness is what a command deposits for the journal while it runs. Outside of a session it is
// nil, and every method does nothing then.
type witness struct {
	g       *globals
	entry   *entry
	mu      sync.Mutex
	facts   journal.Did // those that were deposited
	record  string      // path of the last record that was saved
	built   bool        // the candidate was
	held    time.Time   // since when the device is held; zero for not
	device  time.Duration
	staging []string // what a step before measuring stopped for
}

func newWitness(g *globals, e *entry) *witness { return &witness{g: g, entry: e} }

// event watches what happens in a run.
func (s *witness) event(e bench.Event) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.g.now()
	switch e := e.(type) {
	case bench.Built:
		s.built = s.built || e.Side == suite.Candidate
	case bench.Ready, bench.Profiling, bench.Fuzzing, bench.TuneEvaluated:
		if s.held.IsZero() {
			s.held = now
		}
	case bench.Saved:
		s.record = e.Path
		s.release(now)
	case bench.Staged:
		if e.Answer == loop.Stop {
			s.staging = append(s.staging, string(e.Step)+": "+e.Line)
		}
	}
}

// release counts the time for which the device was held.
func (s *witness) release(now time.Time) {
	if !s.held.IsZero() {
		s.device += max(0, now.Sub(s.held))
		s.held = time.Time{}
	}
}

// add deposits facts.
func (s *witness) add(put func(*journal.Did)) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	put(&s.facts)
}

// fill completes the entry of a command that has ended.
func (s *witness) fill(ctx context.Context, d *journal.Did, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.release(s.g.now())
	d.Environment, d.Limits, d.Checked, d.Profiled, d.Tuned = s.facts.Environment, s.facts.Limits, s.facts.Checked, s.facts.Profiled, s.facts.Tuned
	d.Measured = s.facts.Measured
	d.Built = builtBy(d.Command, s.built, err)
	if d.Measured == nil && s.record != "" && (d.Command == "bench" || d.Command == "run") {
		m, wrong, trouble := measuredBy(ctx, s.record, s.entry)
		if trouble != nil {
			s.g.say("note: the journal does not have what was measured: " + trouble.Error())
		}
		d.Measured = m
		d.Checked = cmp.Or(d.Checked, wrong)
	}
	d.Device = s.device.Seconds()
	if price := s.price(); price > 0 {
		d.Dollars = d.Device / 3600 * price
	}
	if d.Checked == nil {
		d.Checked = checkedBy(s.staging)
	}
	if errors.Is(err, errSaid) && d.Error != "" {
		d.Error = "" // it was an answer
	}
}

// price is that of the device, as the suite says it or said when the session began.
func (s *witness) price() float64 {
	if st := s.entry.source.suite; st != nil && st.Device.PricePerHour > 0 {
		return st.Device.PricePerHour
	}
	return s.entry.writer.Session().Price
}

// checkedBy is a stop of pawl run at wrong results; nil where there was none.
func checkedBy(stops []string) *journal.Checked {
	for _, line := range stops {
		if name := string(loop.Checking) + ": "; len(line) > len(name) && line[:len(name)] == name {
			return &journal.Checked{Points: 1, Failed: 1, FirstBad: line[len(name):]}
		}
	}
	return nil
}
