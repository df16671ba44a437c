package harness

import (
	"context"
	"fmt"

	"github.com/goatnote-inc/pawl/internal/base/words"
)

// FeatureProfile is the feature of a harness that can run a case where profilers find it.
const FeatureProfile = "profile"

// Profile asks for runs of the prepared case where profilers can find them: in a function
// pawl_profiled, and on CUDA between the start and the stop of the profiler.
type Profile struct {
	Iterations int `json:"iterations"`
	Warmup     int `json:"warmup,omitempty"` // runs before them, outside of that function
}

// LaunchTimes holds the event times of one launch of a profiled run: when it was queued,
// submitted to the device, started and done, in nanoseconds since the first.
type LaunchTimes struct {
	Kernel string  `json:"kernel"`
	Queued float64 `json:"queued"`
	Submit float64 `json:"submit"`
	Start  float64 `json:"start"`
	End    float64 `json:"end"`
	Global []int   `json:"global"` // threads in each dimension; empty if the harness does not know
	Local  []int   `json:"local"`  // threads of one group in each dimension; empty if the driver chose
}

// Max number of launches that a harness may report, and max length of a kernel's name.
const (
	maxLaunches   = 1 << 16
	maxKernelName = 1000
)

// Profile runs the prepared case where profilers find it. It returns the launches if the
// device reports them (OpenCL), and none otherwise.
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
		return nil, s.fail(BadCount, doing, "it reports "+words.Plural(reply.Iterations, "run"), "")
	}
	if len(reply.Launches) > maxLaunches {
		return nil, s.fail(Garbage, doing, fmt.Sprintf("it reports %d launches, the limit is %d", len(reply.Launches), maxLaunches), "")
	}
	for i := range reply.Launches {
		l := &reply.Launches[i]
		if wrong := l.problem(); wrong != "" {
			return nil, s.fail(Garbage, doing, fmt.Sprintf("launch %d of %d %s", i+1, len(reply.Launches), wrong), "")
		}
		l.Kernel = printable(truncate(l.Kernel, maxKernelName))
	}
	return reply.Launches, nil
}

// problem describes what is impossible about a launch. It returns "" if nothing is.
func (l LaunchTimes) problem() string {
	for _, ns := range []float64{l.Queued, l.Submit, l.Start, l.End} {
		if !(ns >= 0 && ns < 1e18) {
			return fmt.Sprintf("has a time of %v ns", ns)
		}
	}
	if l.End < l.Start { // the earlier times are host times, and some drivers do not align the two clocks
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
