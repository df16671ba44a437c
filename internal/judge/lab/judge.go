package lab

import (
	"context"
	"fmt"
	"slices"

	"github.com/goatnote-inc/pawl/ratchet"
)

// The corpora.
const (
	Recorded  = "recorded"  // ordered pairs of recordings of the same code
	Several   = "several"   // the same recordings, as sides with several rounds
	Spaces    = "spaces"    // samples drawn from recorded tuning spaces
	Generated = "generated" // the generator
	Suite     = "suite"     // several cases of the generator in one run
	Stress    = "stress"    // the generator, violating the judge's assumptions
	Machines  = "machines"  // the generator, with the noise of many kinds of machines
)

// Options selects what to measure.
type Options struct {
	Seed    uint64
	Quick   bool     // run about a fiftieth of the trials
	Data    string   // folder of recorded data; empty skips the corpora that need it
	Corpora []string // letters a, b, c; empty means all available
	Say     func(string)
}

// Letters of the corpora on the command line.
const (
	LetterRecorded  = "a"
	LetterSpaces    = "b"
	LetterGenerated = "c"
)

// sizes are the numbers of trials.
type sizes struct{ grid, methods, curve, suites, stress, machines, spaces, worlds, gates, histories int }

func (o Options) sizes() sizes {
	if o.Quick {
		return sizes{grid: 400, methods: 200, curve: 60, suites: 60, stress: 200, machines: 200, spaces: 300, worlds: 5, gates: 40, histories: 20}
	}
	return sizes{grid: 20_000, methods: 5_000, curve: 2_000, suites: 20_000, stress: 10_000, machines: 10_000, spaces: 10_000, worlds: 100, gates: 100, histories: 1_000}
}

// judgeLab is a running measurement of the judge.
type judgeLab struct {
	Options
	sizes
	policy ratchet.Policy
	report *Report
}

// Judge measures the judge and returns the figures.
func Judge(ctx context.Context, o Options) (*Report, error) {
	if o.Say == nil {
		o.Say = func(string) {}
	}
	return measureJudge(ctx, o, o.sizes())
}

func measureJudge(ctx context.Context, o Options, n sizes) (*Report, error) {
	p := ratchet.Default()
	l := &judgeLab{Options: o, sizes: n, policy: p}
	l.report = &Report{Schema: Schema, Seed: o.Seed, Quick: o.Quick, Policy: p}
	for _, m := range Methods(p) {
		l.report.Methods = append(l.report.Methods, Described{m.Name, m.Rule})
	}
	for _, part := range []struct {
		letter string
		run    func(context.Context) error
	}{
		{LetterRecorded, l.recordings},
		{LetterSpaces, l.tuningSpaces},
		{LetterGenerated, l.generator},
	} {
		if len(o.Corpora) > 0 && !slices.Contains(o.Corpora, part.letter) || o.Data == "" && part.letter != LetterGenerated {
			continue
		}
		if err := part.run(ctx); err != nil {
			return nil, err
		}
	}
	l.report.Claims = claims(l.report)
	return l.report, nil
}

// add asks methods about n comparisons and adds their answers to the report.
func (l *judgeLab) add(ctx context.Context, like Row, n int, methods []Method, compare func(trial uint64) Comparison) error {
	l.Say(fmt.Sprintf("%s %s %s %s, effect %s: %d trials", like.Corpus, like.Note, like.Shape, percent(like.Spread), percent(like.Effect), n))
	tallies, err := trials(ctx, n, methods, compare)
	if err != nil {
		return err
	}
	for i, t := range tallies {
		row := like
		row.Method, row.Tally = methods[i].Name, t
		l.report.Rows = append(l.report.Rows, row)
	}
	return nil
}

// recordings measures corpus a.
func (l *judgeLab) recordings(ctx context.Context) error {
	r, err := ReadRecordings(ctx, l.Data)
	if err != nil {
		return err
	}
	fit := r.Fit()
	l.report.Fit = &fit
	pairs, several := r.Pairs(), r.Several()
	at := func(list []Comparison) func(uint64) Comparison {
		return func(i uint64) Comparison { return list[i] }
	}
	if err := l.add(ctx, Row{Corpus: Recorded}, len(pairs), Methods(l.policy), at(pairs)); err != nil {
		return err
	}
	return l.add(ctx, Row{Corpus: Several}, len(several), Methods(l.policy), at(several))
}

// tuningSpaces measures corpus b. The times of any tuned kernel serve as noise inside a round; between
// rounds the generator's quiet machine adds its own.
func (l *judgeLab) tuningSpaces(ctx context.Context) error {
	l.Say("reading the tuning spaces")
	most := maxConfigurations
	if l.Quick {
		most = 200
	}
	noises, err := ReadSpaces(ctx, l.Data, most)
	if err != nil {
		return err
	}
	l.report.Configurations = len(noises)
	for _, effect := range []float64{0, 0.04, 0.06} {
		s := NewScene(Gaussian, 0.008, effect)
		like := Row{Corpus: Spaces, Shape: s.Shape, Spread: s.Spread, Effect: effect}
		err := l.add(ctx, like, l.spaces, Methods(l.policy), func(trial uint64) Comparison {
			// A step that is coprime with the number of configurations visits each of them once.
			own := s
			own.Noise = noises[(trial*7919+l.Seed)%uint64(len(noises))]
			return own.Compare(l.Seed, trial)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
