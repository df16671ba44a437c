package cli

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/judge/loop"
	"github.com/goatnote-inc/pawl/internal/judge/runner"
	"github.com/goatnote-inc/pawl/internal/judge/tuning"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/internal/learn/journal"
)

// journalFacts collects facts for the journal while a command runs.
type journalFacts struct {
	g               *globals
	entry           *entry
	mu              sync.Mutex
	facts           journal.Did // facts recorded so far
	record          string      // path of the last saved record
	built           bool        // the candidate was built
	deviceHeldSince time.Time   // since when the device is held; zero if it is not
	device          time.Duration
	stops           []string // why steps before measuring stopped the run
}

func newJournalFacts(g *globals, e *entry) *journalFacts { return &journalFacts{g: g, entry: e} }

// Event updates the facts from an event of a run.
func (s *journalFacts) Event(e runner.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.g.now()
	switch e := e.(type) {
	case runner.Built:
		s.built = s.built || e.Side == suite.Candidate
	case runner.Ready, runner.Profiling, runner.Fuzzing, tuning.Evaluated:
		if s.deviceHeldSince.IsZero() {
			s.deviceHeldSince = now
		}
	case runner.Saved:
		s.record = e.Path
		s.release(now)
	case runner.Staged:
		if e.Answer == loop.Stop {
			s.stops = append(s.stops, string(e.Step)+": "+e.Line)
		}
	}
}

// release adds the time for which the device was held.
func (s *journalFacts) release(now time.Time) {
	if !s.deviceHeldSince.IsZero() {
		s.device += max(0, now.Sub(s.deviceHeldSince))
		s.deviceHeldSince = time.Time{}
	}
}

// add records facts.
func (s *journalFacts) add(put func(*journal.Did)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	put(&s.facts)
}

// fill completes the entry of a command that has ended.
func (s *journalFacts) fill(ctx context.Context, d *journal.Did, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.release(s.g.now())
	d.Environment, d.Limits, d.Checked, d.Profiled, d.Tuned = s.facts.Environment, s.facts.Limits, s.facts.Checked, s.facts.Profiled, s.facts.Tuned
	d.Measured = s.facts.Measured
	d.Built = buildResult(d.Command, s.built, err)
	if d.Measured == nil && s.record != "" && (d.Command == "bench" || d.Command == "run") {
		m, wrong, trouble := measuredFromRecord(ctx, s.record, s.entry)
		if trouble != nil {
			s.g.Say("note: the journal does not record the measurement: " + trouble.Error())
		}
		d.Measured = m
		d.Checked = cmp.Or(d.Checked, wrong)
	}
	d.Device = s.device.Seconds()
	if price := s.price(); price > 0 {
		d.Dollars = d.Device / 3600 * price
	}
	if d.Checked == nil {
		d.Checked = checkedBy(s.stops)
	}
	if errors.Is(err, command.ErrReported) && d.Error != "" {
		d.Error = "" // it is an answer, not an error
	}
}

// price returns the price of the device per hour: from the suite, or else as of the start of the session.
func (s *journalFacts) price() float64 {
	if st := s.entry.source.suite; st != nil && st.Device.PricePerHour > 0 {
		return st.Device.PricePerHour
	}
	return s.entry.writer.Session().Price
}

// checkedBy returns the stop of pawl run at wrong results; nil if there was none.
func checkedBy(stops []string) *journal.Checked {
	for _, line := range stops {
		if name := string(loop.Checking) + ": "; len(line) > len(name) && line[:len(name)] == name {
			return &journal.Checked{Points: 1, Failed: 1, FirstBad: line[len(name):]}
		}
	}
	return nil
}
