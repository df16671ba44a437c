package discover

import (
	"context"
	"slices"

	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
)

// Answer holds what a harness reports about itself.
type Answer struct {
	Welcome harness.Welcome
	Listed  []suite.Listed
}

// Ask starts a harness once and returns its clocks and its cases.
func Ask(ctx context.Context, c harness.Command, hello harness.Hello) (*Answer, error) {
	session, err := harness.Start(ctx, c, hello)
	if err != nil {
		return nil, err
	}
	defer session.Kill()
	listed, err := session.Cases(ctx)
	if err != nil {
		return nil, err
	}
	return &Answer{Welcome: session.Welcome, Listed: listed}, session.Bye(ctx)
}

// timer returns the clock to write into the suite: the device's own if the harness has it, or
// else what the sources suggest, if the harness has that.
func (a *Answer) timer(suggested measure.Timer) measure.Timer {
	for _, t := range []measure.Timer{measure.TimerDevice, suggested, measure.TimerWall} {
		if t != "" && slices.Contains(a.Welcome.Timers, t) {
			return t
		}
	}
	return ""
}
