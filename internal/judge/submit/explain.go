package submit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/explain/codeid"
	"github.com/goatnote-inc/pawl/internal/explain/profile"
	"github.com/goatnote-inc/pawl/internal/judge/runner"
	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/measure/codediff"
)

// MaxExplanation is the max size of an encoded explanation, in bytes.
const MaxExplanation = 6000

// Explanation says why an attempt is as fast as it is, compared with another.
type Explanation struct {
	ID    string `json:"id"`
	Other string `json:"other"`
	Case  string `json:"case,omitempty"` // the case that was profiled
	Tool  string `json:"tool,omitempty"` // the profiler

	Reason  string    `json:"reason,omitempty"`  // in a sentence
	Code    string    `json:"code,omitempty"`    // which functions differ in machine code
	Changes []string  `json:"changes,omitempty"` // instructions, registers and counters that moved
	Hot     []HotLine `json:"hot,omitempty"`     // source lines with most instructions
	Try     []Try     `json:"try,omitempty"`     // what may help, most promising first
	Notes   []string  `json:"notes,omitempty"`   // why something is missing
	Waited  number    `json:"waited_s"`          // for the device
	Cost    number    `json:"cost_s"`            // without waiting
}

// HotLine is a line of the source with its share of the instructions.
type HotLine struct {
	File  string `json:"file"`
	Line  int    `json:"line"`
	Share number `json:"share"`
}

// Try is a suggestion with what it rests on.
type Try struct {
	Do       string `json:"do"`
	Evidence string `json:"evidence,omitempty"`
}

// Limits of an explanation.
const (
	maxSentence = 400
	maxChange   = 120
	maxChanges  = 8
	maxHot      = 5
	maxTry      = 3
	maxTryText  = 300
	maxNotes    = 3
)

// Encode returns the explanation as one line of JSON, at most MaxExplanation bytes.
func (e Explanation) Encode() ([]byte, error) {
	e.ID, e.Other = shorten(e.ID, maxID), shorten(e.Other, maxID)
	e.Case, e.Tool = shorten(e.Case, maxCase), shorten(e.Tool, 16)
	e.Reason, e.Code = shorten(e.Reason, maxSentence), shorten(e.Code, maxSentence)
	e.Changes, e.Notes = cut(e.Changes, maxChanges, maxChange), cut(e.Notes, maxNotes, maxSentence)
	e.Hot = slices.Clone(e.Hot[:min(len(e.Hot), maxHot)])
	for i := range e.Hot {
		e.Hot[i].File, e.Hot[i].Line = shorten(e.Hot[i].File, maxFile), clamp(e.Hot[i].Line)
	}
	e.Try = slices.Clone(e.Try[:min(len(e.Try), maxTry)])
	for i := range e.Try {
		e.Try[i] = Try{shorten(e.Try[i].Do, maxTryText), shorten(e.Try[i].Evidence, maxTryText)}
	}
	return encode(e)
}

func cut(list []string, most, limit int) []string {
	var out []string
	for _, s := range list[:min(len(list), most)] {
		out = append(out, shorten(s, limit))
	}
	return out
}

// Explain compares an attempt with another one, or with the base. It builds both, compares their machine
// code and, where a profiler works, profiles the slowest case on both sides. other is an ID, "base", or empty
// for the best attempt.
func (g *Grant) Explain(ctx context.Context, id, other string) (e Explanation, err error) {
	a, b, err := g.pair(id, other)
	if err != nil {
		return e, err
	}
	e = Explanation{ID: a.ID, Other: b.ID}
	list, err := g.Attempts()
	if err != nil {
		return e, err
	}
	limit, limited := g.left(list)
	switch {
	case !limited:
		limit = maxExplainTime
	case limit <= 0:
		return e, ErrSpent
	}
	if a.Answer != nil && a.Answer.Status == Rejected {
		e.Reason = rejection
		return e, nil
	}
	x := explainer{Grant: g, dir: filepath.Join(a.dir, fmt.Sprintf("explain-%s-%d", b.ID, g.Now().UnixNano()))}
	ctx, x.clock = g.startClock(ctx, limit)
	defer func() {
		err = errors.Join(err, x.close(ctx))
		waited, worked := x.clock.read()
		x.clock.end()
		e.Waited, e.Cost = number(waited.Seconds()), number(worked.Seconds())
		err = errors.Join(err, a.writeJSON(explainedFile, a.explained+worked.Seconds()))
	}()
	if err := x.build(ctx, &e, a.Commit, b.Commit); err != nil {
		return e, err
	}
	x.profile(ctx, &e, a, b)
	if e.Reason == "" && len(e.Changes) > 0 {
		e.Reason = "without a profile, changes says what the machine code shows"
	}
	return e, nil
}

// pair returns the two attempts to compare.
func (g *Grant) pair(id, other string) (a, b Attempt, err error) {
	if a, err = g.attempt(id); err != nil {
		return a, b, err
	}
	if other == "" {
		list, err := g.Attempts()
		if err != nil {
			return a, b, err
		}
		if b, _ = best(list); b.ID == a.ID {
			b = Attempt{ID: baseID}
		}
	} else if b = (Attempt{ID: other}); other != baseID {
		if b, err = g.attempt(other); err != nil {
			return a, b, err
		}
	}
	if b.ID == baseID {
		b.Commit = g.Base
	}
	for _, x := range []Attempt{a, b} {
		if x.Commit == "" {
			return a, b, fmt.Errorf("attempt %s was refused: there is nothing to explain", x.ID)
		}
	}
	return a, b, nil
}

// explainer is the state of one explanation.
type explainer struct {
	*Grant
	clock   *clock
	dir     string // where tools write
	trees   []*build.Worktree
	options runner.Options // of the attempt
	built   bool           // both sides
}

func (x *explainer) close(ctx context.Context) error {
	var errs []error
	for _, t := range x.trees {
		errs = append(errs, t.Remove(ctx))
	}
	return errors.Join(errs...)
}

// build builds both commits and compares their machine code.
func (x *explainer) build(ctx context.Context, e *Explanation, commits ...string) error {
	var facts []measure.BuildFacts
	var files [][]string
	for _, commit := range commits {
		f, outputs, err := x.buildOne(ctx, commit)
		if _, failed := errors.AsType[*trial.SideError](err); failed {
			e.Notes = append(e.Notes, firstLine(err.Error()))
			return nil
		}
		if err != nil {
			return err
		}
		facts, files = append(facts, f), append(files, outputs)
	}
	x.built = true
	changes := codediff.Compare(facts[1].Code, facts[0].Code)
	e.Code = changes.String()
	e.Changes = append(e.Changes, kernelChanges(facts[1].Kernels, facts[0].Kernels)...)
	if len(changes.Changed) > 0 {
		was, _ := codeid.Mixes(ctx, files[1], changes.Changed) // without a disassembler the lists are empty
		is, _ := codeid.Mixes(ctx, files[0], changes.Changed)
		e.Changes = append(e.Changes, mixChanges(was, is)...)
	}
	return nil
}

// buildOne checks out a commit, builds it and describes its machine code.
func (x *explainer) buildOne(ctx context.Context, commit string) (f measure.BuildFacts, outputs []string, err error) {
	tree, err := x.repo.Checkout(ctx, commit)
	if err != nil {
		return f, nil, err
	}
	x.trees = append(x.trees, tree)
	dir := filepath.Join(tree.Dir, filepath.FromSlash(x.inside))
	own, err := suite.Load(filepath.Join(dir, x.Suite))
	if err != nil {
		return f, nil, err
	}
	o := runner.Options{
		Suite: own, Dir: dir, Path: x.Suite, Seed: runner.RandomSeed(), Out: filepath.Join(x.dir, "current.json"), Wait: x.Wait, LockDir: x.LockDir,
		Version: x.Version, Owner: "pawl submit explain", Trust: x.Trust, Emit: x.clock.event, Now: x.Now,
	}
	if len(x.trees) == 1 {
		x.options = o
	}
	release, err := x.holdCPU(ctx, own, x.clock)
	if err != nil {
		return f, nil, err
	}
	defer func() { err = errors.Join(err, release()) }()
	builds, err := runner.BuildOnly(ctx, o)
	if err != nil {
		return f, nil, err
	}
	for _, made := range builds {
		if made.Side == suite.Candidate {
			f.Outputs = append(f.Outputs, made.Outputs...)
		}
	}
	_ = codeid.Describe(ctx, dir, &f, "") // without tools it describes less
	for _, output := range f.Outputs {
		outputs = append(outputs, filepath.Join(dir, output.Path))
	}
	return f, outputs, nil
}

// kernelChanges describes how the resources of device kernels differ.
func kernelChanges(was, is []measure.Kernel) []string {
	var list []string
	for _, k := range is {
		i := slices.IndexFunc(was, func(w measure.Kernel) bool { return w.Name == k.Name && w.Arch == k.Arch })
		if i < 0 {
			continue
		}
		for _, c := range []struct {
			what     string
			was, now int
		}{{"registers", was[i].Registers, k.Registers}, {"shared bytes", was[i].SharedBytes, k.SharedBytes}, {"local bytes", was[i].LocalBytes, k.LocalBytes}} {
			if c.was != c.now {
				list = append(list, fmt.Sprintf("%s: %s %d to %d", k.Name, c.what, c.was, c.now))
			}
		}
	}
	return list
}

// mixChanges describes how the instructions of functions differ.
func mixChanges(was, is []profile.Function) []string {
	var list []string
	for _, f := range is {
		i := slices.IndexFunc(was, func(w profile.Function) bool { return w.Kernel == f.Kernel && w.Arch == f.Arch })
		if i < 0 || f.Mix == nil || was[i].Mix == nil {
			continue
		}
		before, now := was[i].Mix, f.Mix
		list = append(list, fmt.Sprintf("%s: instructions %d to %d, in loops %d to %d", f.Kernel, before.Instructions, now.Instructions, before.InLoops, now.InLoops))
		for _, c := range now.Counts {
			had := 0
			for _, w := range before.Counts {
				if w.Class == c.Class && w.Bytes == c.Bytes {
					had = w.InLoops
				}
			}
			if had == c.InLoops {
				continue
			}
			kind := c.Class
			if c.Bytes > 0 {
				kind += fmt.Sprintf(" of %d bytes", c.Bytes)
			}
			list = append(list, fmt.Sprintf("%s: %s in loops %d to %d", f.Kernel, kind, had, c.InLoops))
		}
	}
	return list
}

// Max times of profiling, and of a whole explanation if the grant sets no limit.
const (
	explainTime    = 5 * time.Minute
	maxExplainTime = 20 * time.Minute
)

// profile profiles the slowest case of the attempt on both sides. A profiler that does not work leaves a note.
func (x *explainer) profile(ctx context.Context, e *Explanation, a, b Attempt) {
	if !x.built {
		return
	}
	o := x.options
	o.Base = b.Commit
	if a.Answer != nil && len(a.Answer.Worst) > 0 {
		o.Names = []string{a.Answer.Worst[0].Case}
	} else if cases := o.Suite.Cases(); len(cases) > 0 {
		o.Names = []string{cases[0].Name()}
	}
	last, _ := measure.Load(filepath.Join(a.dir, runFolder, "current.json")) // optional
	whys, err := runner.Profile(ctx, o, runner.ProfileOptions{Time: explainTime, Last: last})
	if err != nil {
		e.Notes = append(e.Notes, firstLine(err.Error()))
	}
	for _, w := range whys {
		x.explained(e, w)
	}
}

// explained adds what the profiles of a case show.
func (x *explainer) explained(e *Explanation, w runner.Explanation) {
	e.Case = w.Case
	if w.After != nil {
		e.Tool = w.After.Profile.Tool.Name
	}
	x.hot(e, w)
	if w.Err != nil {
		e.Notes = append(e.Notes, w.Err.Error())
	}
	var fixes []Try
	if d := w.Difference; d != nil {
		e.Reason = d.Sentence
		for _, c := range d.Changes {
			e.Changes = append(e.Changes, c.String())
		}
		for _, c := range d.Causes {
			for _, f := range c.Fixes {
				fixes = append(fixes, Try{Do: f.Do, Evidence: c.Sentence})
			}
		}
	}
	if d := w.Diagnosis; d != nil {
		if e.Reason == "" {
			e.Reason = d.Sentence
		}
		for _, found := range d.Findings {
			for _, f := range found.Fixes {
				fixes = append(fixes, Try{Do: f.Do, Evidence: found.Sentence})
			}
		}
	}
	for _, f := range fixes {
		if !slices.ContainsFunc(e.Try, func(t Try) bool { return t.Do == f.Do }) {
			e.Try = append(e.Try, f)
		}
	}
	e.Notes = append(e.Notes, w.Notes...)
}

// hot adds the source lines with most instructions, which callgrind counts if the build has debug information.
func (x *explainer) hot(e *Explanation, w runner.Explanation) {
	stem := runner.Stem(w.Case, suite.Candidate) + ".callgrind."
	for _, file := range w.Files {
		if !strings.HasPrefix(filepath.Base(file), stem) {
			continue
		}
		f, err := os.Open(file)
		if err != nil {
			return
		}
		defer f.Close()
		lines, err := profile.CallgrindLines(f, 10*maxHot)
		for _, l := range lines { // only the candidate's own sources: a library's are not its to change
			name := strings.TrimPrefix(l.File, x.options.Dir+"/")
			if _, err := os.Lstat(filepath.Join(x.options.Dir, name)); filepath.IsLocal(name) && err == nil {
				e.Hot = append(e.Hot, HotLine{File: name, Line: l.Line, Share: number(l.Share)})
			}
		}
		if err == nil && len(e.Hot) == 0 {
			e.Notes = append(e.Notes, "no hot lines: the build has no debug information; add -g to its flags")
		}
	}
}
