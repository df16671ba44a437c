package tool

import (
	"context"
	"slices"

	"github.com/goatnote-inc/pawl/internal/explain/profile"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
)

// openCLRuns is the number of recorded runs; the median of each time counts.
const openCLRuns = 9

// OpenCL asks a harness for the events of its launches: when each was queued, submitted, started
// and finished. No external tool runs, so nothing is slower.
func OpenCL(ctx context.Context, t Target) (Result, error) {
	const name = "opencl"
	var runs [][]harness.LaunchTimes
	err := drive(ctx, t, nil, driveOptions{tool: name, exact: true, runs: func(ctx context.Context, s *harness.Session) error {
		warmup := max(1, t.Warmup)
		for range openCLRuns { // each run starts on an idle device
			launches, err := s.Profile(ctx, harness.Profile{Iterations: 1, Warmup: warmup})
			if err != nil {
				return err
			}
			runs, warmup = append(runs, launches), 0
		}
		return nil
	}})
	if err != nil {
		return Result{}, err
	}
	p := timelines(runs)
	if len(p.Launches) == 0 {
		return Result{}, &Error{
			Tool: name, What: t.what(), Why: "the harness reports no launch",
			Fix: "this tool is for OpenCL harnesses: with pawl.h, define PAWL_OPENCL and launch with clEnqueueNDRangeKernel; for CUDA, use ncu or nsys",
		}
	}
	p.Tool.Settings = []profile.Setting{{Name: "cache", Value: string(t.Cache)}}
	return Result{Profile: p}, nil
}

// timelines summarizes the events: one launch for each kernel and shape,
// in the order in which they first ran.
func timelines(runs [][]harness.LaunchTimes) *profile.Profile {
	var order []*timeline
	byShape := map[shape]*timeline{}
	for _, run := range runs {
		free := 0.0 // when the device finished the launches before
		for i, l := range run {
			s := shapeOf(l)
			line := byShape[s]
			if line == nil {
				line = &timeline{shape: s}
				byShape[s], order = line, append(order, line)
			}
			line.time = append(line.time, l.End-l.Start)
			line.queued = append(line.queued, max(0, l.Submit-l.Queued))
			line.submit = append(line.submit, max(0, l.Start-max(l.Submit, free)))
			if i > 0 {
				line.gap = append(line.gap, max(0, l.Start-free))
			}
			free = max(free, l.End)
		}
	}
	p := &profile.Profile{Format: profile.Format, Tool: profile.Tool{Name: "opencl"}}
	for i, line := range order {
		p.Launches = append(p.Launches, line.launch(i, len(runs)))
	}
	return p
}

// shape identifies launches that are summarized together.
type shape struct {
	kernel      string
	grid, block [3]int // zero if unknown
}

func shapeOf(l harness.LaunchTimes) shape {
	s := shape{kernel: l.Kernel}
	if len(l.Local) == 0 || len(l.Local) != len(l.Global) {
		return s
	}
	s.grid, s.block = [3]int{1, 1, 1}, [3]int{1, 1, 1}
	for i := range l.Global {
		s.block[i] = l.Local[i]
		s.grid[i] = (l.Global[i] + l.Local[i] - 1) / l.Local[i]
	}
	return s
}

// timeline holds the times of every launch of a shape.
type timeline struct {
	shape
	time, queued, submit, gap []float64
}

func (t timeline) launch(id, runs int) profile.Launch {
	l := profile.Launch{ID: id, Kernel: t.kernel, Grid: t.grid, Block: t.block}
	for _, q := range []struct {
		name string
		ns   []float64
	}{{"time_ns", t.time}, {"queued_ns", t.queued}, {"submit_ns", t.submit}, {"gap_ns", t.gap}} {
		if len(q.ns) == 0 {
			continue
		}
		slices.Sort(q.ns)
		middle, low, high := q.ns[len(q.ns)/2], q.ns[0], q.ns[len(q.ns)-1]
		l.Metrics = append(l.Metrics, profile.Metric{Name: q.name, Unit: "ns", Value: &middle, Low: &low, High: &high})
	}
	each := float64(len(t.time)) / float64(runs)
	l.Metrics = append(l.Metrics, profile.Metric{Name: "launches", Value: &each})
	return l
}
