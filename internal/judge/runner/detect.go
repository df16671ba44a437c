package runner

import (
	"context"
	"io"
	"path/filepath"
	"strings"

	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/internal/kernel/device"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
)

// commands returns the runner of a side that is a plain command.
func (r *Setup) commands(s side, log io.Writer) *trial.Commands {
	h := r.variants(s)[0].Harness
	if h.Format == "auto" {
		h.Format = "" // the adapter's name for it
	}
	name := r.Suite.Name
	if name == "" {
		name, _, _ = strings.Cut(filepath.Base(h.Command), " ")
	}
	// A suite with format auto reads what its program prints: recorded cases would have other names than its baselines.
	record := h.Format == trial.Python || h.Format == "" && r.Detect != nil
	listed := r.listed()
	c := &trial.Commands{
		Command: r.start(s, h, log), Format: h.Format, Pattern: h.Pattern, Output: h.Output, Name: name, Side: s.name,
		Found:  r.list,
		Keep:   func(k measure.CaseKey) bool { return r.wants(k.Name(), k.Benchmark) && listed(k) },
		Record: record, Now: r.Now,
	}
	if h.Format == "google-benchmark" { // the only one with two clocks
		c.Timer = r.Suite.Measure.Timer
	}
	return c
}

// listed returns a function that reports whether the suite lists a case of a plain command. A suite without cases takes all
// of them.
func (r *Setup) listed() func(measure.CaseKey) bool {
	known := map[[2]string]bool{}
	for _, c := range r.Suite.Cases() {
		known[[2]string{c.Benchmark, c.Config}] = true
	}
	return func(k measure.CaseKey) bool { return len(known) == 0 || known[[2]string{k.Benchmark, k.Config}] }
}

// detect runs the command once on the candidate to find out what it reports, and says what was found and what is not
// known.
func (r *Setup) detect(ctx context.Context) error {
	if r.Detect == nil {
		return nil
	}
	c := r.commands(r.sides[0], nil)
	found, err := c.Detect(ctx)
	if err != nil {
		return &trial.SideError{Side: suite.Candidate, Err: err}
	}
	if r.Suite, err = r.Detect(found); err != nil {
		return err
	}
	for i := range r.sides {
		r.combine(&r.sides[i])
	}
	r.Notice(device.Notice{Code: measure.WarnCommand, Message: found.String()})
	believed := "the times are those that the command reports, "
	if found.Format == trial.Process {
		believed = ""
	}
	r.Notice(device.Notice{Code: "unchecked", Message: "not checked: " + believed + "its results are not compared with correct ones, and no baseline moves"})
	if len(r.sides) > 1 && r.sides[0].impl.Dirty {
		r.Notice(device.Notice{Code: "dirty", Message: "the working tree has uncommitted changes: they are part of the candidate"})
	}
	return nil
}
