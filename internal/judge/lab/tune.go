package lab

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/tune/repeat"
	"github.com/goatnote-inc/pawl/internal/tune/replay"
	"github.com/goatnote-inc/pawl/internal/tune/search"
)

// TuneSchema is the schema name of the tuner's figures.
const TuneSchema = "pawl.lab.tune/v2"

// TuneOptions selects what to measure about the tuner.
type TuneOptions struct {
	Seed       uint64
	Quick      bool     // few repeats
	Data       string   // folder of recorded data; empty for generated spaces
	Repeats    int      // searches per strategy and space; 0 for 100, or 10 if quick
	Strategies []string // empty for all but exhaustive
	Spaces     []string // globs over the names of recorded spaces; empty for all
	Parts      []string // empty for all: see TuneParts
	Say        func(string)
}

// Parts of the measurement.
const (
	PartCount    = "count"    // progress by number of evaluations
	PartCost     = "cost"     // progress by cost of the evaluations
	PartNoise    = "noise"    // single raw times instead of medians
	PartTransfer = "transfer" // warm start with results of another GPU
)

// TuneParts lists all parts.
var TuneParts = []string{PartCount, PartCost, PartNoise, PartTransfer}

// defaultStrategy is the default strategy of pawl tune; cost, noise and transfer are measured with it.
const defaultStrategy = "auto"

// TuneReport holds the measured figures about the tuner.
type TuneReport struct {
	Schema   string         `json:"schema"`
	Parts    []TunePart     `json:"parts"`
	Spaces   []SpaceSummary `json:"spaces"`
	Rows     []TuneRow      `json:"rows,omitempty"`
	Anchors  []TuneRow      `json:"anchors,omitempty"` // results of other tools, recorded with the spaces
	Common   []string       `json:"common,omitempty"`  // spaces on which every anchor was measured
	Costs    []CostRow      `json:"costs,omitempty"`
	Noises   []NoiseRow     `json:"noise,omitempty"`
	Transfer []TransferRow  `json:"transfer,omitempty"`
	Claims   []Claim        `json:"claims,omitempty"`
}

// SpaceSummary describes a space in numbers.
type SpaceSummary struct {
	Name   string  `json:"name"`
	Points int     `json:"points"`
	Failed int     `json:"failed"`
	Hours  float64 `json:"hours"` // time to evaluate every point
}

// TuneRow holds what the repeats of one strategy reached on one space.
type TuneRow struct {
	Space    string         `json:"space"`
	Strategy string         `json:"strategy"`
	Repeats  int            `json:"repeats"`
	Levels   []replay.Level `json:"levels"`
}

// At returns the mean after a number of evaluations; false if unknown.
func (r TuneRow) At(evaluations int) (float64, bool) {
	for _, l := range r.Levels {
		if l.Evaluations == evaluations {
			return l.Mean, true
		}
	}
	return 0, false
}

// maxEvaluations is the number of evaluations of a full search.
const maxEvaluations = 200

// Tune measures the tuner on recorded spaces, or without recorded data on generated ones.
func Tune(ctx context.Context, o TuneOptions) (*TuneReport, error) {
	if o.Say == nil {
		o.Say = func(string) {}
	}
	if o.Repeats == 0 {
		if o.Repeats = 100; o.Quick {
			o.Repeats = 10
		}
	}
	recs, err := o.recordings()
	if err != nil {
		return nil, err
	}
	t := &tunerLab{TuneOptions: o, recs: recs, report: &TuneReport{Schema: TuneSchema}}
	for _, rec := range recs {
		s := SpaceSummary{Name: rec.Name, Points: rec.Space.Len(), Hours: rec.Cost() / 3600}
		for _, row := range rec.Rows {
			if row.Failed() {
				s.Failed++
			}
		}
		t.report.Spaces = append(t.report.Spaces, s)
	}
	for _, part := range []struct {
		name string
		run  func(context.Context) error
	}{{PartCount, t.count}, {PartCost, t.cost}, {PartNoise, t.noise}, {PartTransfer, t.transfer}} {
		if len(o.Parts) > 0 && !slices.Contains(o.Parts, part.name) {
			continue
		}
		if err := part.run(ctx); err != nil {
			return nil, err
		}
		t.report.Parts = append(t.report.Parts, o.made(part.name))
	}
	t.report.Claims = tuneClaims(t.report)
	return t.report, nil
}

// tunerLab is a running measurement of the tuner.
type tunerLab struct {
	TuneOptions
	recs   []*replay.Recording
	report *TuneReport
}

func (o TuneOptions) recordings() ([]*replay.Recording, error) {
	if o.Data == "" {
		return GeneratedSpaces()
	}
	files, err := filepath.Glob(filepath.Join(o.Data, "tuning-spaces", "*.csv.gz"))
	if err != nil {
		return nil, fmt.Errorf("tuning spaces: %w", err)
	}
	var list []*replay.Recording
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".csv.gz")
		wanted := func(glob string) bool { ok, _ := filepath.Match(glob, name); return ok }
		if len(o.Spaces) > 0 && !slices.ContainsFunc(o.Spaces, wanted) {
			continue
		}
		rec, err := replay.Open(file)
		if err != nil {
			return nil, err
		}
		list = append(list, rec)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("tuning spaces: no .csv.gz in %s is one of %v", filepath.Join(o.Data, "tuning-spaces"), o.Spaces)
	}
	return list, nil
}

// count measures every strategy on every space.
func (t *tunerLab) count(ctx context.Context) error {
	strategies := t.Strategies
	if len(strategies) == 0 {
		strategies = slices.DeleteFunc(search.Names(), func(s string) bool { return s == "exhaustive" })
	}
	for _, rec := range t.recs {
		for _, strategy := range strategies {
			t.Say(fmt.Sprintf("%s on %s: %d searches", strategy, rec.Name, t.Repeats))
			plan := repeat.Plan{Strategy: strategy, Plan: replay.Plan{Evaluations: maxEvaluations}, Repeats: t.Repeats, Seed: t.Seed}
			traces, err := repeat.Run(ctx, rec, plan)
			if err != nil {
				return err
			}
			t.report.Rows = append(t.report.Rows, TuneRow{Space: rec.Name, Strategy: strategy, Repeats: t.Repeats, Levels: replay.Summarize(traces, repeat.Levels(maxEvaluations)...)})
		}
	}
	if t.Data == "" {
		return nil
	}
	var err error
	t.report.Anchors, err = ReadAnchors(filepath.Join(t.Data, "tuning-spaces", "anchors.csv"))
	t.report.Common = commonSpaces(t.report.Anchors)
	return err
}
