package preflight

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/explain/codeid"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/internal/kernel/build/cuda"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/internal/kernel/tensor"
	"github.com/goatnote-inc/pawl/measure"
)

// Options say what to check.
type Options struct {
	Suite  *suite.Suite
	Dir    string // the suite's folder, where the candidate is built
	Case   string // glob over case names; empty means all
	Target Target
	UUID   string // of the target, if it is in this machine

	// Build builds one variant in Dir and writes all output to the log, including output
	// that a cache has stored. Nil means do not build: existing outputs are checked.
	Build func(ctx context.Context, b suite.Build, log io.Writer) (measure.BuildFacts, error)
	// Log is the output of the last build, used if Build is nil.
	Log string
	// Last is the last record of the suite, which has the times of kernels; nil if there
	// is none.
	Last *measure.Run
}

// checker is one run of all gates.
type checker struct {
	Options
	report Report
	known  map[Gate]bool      // results so far, without their configs
	times  map[string]float64 // by case, in nanoseconds
}

// Run checks the candidate, first without building it. If that stops, nothing is compiled.
// It runs nothing except the sanitizer, if the GPU is in this machine. An error means that
// a tool failed; findings are in the report.
func Run(ctx context.Context, o Options) (Report, error) {
	l := &checker{Options: o, known: map[Gate]bool{}, times: timesOf(o.Last)}
	l.report.Target = o.Target
	points, err := l.points()
	if err != nil {
		return l.report, err
	}
	for _, p := range points {
		l.checkDeclaredShared(p)
		l.checkDeclaredBlock(p)
		l.checkClaims(p)
		l.checkDuration(p)
	}
	if l.report.Worst() == Stop {
		return l.finished(), nil
	}
	l.report.Built = true
	done := map[string]bool{}
	for _, v := range l.variants() {
		if done[v.Build.Key()] {
			continue
		}
		done[v.Build.Key()] = true
		if err := l.variant(ctx, v, points); err != nil {
			return l.finished(), err
		}
	}
	return l.finished(), nil
}

func (l *checker) finished() Report {
	// What was unknown before compiling no longer matters once it is compiled.
	compiled := map[string]bool{}
	for _, g := range l.report.Gates {
		if g.Name == SharedMemory && g.Kernel != "" {
			compiled[g.Benchmark] = true
		}
	}
	l.report.Gates = slices.DeleteFunc(l.report.Gates, func(g Gate) bool {
		return g.Name == SharedMemory && g.State == Unknown && compiled[g.Benchmark]
	})
	order := Names()
	slices.SortStableFunc(l.report.Gates, func(a, b Gate) int { return slices.Index(order, a.Name) - slices.Index(order, b.Name) })
	return l.report
}

// add stores a result, once for all configs that have the same one.
func (l *checker) add(g Gate) {
	alike := g
	alike.Config = ""
	if !l.known[alike] {
		l.known[alike] = true
		l.report.Gates = append(l.report.Gates, g)
	}
}

func (l *checker) wants(c suite.Case) bool {
	return c.Implementation == suite.Candidate && (l.Case == "" || measure.MatchCase(l.Case, c.Name(), c.Benchmark))
}

// points returns the requested configs.
func (l *checker) points() ([]point, error) {
	cases := map[string][]suite.Case{}
	for _, c := range l.Suite.Cases() {
		if l.wants(c) {
			cases[c.Benchmark+"/"+c.Config] = append(cases[c.Benchmark+"/"+c.Config], c)
		}
	}
	if len(cases) == 0 && l.Case != "" {
		return nil, &NoCaseError{l.Case}
	}
	var points []point
	for _, b := range l.Suite.Benchmarks {
		for _, config := range b.Configs {
			own := cases[b.Name+"/"+config.Name]
			if len(own) == 0 {
				continue
			}
			p, err := newPoint(b, config, own)
			if err != nil {
				return nil, err
			}
			points = append(points, p)
		}
	}
	return points, nil
}

func newPoint(b suite.Benchmark, config suite.Config, cases []suite.Case) (point, error) {
	p := point{benchmark: b.Name, config: config.Name}
	var errs [4]error
	var arguments []tensor.Argument
	p.Preflight, errs[0] = b.Preflight(config.Params)
	p.launch, errs[1] = b.Launch(config.Params)
	p.claims, errs[2] = b.Claims(config.Params)
	arguments, errs[3] = b.Arguments(config.Params)
	for _, c := range cases {
		p.names = append(p.names, c.Name())
		p.work = append(p.work, gpu.Work{
			Flops: c.Flops, Bytes: c.Bytes, DType: computedIn(config.Params, arguments), Cold: c.Cache == measure.Cold,
		})
	}
	return p, errors.Join(errs[:]...)
}

// computedIn returns the type that a config computes in, as far as the suite says: from a
// parameter of that name, or from the first tensor.
func computedIn(params suite.Params, arguments []tensor.Argument) gpu.DType {
	for _, name := range []string{"dtype", "type", "precision"} {
		if v, ok := params.Get(name); ok {
			if d, err := gpu.ParseDType(fmt.Sprint(v)); err == nil {
				return d
			}
		}
	}
	for _, a := range arguments {
		if d, err := gpu.ParseDType(string(a.DType)); err == nil && a.Role != tensor.Value {
			return d
		}
	}
	return ""
}

// NoCaseError means that no case matches the requested glob.
type NoCaseError struct{ Glob string }

func (e *NoCaseError) Error() string {
	return fmt.Sprintf("no case matches %q (`pawl suite check` counts the cases of the suite)", e.Glob)
}

// variants returns the variants of the candidate that measure a requested case, or have none.
func (l *checker) variants() []suite.Variant {
	var list []suite.Variant
	for _, v := range l.Suite.VariantsOf(suite.Candidate) {
		cases := slices.DeleteFunc(slices.Clone(v.Cases), func(c suite.Case) bool { return !l.wants(c) })
		if len(cases) > 0 || len(v.Cases) == 0 {
			v.Cases = cases
			list = append(list, v)
		}
	}
	return list
}

// variant builds a variant and checks the result.
func (l *checker) variant(ctx context.Context, v suite.Variant, points []point) error {
	var facts measure.BuildFacts
	var err error
	log := l.Log
	if l.Build != nil {
		var printed strings.Builder
		facts, err = l.Build(ctx, v.Build, &printed)
		log = printed.String()
	} else {
		facts.Outputs, err = l.built(v.Build)
	}
	if err != nil {
		return l.buildFailed(ctx, log, err)
	}
	if err := codeid.Describe(ctx, l.Dir, &facts, log); ctx.Err() != nil {
		return context.Cause(ctx)
	} else if err != nil { // a machine that only runs prebuilt code may lack the toolkit
		l.add(Gate{Name: BuildGate, State: Unknown, Text: "cannot inspect the build: " + err.Error()})
	}
	kernels := facts.Kernels
	own := slices.DeleteFunc(slices.Clone(points), func(p point) bool {
		return len(v.Cases) > 0 && !slices.ContainsFunc(v.Cases, func(c suite.Case) bool { return c.Benchmark == p.benchmark && c.Config == p.config })
	})
	l.report.Kernels = append(l.report.Kernels, kernels...)
	l.report.Code = append(l.report.Code, facts.Code...)
	l.checkCompiled(kernels, own)
	l.checkLibraries(ctx, facts.Outputs)
	l.checkExports(own)
	if len(kernels) > 0 && l.report.Worst() != Stop {
		l.sanitize(ctx, v)
	}
	return nil
}

// built returns the existing outputs of a build.
func (l *checker) built(b suite.Build) ([]measure.FileDigest, error) {
	recipe, err := build.Compose(b, build.Location{Dir: l.Dir, Arch: l.Target.Arch})
	if err != nil {
		return nil, err
	}
	return build.Digests(l.Dir, recipe.Outputs)
}

// buildFailed explains a failed build from its log. If it finds no explanation, it shows
// the error. A build that could not be tried is an error.
func (l *checker) buildFailed(ctx context.Context, log string, err error) error {
	failed, ok := errors.AsType[*build.Error](err)
	if !ok || ctx.Err() != nil {
		return err
	}
	overflows := cuda.ReadPtxas(log).Overflows
	for _, o := range overflows {
		o.Arch = cmp.Or(o.Arch, l.Target.Arch, archIn(failed.Command))
		l.reportOverflow(ctx, o)
	}
	missing := ReadLink(log)
	l.explainLink(ctx, missing, "the link fails")
	if len(overflows)+len(missing) == 0 {
		l.add(Gate{Name: BuildGate, State: Stop, Text: failed.Error(), Fix: "fix the build; pawl build reproduces the error"})
	}
	return nil
}

var archWord = lazyregexp.New(`\b(?:sm|compute)_[0-9]+`)

// archIn returns the architecture in a command, if it names exactly one: without -v the
// assembler does not say for which one it failed.
func archIn(command string) string {
	names := map[string]bool{}
	for _, word := range archWord.FindAllString(command, 100) {
		if a, err := gpu.FindArch(word); err == nil {
			names[a.Name] = true
		}
	}
	if len(names) != 1 {
		return ""
	}
	return slices.Collect(maps.Keys(names))[0]
}

// reportOverflow reports static shared memory that the assembler rejects.
func (l *checker) reportOverflow(ctx context.Context, o cuda.Overflow) {
	g := Gate{Name: SharedMemory, Kernel: cuda.Short(cuda.Demangle(ctx, []string{o.Symbol})[0]), Arch: o.Arch, Unit: "bytes"}
	if arch, ok := l.Target.archOf(o.Arch); ok {
		l.add(checkShared(g, arch, o.Bytes, 0, "according to the compiler"))
		return
	}
	g.Number, g.Limit = float64(o.Bytes), float64(o.Limit)
	l.add(g.with(Stop, "make it dynamic: declare it extern __shared__, and set cudaFuncAttributeMaxDynamicSharedMemorySize before the launch; or use a smaller tile",
		"%s of static shared memory per block, according to the compiler; the limit is %s", size(o.Bytes), size(o.Limit)))
}

// checkLibraries reports symbols that shared libraries lack: loading them would fail.
func (l *checker) checkLibraries(ctx context.Context, outputs []measure.FileDigest) {
	for _, o := range outputs {
		name := path.Base(o.Path)
		if !strings.Contains(name, ".so") {
			continue
		}
		missing, err := undefined(filepath.Join(l.Dir, filepath.FromSlash(o.Path)))
		switch {
		case err != nil:
			l.add(Gate{Name: Symbols, State: Unknown, Kernel: name, Text: "cannot check whether it can be loaded: " + err.Error()})
		case len(missing) == 0:
			l.add(Gate{Name: Symbols, State: Pass, Kernel: name, Text: "all symbols it needs are defined"})
		default:
			var list []Unresolved
			for _, m := range missing[:min(len(missing), maxUnresolved)] {
				list = append(list, Unresolved{Symbol: m})
			}
			l.explainLink(ctx, list, name+" cannot be loaded")
		}
	}
}
