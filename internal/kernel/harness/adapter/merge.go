package adapter

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/measure"
)

// Merge combines several runs into one, in the given order. Each adds its rounds, and
// cases are matched by their key. Several files of one tool become one side with several
// rounds this way. Merge rejects runs that cannot be one side (another format, testbed
// or commit, a case in another unit). It does not modify its arguments.
func Merge(runs ...*measure.Run) (*measure.Run, error) {
	if len(runs) == 0 {
		return nil, errors.New("merge: no runs to merge: name at least one file")
	}
	first := runs[0]
	m := merger{
		out: &measure.Run{
			Header: first.Header,
			Cases:  []measure.Case{},
			Ending: measure.Ending{End: measure.End{State: measure.Complete}},
		},
		index: map[measure.CaseKey]int{},
		total: len(runs),
	}
	m.out.Implementations = slices.Clone(first.Implementations)
	for i, r := range runs {
		if err := m.header(r); err != nil {
			return nil, fmt.Errorf("merge: run %d of %d: %w", i+1, len(runs), err)
		}
		if err := m.add(r); err != nil {
			return nil, fmt.Errorf("merge: run %d of %d: %w", i+1, len(runs), err)
		}
	}
	m.close()
	return m.out, nil
}

type merger struct {
	out   *measure.Run
	index map[measure.CaseKey]int
	files []int // how many runs had each case
	total int
}

// header checks that a run can be part of the whole, and adopts values that the
// previous runs did not have.
func (m *merger) header(r *measure.Run) error {
	h := &m.out.Header
	if r.Format != h.Format || r.Source != h.Source {
		return fmt.Errorf("it is %s with format %q, but the first run is %s with format %q: all runs of one side must come from the same tool", r.Source, r.Format, h.Source, h.Format)
	}
	known, other := complete(h.Testbed, r.Testbed), complete(r.Testbed, h.Testbed)
	if diffs := known.Differs(other); diffs != nil {
		return fmt.Errorf("its testbed differs from the first run: %s", strings.Join(diffs, "; "))
	}
	h.Testbed = known
	if h.Device.Name == "" {
		h.Device = r.Device
	}
	if !r.Created.IsZero() && (h.Created.IsZero() || r.Created.Before(h.Created)) {
		h.Created = r.Created
	}
	return m.implementations(r)
}

func (m *merger) implementations(r *measure.Run) error {
	h := &m.out.Header
	if len(r.Implementations) != len(h.Implementations) {
		return fmt.Errorf("it has %d implementations, the first run has %d", len(r.Implementations), len(h.Implementations))
	}
	for i, mine := range h.Implementations {
		theirs := r.Implementations[i]
		if mine.Name != theirs.Name {
			return fmt.Errorf("it measures %q, the first run measures %q", theirs.Name, mine.Name)
		}
		if mine.Commit != theirs.Commit {
			return fmt.Errorf("its commit is %q, the first run has %q: all runs of one side must have the same commit", theirs.Commit, mine.Commit)
		}
		if !slices.Equal(mine.Toolchain, theirs.Toolchain) {
			m.warn(warnMixed, "", "the tools differ: %v and %v", mine.Toolchain, theirs.Toolchain)
		}
	}
	return nil
}

// complete fills the unknown fields of t from another testbed: unknown does not mean different.
func complete(t, from measure.Testbed) measure.Testbed {
	if t.Kind == "" {
		t.Kind = from.Kind
	}
	if t.PowerCapW == 0 {
		t.PowerCapW = from.PowerCapW
	}
	for _, f := range []struct {
		to   *string
		from string
	}{{&t.Device, from.Device}, {&t.Driver, from.Driver}, {&t.ECC, from.ECC}, {&t.MIG, from.MIG}} {
		if *f.to == "" {
			*f.to = f.from
		}
	}
	return t
}

func (m *merger) add(r *measure.Run) error {
	offset := len(m.out.Rounds)
	renumbered := map[int]int{} // the round numbers of a run may have gaps
	for i, round := range r.Rounds {
		renumbered[round.Index] = offset + i
		round.Index = offset + i
		m.out.Rounds = append(m.out.Rounds, round)
	}
	for _, c := range r.Cases {
		if err := m.addCase(c, renumbered); err != nil {
			return err
		}
	}
	for _, w := range r.Warnings {
		if w.Round == nil && len(r.Rounds) == 1 {
			w.Round = &r.Rounds[0].Index
		}
		if w.Round != nil {
			if to, ok := renumbered[*w.Round]; ok {
				w.Round = &to
			}
		}
		m.out.Warnings = append(m.out.Warnings, w)
	}
	m.out.Calibration = append(m.out.Calibration, r.Calibration...)
	m.out.End.Seconds += r.End.Seconds
	m.out.End.Dollars += r.End.Dollars
	if r.End.State != measure.Complete && m.out.End.State == measure.Complete {
		m.out.End.State, m.out.End.Reason = r.End.State, r.End.Reason
	}
	return nil
}

func (m *merger) addCase(c measure.Case, renumbered map[int]int) error {
	i, ok := m.index[c.CaseKey]
	if !ok {
		i = len(m.out.Cases)
		m.index[c.CaseKey] = i
		into := c
		into.Rounds = []measure.CaseRound{}
		m.out.Cases = append(m.out.Cases, into)
		m.files = append(m.files, 0)
	}
	into := &m.out.Cases[i]
	m.files[i]++
	if why := conflict(into, &c); why != "" {
		return fmt.Errorf("case %s differs between runs: %s", c.Name(), why)
	}
	switch {
	case into.NoSamples && !c.NoSamples:
		into.NoSamples, into.Summary = false, nil
		m.warn(warnSummary, c.Name(), "some runs have only a summary of this case and are not counted")
	case !into.NoSamples && c.NoSamples:
		m.warn(warnSummary, c.Name(), "some runs have only a summary of this case and are not counted")
	case c.NoSamples && m.files[i] == 2:
		m.warn(warnSummary, c.Name(), "summaries cannot be merged: the summary of the first run is shown")
	}
	for _, r := range c.Rounds {
		number, ok := renumbered[r.Round]
		if !ok {
			return fmt.Errorf("case %s has a round %d that the run does not list", c.Name(), r.Round)
		}
		r.Round = number
		into.Rounds = append(into.Rounds, r)
	}
	return nil
}

// conflict returns why two cases with the same key are not the same series.
func conflict(a, b *measure.Case) string {
	switch {
	case a.Unit != b.Unit:
		return fmt.Sprintf("the unit is %q and %q", a.Unit, b.Unit)
	case a.Timer != b.Timer:
		return fmt.Sprintf("the timer is %q and %q", a.Timer, b.Timer)
	case a.Better != b.Better:
		return fmt.Sprintf("better is %q and %q", a.Better, b.Better)
	}
	for _, name := range slices.Sorted(maps.Keys(a.Params)) {
		if other, ok := b.Params[name]; ok && !reflect.DeepEqual(other, a.Params[name]) {
			return fmt.Sprintf("the parameter %s is %v and %v", name, a.Params[name], other)
		}
	}
	return ""
}

func (m *merger) close() {
	for i, c := range m.out.Cases {
		if m.files[i] < m.total {
			m.warn(warnMixed, c.Name(), "only %d of %d runs contain this case", m.files[i], m.total)
		}
	}
}

func (m *merger) warn(code, caseName, message string, args ...any) {
	m.out.Warnings = append(m.out.Warnings, measure.Warning{Code: code, Case: caseName, Message: fmt.Sprintf(message, args...)})
}
