package learn

import (
	"github.com/goatnote-inc/pawl/internal/learn/journal"
)

// Span is a stretch of a session that went to one phase.
type Span struct {
	Phase   string  `json:"phase"` // of gates, or "lost"
	Minutes float64 `json:"minutes"`
}

// The phases, in the order of the way, and the time that a host that died took along.
const (
	phaseAssess   = "assess"
	phaseBuild    = "build"
	phaseBaseline = "baseline"
	phaseOptimise = "optimise"
	phaseLost     = "lost"
)

// Phases are those that minutes are split by.
func Phases() []string {
	return []string{phaseAssess, phaseBuild, phaseBaseline, phaseOptimise, phaseLost}
}

// spans splits a session's minutes: the time between two entries went to what the later
// one did. What no entry tells belongs to the phase around it.
func spans(s *journal.Session, minutes float64) []Span {
	var list []Span
	add := func(phase string, took float64) {
		if took <= 0 {
			return
		}
		if n := len(list); n > 0 && list[n-1].Phase == phase {
			list[n-1].Minutes += took
			return
		}
		list = append(list, Span{phase, took})
	}
	w := walk{gates: gatePhases()}
	told, waiting := 0.0, 0.0
	for _, e := range s.Entries {
		at := max(told, since(s, e.Time))
		waiting += at - told
		told = at
		if phase := w.phase(e); phase != "" {
			add(phase, waiting)
			waiting = 0
		}
	}
	waiting += max(0, minutes-told)
	rest := phaseAssess
	if n := len(list); n > 0 {
		rest = list[n-1].Phase
	}
	add(rest, waiting)
	return list
}

// walk goes along a session's entries and knows what was there before.
type walk struct {
	gates     map[string]string // phase by gate
	measured  bool              // the candidate was, once
	optimises bool              // a profile was taken, or what was measured was changed
	host      string
}

// phase is what the time before an entry went to; empty where it does not tell.
func (w *walk) phase(e journal.Entry) string {
	switch {
	case e.Refused != nil:
		return w.gates[e.Refused.Gate]
	case e.Overrode != nil:
		return w.gates[e.Overrode.Gate]
	case e.Ended != nil && e.Ended.Outcome == journal.Lost:
		return phaseLost
	case e.Did == nil:
		return ""
	}
	if w.moved(e.Did.Host) {
		return phaseLost
	}
	return w.work(e.Did)
}

// moved tells of work that goes on on another host: what lay between was lost.
func (w *walk) moved(host string) bool {
	if host == "" {
		return false
	}
	before := w.host
	w.host = host
	return before != "" && before != host
}

// work is the phase of a command by what it found out.
func (w *walk) work(d *journal.Did) string {
	switch {
	case d.Built != nil && !d.Built.OK:
		return phaseBuild
	case hasCandidate(d.Measured):
		if w.optimises = w.optimises || w.measured && len(d.Changes) > 0; w.optimises {
			return phaseOptimise
		}
		w.measured = true
		return phaseBaseline
	case hasReference(d.Measured), d.Environment != nil, d.Limits != nil:
		return phaseAssess
	case d.Profiled != nil, d.Tuned != nil:
		w.optimises = true
		return phaseOptimise
	case w.measured && (d.Checked != nil || d.Built != nil):
		if w.optimises || len(d.Changes) > 0 {
			return phaseOptimise
		}
		return phaseBaseline
	case d.Checked != nil, d.Built != nil:
		return phaseBuild
	}
	return commandPhases[d.Command]
}

// commandPhases are those of commands that found nothing out, as they failed.
var commandPhases = map[string]string{
	"doctor": phaseAssess, "device show": phaseAssess, "device occupancy": phaseAssess, "init": phaseAssess, "suite check": phaseAssess,
	"preflight": phaseBuild, "build": phaseBuild, "fuzz": phaseBuild,
	"bench": phaseBaseline, "run": phaseBaseline, "compare": phaseBaseline,
	"profile": phaseOptimise, "diagnose": phaseOptimise, "tune": phaseOptimise,
}

// gatePhases says in which phase each gate stands.
func gatePhases() map[string]string {
	phases := map[string]string{}
	for _, p := range allGates().Phases {
		for _, g := range p.Gates {
			phases[g.ID] = p.ID
		}
	}
	return phases
}
