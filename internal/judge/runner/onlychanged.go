package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"

	"github.com/goatnote-inc/pawl/internal/kernel/affected"
	"github.com/goatnote-inc/pawl/internal/kernel/device"
	"github.com/goatnote-inc/pawl/internal/kernel/reach"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
)

// unchangedSample is how many of the cases that cannot have changed are measured anyway, chosen at random. They test the
// rule: if one of them differs, everything is measured.
const unchangedSample = 8

// sampleStream separates the choice of the sample from others that are made with the seed of a run.
const sampleStream = 0x6f6e6c79

// unchangedCases are the cases that cannot have changed.
type unchangedCases struct {
	skipped []suite.Case                 // not measured
	sampled map[string]measure.Unchanged // measured anyway, by name
}

// leaveOut finds the cases that cannot have changed, and has only a sample of them measured. affected.Builds is the rule.
func (r *Setup) leaveOut(ctx context.Context) {
	if len(r.doubted) > 0 {
		r.Notice(device.Notice{Code: "left_out", Message: fmt.Sprintf(
			"%s differed from the base although nothing that it executes or reads differs, so all cases are measured: please report this", listOf(r.doubted))})
	}
	base, ok := r.sideNamed(suite.Base)
	if !r.OnlyChanged || r.ForceMeasure || !r.checked() || !ok || base.own == nil || len(r.missing) > 0 || r.Suite.NeedsHarness() {
		return
	}
	all := r.wanted()
	if len(all) <= unchangedSample { // all would be in the sample
		return
	}
	candidate := r.sides[0]
	builds := affected.Builds{
		Checked: r.checked(), Redefined: r.definition != nil, Rebuilt: len(r.rebuilt) > 0 || base.impl.Recipe != candidate.impl.Recipe,
		Base: base.impl.Toolchain, Candidate: candidate.impl.Toolchain,
	}
	files := map[string]*reach.File{}
	var measured []string
	var unchanged []suite.Case
	for _, c := range all {
		if builds.Reason(r.kernel(ctx, base, c, files), r.kernel(ctx, candidate, c, files)) == "" {
			unchanged = append(unchanged, c)
		} else {
			measured = append(measured, c.Name())
		}
	}
	if len(unchanged) <= unchangedSample {
		return
	}
	r.leftOut.sampled = map[string]measure.Unchanged{}
	random := rand.New(rand.NewPCG(r.Seed, sampleStream))
	sample := random.Perm(len(unchanged))[:unchangedSample]
	for i, c := range unchanged {
		if !slices.Contains(sample, i) {
			r.leftOut.skipped = append(r.leftOut.skipped, c)
			continue
		}
		r.leftOut.sampled[c.Name()] = measure.Sampled
		measured = append(measured, c.Name())
	}
	r.Names = measured
	r.Emit(LeftOut{Cases: len(all), Unchanged: len(unchanged), Sampled: unchangedSample})
}

// sideNamed returns the side with a name.
func (r *Setup) sideNamed(name string) (side, bool) {
	i := slices.IndexFunc(r.sides, func(s side) bool { return s.name == name })
	if i < 0 {
		return side{}, false
	}
	return r.sides[i], true
}

// kernel returns what a side runs in a case. files holds the files that were opened; nil for one that is not understood.
func (r *Setup) kernel(ctx context.Context, s side, c suite.Case, files map[string]*reach.File) affected.Kernel {
	own := r.Options
	own.Suite = r.suiteOf(s)
	l, arguments, err := own.launchOf(s.dir, c)
	if err != nil {
		return affected.Kernel{Unknown: err.Error()}
	}
	file, known := files[l.File]
	if !known {
		file, err = reach.Open(ctx, l.File)
		files[l.File] = file
	}
	if file == nil {
		return affected.Kernel{Unknown: fmt.Sprintf("%s is not understood: %v", l.File, err)}
	}
	code, err := file.Kernel(l.Kernel)
	if err != nil {
		return affected.Kernel{Unknown: err.Error()}
	}
	spec := *l
	if dir, err := filepath.Abs(s.dir); err == nil {
		if inside, err := filepath.Rel(dir, spec.File); err == nil && filepath.IsLocal(inside) {
			spec.File = inside
		}
	}
	launch, err := json.Marshal([]any{spec, arguments, own.Suite.Benchmark(c.Benchmark).Complete(c.Params).Map()})
	if err != nil {
		return affected.Kernel{Unknown: err.Error()}
	}
	return affected.Kernel{Launch: string(launch), Code: code}
}

// declareSkipped adds the cases that are left out to the record, without rounds.
func (r *Setup) declareSkipped(timers []measure.Timer) {
	for _, name := range []string{suite.Candidate, suite.Base} {
		for _, c := range r.leftOut.skipped {
			key := c.CaseKey
			if key.Implementation = name; key.Cache == measure.Hot {
				key.Cache = ""
			}
			if c.Timer == "" && len(timers) > 0 {
				c.Timer = timers[0]
			}
			r.declared = append(r.declared, measure.Case{
				CaseKey: key, Params: c.Params.Map(), Unit: "ns", Better: measure.Lower, Gate: c.Gate, Timer: c.Timer, Unchanged: measure.Skipped,
			})
		}
	}
}
