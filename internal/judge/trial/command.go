package trial

import (
	"bytes"
	"context"
	"fmt"
	"os"

	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/internal/kernel/harness/adapter"
	"github.com/goatnote-inc/pawl/measure"
)

// Commands is a Runner for a plain command whose output, printed or in a file, is in a
// format that pawl reads. The command itself decides the order of cases, the number of
// samples and the warm-up.
type Commands struct {
	Command harness.Command
	Format  string // empty means: detect it
	Output  string // the file it writes, below the command's folder; empty means stdout
	Side    string
	// Found is called with the cases of the first round before their results; never nil.
	Found func([]measure.Case) error
	// Keep reports whether a case is wanted; nil keeps all.
	Keep func(measure.CaseKey) bool
}

// Round runs the command once.
func (c *Commands) Round(ctx context.Context, r Request) ([]measure.Result, error) {
	run, err := c.run(ctx)
	if err != nil {
		return nil, err
	}
	var cases []measure.Case
	var results []measure.Result
	for _, found := range run.Cases {
		found.Implementation = c.Side
		if c.Keep != nil && !c.Keep(found.CaseKey) {
			continue
		}
		for _, cr := range found.Rounds {
			cr.Round = r.Round
			results = append(results, measure.Result{Case: found.CaseKey, Round: cr})
		}
		cases = append(cases, found)
	}
	if len(cases) == 0 {
		return nil, fmt.Errorf("command %q ran, but its output has none of the requested cases", c.Command.Line)
	}
	if err := c.Found(cases); err != nil {
		return nil, err
	}
	for _, res := range results {
		r.Measured(res)
	}
	return results, nil
}

func (c *Commands) run(ctx context.Context) (*measure.Run, error) {
	if c.Output != "" {
		if err := harness.RemoveStaleResult(c.Command.Dir, c.Output); err != nil {
			return nil, err
		}
	}
	printed, err := harness.Output(ctx, c.Command)
	if err != nil {
		return nil, err
	}
	opt := adapter.Options{Format: c.Format}
	root, err := os.OpenRoot(c.Command.Dir)
	if err != nil {
		return nil, fmt.Errorf("cannot read the output of %q: %w", c.Command.Line, err)
	}
	defer root.Close()
	src := adapter.Source{Name: "output of " + c.Command.Line, Path: c.Output, Files: root.FS()}
	if c.Output == "" {
		src.Path, src.Data = "stdout", bytes.NewReader(printed)
	}
	return adapter.Read(ctx, src, opt)
}
