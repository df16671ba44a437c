package harness

import (
	"context"
	"fmt"
)

// FeatureProfile is offered by a harness that runs a case where profilers can find it.
const FeatureProfile = "profile"

// Profile asks for runs of the prepared case in a place that profilers can find: a
// function pawl_profiled, on CUDA between the start and the stop of the profiler.
type Profile struct {
	Iterations int `json:"iterations"`
	Warmup     int `json:"warmup,omitempty"` // runs before them, which are in no such place
}

// LaunchTimes is one launch of a profiled run, as a device's events tell it: when it
// was queued, handed to the device, started and done, in nanoseconds since the first.
type LaunchTimes struct {
	Kernel string  `json:"kernel"`
	Queued float64 `json:"queued"`
	Submit float64 `json:"submit"`
	Start  float64 `json:"start"`
	End    float64 `json:"end"`
	Global []int   `json:"global"` // threads in each dimension; none where the harness does not know
	Local  []int   `json:"local"`  // of one group; none where the driver chose
}

// Most launches that a harness may tell of, and how much of a kernel's name is kept.
const (
	mostLaunches   = 1 << 16
	mostKernelName = 1000
)

// Profile runs the prepared case where profilers find it. It returns the launches of
// a harness whose device tells of them (OpenCL), and none of any other.
func (s *Session) Profile(ctx context.Context, p Profile) ([]LaunchTimes, error) {
	doing := fmt.Sprintf("profile %s over %d runs", s.prepared, p.Iterations)
	var reply struct {
		Iterations int           `json:"iterations"`
		Launches   []LaunchTimes `json:"launches"`
	}
	if err := s.ask(ctx, opProfile, doing, p, &reply); err != nil {
		return nil, err
	}
	if reply.Iterations != p.Iterations {
		return nil, s.fail(BadCount, doing, fmt.Sprintf("it says that it ran %d times", reply.Iterations), "")
	}
	if len(reply.Launches) > mostLaunches {
		return nil, s.fail(Garbage, doing, fmt.Sprintf("it tells of %d launches, more than %d", len(reply.Launches), mostLaunches), "")
	}
	for i := range reply.Launches {
		l := &reply.Launches[i]
		if wrong := l.wrong(); wrong != "" {
			return nil, s.fail(Garbage, doing, fmt.Sprintf("launch %d of %d %s", i+1, len(reply.Launches), wrong), "")
		}
		l.Kernel = printable(truncate(l.Kernel, mostKernelName))
	}
	return reply.Launches, nil
}

// wrong says what cannot be about a launch, or nothing.
func (l LaunchTimes) wrong() string {
	for _, ns := range []float64{l.Queued, l.Submit, l.Start, l.End} {
		if !(ns >= 0 && ns < 1e18) {
			return fmt.Sprintf("has a time of %v ns", ns)
		}
	}
	if l.End < l.Start { // the earlier moments are the host's, and some drivers do not bring the clocks together
		return fmt.Sprintf("starts at %v ns and ends at %v", l.Start, l.End)
	}
	if len(l.Global) > 3 || len(l.Local) > 3 {
		return "has more than three dimensions"
	}
	for _, sizes := range [][]int{l.Global, l.Local} {
		for _, n := range sizes {
			if n < 1 {
				return fmt.Sprintf("has a size of %d", n)
			}
		}
	}
	return ""
}
