package trial

import (
	"fmt"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/measure"
)

// A stopped side uses no CPU time, even on a busy machine. These constants allow some per case of a
// round, for threads that were in the kernel when they were stopped.
const (
	stoppedTime  = time.Millisecond
	stoppedShare = 0.01 // fraction of the time that the others ran
)

func tolerated(u harness.Use) bool {
	return u.Ended == 0 && u.CPU <= max(stoppedTime, time.Duration(stoppedShare*float64(u.Wall)))
}

// checkStayedStopped replaces a case's samples by an error if a side used CPU time while another was
// measured. It does so for all sides, because it cannot tell which of them woke the processes. It
// returns an error if processes that belong to no side used CPU time.
func checkStayedStopped(table []*participant, states map[*participant]*measure.CaseRound) error {
	ran := ""
	for _, s := range table {
		if use := s.process.tree.Use(); !tolerated(use) && ran == "" {
			ran = s.ranMeanwhile(use, table)
		}
	}
	for _, cr := range states {
		if ran != "" && cr.Error == "" {
			*cr = measure.CaseRound{Error: ran, Samples: measure.Samples{}, Warmup: cr.Warmup, Quantum: cr.Quantum}
		}
	}
	if use := table[0].freezer.Left(); !tolerated(use) {
		return fmt.Errorf("processes left running by a build or an earlier harness used %s of CPU time while the sides were measured: end them in the build", milliseconds(use.CPU))
	}
	return nil
}

func (s *participant) ranMeanwhile(use harness.Use, table []*participant) string {
	var others []string
	for _, o := range table {
		if o != s {
			others = append(others, o.side.Name)
		}
	}
	text := fmt.Sprintf("clocks disagree: %s used %s of CPU time while %s was measured, although its processes were stopped: something resumed them",
		s.side.Name, milliseconds(use.CPU), strings.Join(others, " or "))
	if use.Ended > 0 {
		text += fmt.Sprintf("; %d of them ended in the meantime", use.Ended)
	}
	return text
}

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.3g ms", float64(d.Microseconds())/1e3)
}
