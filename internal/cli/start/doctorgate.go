package start

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/doctor"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/internal/report"
	"github.com/goatnote-inc/pawl/measure"
)

// gateDocument is the result of --gate, as JSON.
type gateDocument struct {
	Record string `json:"record"`
	doctor.Gate
	Words []string `json:"words"`
}

// measureGate lets the judge compare the same code on both sides, and a third side that does more work.
// A working gate must be able to pass and to fail.
func (f *doctorFlags) measureGate(ctx context.Context, path string) (*gateDocument, error) {
	s, err := suite.Load(path)
	if err != nil {
		return nil, err
	}
	f.OutFile = filepath.Join(filepath.Dir(path), "results", "gate.json")
	o := f.Options(s, path)
	o.Owner, o.Rounds, o.Planted = "pawl doctor --gate", 0, true
	policy := s.JudgePolicy()
	o.Decide = func(seen *measure.Run, _ bool) []string { return doctor.Undecided(policy, seen) }
	run, res, err := f.measureItself(ctx, o)
	if err != nil || run == nil {
		return nil, err
	}
	g := doctor.NewGate(policy, run)
	doc := &gateDocument{Record: res.Path, Gate: g, Words: g.Words()}
	if !f.JSON {
		err = f.writeGate(doc)
	}
	return doc, err
}

func (f *doctorFlags) writeGate(d *gateDocument) error {
	rows := [][]string{{"case", "rounds", "spread", "same code", fmt.Sprintf("%.0f %% slower", 100*d.Slowdown)}}
	for _, c := range d.Cases {
		rows = append(rows, []string{c.Case, fmt.Sprint(c.Rounds), words.Percent(c.Spread), string(c.Same), string(c.Slow)})
	}
	fmt.Fprintln(f.Out, "\ngate")
	if err := report.Table(f.Out, f.Style(), []bool{false, true, true, false, false}, rows); err != nil {
		return err
	}
	for _, w := range d.Words {
		fmt.Fprintln(f.Out, "  "+w)
	}
	_, err := fmt.Fprintln(f.Out, f.Style().Faint("record: "+d.Record))
	return err
}

// gateAnswer returns the exit code of the gate's self-test.
func gateAnswer(d *gateDocument) error {
	switch {
	case d == nil || d.SameCodePasses && d.SlowdownFails:
		return nil
	case !d.SameCodePasses:
		return command.Exit(command.ExitFailed, fmt.Errorf("the gate calls identical code a regression: %w", command.ErrReported))
	default:
		return command.Exit(command.ExitNoAnswer, fmt.Errorf("the gate cannot find a slowdown here: %w", errors.Join(command.ErrReported)))
	}
}
