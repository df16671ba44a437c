package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/explain/diagnose"
	"github.com/goatnote-inc/pawl/internal/explain/profile"
	"github.com/goatnote-inc/pawl/internal/explain/profile/tool"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
	"github.com/goatnote-inc/pawl/stats"
)

// ProfileOptions describe how to profile cases. The suite and the device are in Options.
type ProfileOptions struct {
	Tool  string            // empty for the best that works on this machine
	Set   string            // metric set of Nsight Compute: full or cheap; empty for the suite's
	Time  time.Duration     // no case starts after this; 0 for no limit
	Rules *diagnose.RuleSet // nil for pawl's own
	// Last is the record of a run that may have measured the same code without a
	// profiler; nil for none.
	Last *measure.Run
}

// Explanation holds what the profiles of a case show.
type Explanation struct {
	Case       string
	Before     *diagnose.Subject // the base; nil if there is none
	After      *diagnose.Subject // the candidate; nil if it could not be profiled
	Diagnosis  *diagnose.Diagnosis
	Difference *diagnose.Difference
	Files      []string
	Notes      []string // caveats about how the profiles were made
	Err        error    // why something is missing
}

// Profile profiles cases, on both sides if there is a base, and explains the results. A failure of
// one case is reported in its Why and does not stop the others.
func Profile(ctx context.Context, o Options, what ProfileOptions) (whys []Explanation, err error) {
	if what.Rules == nil {
		what.Rules = diagnose.Rules()
	}
	if err := o.check(); err != nil {
		return nil, &UsageError{err}
	}
	p := &profiling{Setup: NewSetup(o), ProfileOptions: what}
	p.onlyWantedCases = true
	defer func() { err = errors.Join(p.explainBase(err), p.Close(ctx)) }()
	if err := p.begin(ctx); err != nil {
		return nil, err
	}
	began := p.Now()
	for _, s := range p.chosen() {
		if spent := p.Now().Sub(began); p.Time > 0 && spent > p.Time {
			late := Explanation{Case: s, Err: fmt.Errorf("%s is not profiled: the time limit of %v was reached first", s, p.Time)}
			p.Emit(Explained{Explanation: late})
			whys = append(whys, late)
			continue
		}
		why := p.profileCase(ctx, s)
		if ctx.Err() != nil {
			return whys, context.Cause(ctx)
		}
		p.Emit(Explained{Explanation: why})
		whys = append(whys, why)
	}
	return whys, nil
}

// profiling is the state of a profiling run.
type profiling struct {
	*Setup
	ProfileOptions
	dir     string // where the tools write
	welcome harness.Welcome
}

// begin builds the sides and acquires the device.
func (p *profiling) begin(ctx context.Context) error {
	dir, err := filepath.Abs(filepath.Join(filepath.Dir(p.Out), ProfileFolder)) // tools run in the side's folder
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err != nil {
		return fmt.Errorf("cannot create the folder for profiles: %w", err)
	}
	p.dir = dir
	if err := p.Setup.begin(ctx); err != nil {
		return err
	}
	p.sides = slices.DeleteFunc(p.sides, func(s side) bool { return s.name != suite.Candidate && s.name != suite.Base })
	p.welcome, err = p.chooseCases(ctx)
	return err
}

// ProfileFolder is where profiles are kept, beside the record.
const ProfileFolder = "profiles"

// chosen returns the names of the cases to profile, in the requested order.
func (p *profiling) chosen() []string {
	if p.plain() {
		return slices.DeleteFunc([]string{p.Case}, func(s string) bool { return s == "" })
	}
	var names []string
	for _, c := range p.cases[suite.Candidate] {
		names = append(names, c.Key.Name())
	}
	if len(p.Names) > 0 {
		slices.SortStableFunc(names, func(a, b string) int { return slices.Index(p.Names, a) - slices.Index(p.Names, b) })
	}
	return names
}

// profileCase profiles the sides of a case and explains the result.
func (p *profiling) profileCase(ctx context.Context, name string) Explanation {
	w := Explanation{Case: name}
	for _, s := range slices.Backward(p.sides) { // the base first: before, then after
		seen, err := p.side(ctx, s, name, &w)
		if err != nil {
			w.Err = joinSideErrors(w.Err, s.name, name, err)
			continue
		}
		if s.name == suite.Base {
			w.Before = seen
		} else {
			w.After = seen
		}
	}
	p.conclude(&w)
	return w
}

// joinSideErrors adds the reason why a side has no profile to that of the other side. A shared reason,
// such as a missing tool, is reported once.
func joinSideErrors(before error, side, name string, err error) error {
	trouble, ok := errors.AsType[*tool.Error](err)
	if !ok {
		return errors.Join(before, fmt.Errorf("cannot profile %s of %s: %w", side, name, err))
	}
	t := *trouble
	t.What = fmt.Sprintf("profiling %s of %s", side, name)
	if other, ok := errors.AsType[*tool.Error](before); ok && other.Why == t.Why {
		t.What = "profiling both sides of " + name
		return &t
	}
	return errors.Join(before, &t)
}

// conclude adds the diagnosis to w.
func (p *profiling) conclude(w *Explanation) {
	if w.After == nil {
		return
	}
	d, diff, err := p.Rules.Explain(w.Before, *w.After)
	w.Diagnosis, w.Difference = &d, diff
	if err != nil {
		w.Notes = append(w.Notes, err.Error())
	}
}

// side profiles one side of a case and writes its record.
func (p *profiling) side(ctx context.Context, s side, name string, w *Explanation) (*diagnose.Subject, error) {
	t, err := p.target(s, name)
	if err != nil {
		return nil, err
	}
	chosen, why, err := tool.Choose(ctx, t, p.Tool)
	if err != nil {
		return nil, err
	}
	if why != "" && !slices.Contains(w.Notes, why) {
		w.Notes = append(w.Notes, why)
	}
	p.Emit(Profiling{Case: name, Side: s.name, Tool: chosen})
	began := p.Now()
	res, err := p.runTool(ctx, chosen, cmp.Or(p.Set, p.profileConfig(name).Set), t)
	if err != nil {
		return nil, err
	}
	p.Emit(Profiled{Case: name, Side: s.name, Tool: chosen, Seconds: p.Now().Sub(began).Seconds()})
	w.Notes = append(w.Notes, res.Notes...)
	record := res.Profile
	if says := p.clocks(s, name, record); says != "" {
		w.Notes = append(w.Notes, says)
	}
	record.Subject = p.subject(s, name)
	record.Code = p.code(ctx, s, record)
	at := filepath.Join(p.dir, t.Stem+".json")
	if err := keepProfile(at, record); err != nil {
		return nil, err
	}
	for _, f := range append(res.Files, at) {
		w.Files = append(w.Files, filepath.Join(filepath.Dir(p.Out), ProfileFolder, filepath.Base(f)))
	}
	seen, err := diagnose.NewSubject(record, nil) // the record contains its device
	if err != nil {
		return nil, err
	}
	return &seen, nil
}

// Stem returns a file name, without extension, for a side of a case.
func Stem(name, side string) string {
	safe := strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\:*?"<>| `, r) || r < ' ' {
			return '_'
		}
		return r
	}, name)
	if side != suite.Candidate {
		safe += "." + side
	}
	return safe
}

func keepProfile(at string, record *profile.Profile) error {
	f, err := os.Create(at)
	if err != nil {
		return fmt.Errorf("cannot save the profile: %w", err)
	}
	if err := errors.Join(record.Write(f), f.Close()); err != nil {
		return fmt.Errorf("cannot save the profile %s: %w", at, err)
	}
	return nil
}

// subject describes what was profiled.
func (p *profiling) subject(s side, name string) profile.Subject {
	subject := profile.Subject{Case: name, Side: s.name, Commit: s.impl.Commit, Dirty: s.impl.Dirty, Device: p.Device()}
	subject.Nanoseconds = medianOf(p.Last, name, s)
	for _, c := range p.declared {
		if c.Name() == name && c.Implementation == s.name {
			subject.Flops, subject.Bytes = c.Flops, c.Bytes
		}
	}
	return subject
}

// medianOf returns the median time of a side of a case in a record, in nanoseconds; 0 if the record
// is of other code or has no time.
func medianOf(run *measure.Run, name string, s side) float64 {
	if run == nil || s.impl.Digest == "" || !slices.ContainsFunc(run.Implementations, func(i measure.Implementation) bool {
		return i.Name == s.name && i.Digest == s.impl.Digest
	}) {
		return 0
	}
	session, _, err := ratchet.SessionOf(run, name, s.name)
	if err != nil || session.Unit != "ns" {
		return 0
	}
	return stats.Median(session.Rounds)
}
