package tool

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/kernel/launch"
)

// Auto selects the most informative tool that works for a target on this machine.
const Auto = "auto"

// ToolNames are the names of the tools in records and on the command line.
var ToolNames = []string{"ncu", "nsys", "rocprofv3", "perf", "callgrind", "opencl"}

// Choose returns the tool for a target on this machine. want is one of Names, or Auto (or empty)
// for the most informative one. why is empty for the best tool; otherwise it says why the better
// one does not work, and what to do.
func Choose(ctx context.Context, t Target, want string) (name, why string, err error) {
	return machine{perf: PerfReady, callgrind: CallgrindReady}.choose(ctx, t, want)
}

// machine checks which tools work where a target runs.
type machine struct {
	nvidia    NcuOptions // where to look for the tools of NVIDIA and AMD
	perf      func(context.Context) error
	callgrind func() error
}

func (m machine) choose(ctx context.Context, t Target, want string) (name, why string, err error) {
	if want != "" && want != Auto {
		if refusal := m.refusal(ctx, t, want); refusal != nil {
			return "", "", refusal
		}
		return want, "", nil
	}
	candidates := t.tools()
	if len(candidates) == 0 {
		return "", "", &Error{
			Tool: "any tool", What: t.what(), Why: fmt.Sprintf("pawl has no profiler for %s", t.Device.Name),
			Fix: "run one yourself, and read its output with pawl diagnose",
		}
	}
	var reasons []string
	for _, name := range candidates {
		refusal := m.refusal(ctx, t, name)
		if refusal == nil {
			if len(reasons) > 0 {
				why = fmt.Sprintf("using %s instead of %s: %s", name, candidates[0], strings.Join(reasons, "; "))
			}
			return name, why, nil
		}
		reasons = append(reasons, refusal.reason())
	}
	return "", "", &Error{Tool: strings.Join(candidates, " or "), What: t.what(), Why: strings.Join(reasons, "; ")}
}

// tools returns the tools that can profile a target, most informative first.
func (t Target) tools() []string {
	switch {
	case t.openCL():
		return []string{"opencl"}
	case t.Device.Kind == gpu.NVIDIA:
		return []string{"ncu", "nsys"}
	case t.Device.Kind == gpu.AMD:
		return []string{"rocprofv3"}
	case t.Device.Kind == gpu.CPU:
		return []string{"perf", "callgrind"}
	default:
		return nil
	}
}

// openCL reports whether the kernel is an OpenCL kernel. NVIDIA's tools do not see those.
func (t Target) openCL() bool {
	return strings.HasPrefix(t.Runtime, "OpenCL") || t.Prepare.Launch != nil && t.Prepare.Launch.Kind == launch.OpenCL
}

// refusal returns why a tool cannot profile a target on this machine; nil if it can.
func (m machine) refusal(ctx context.Context, t Target, name string) *Error {
	no := func(why, fix string) *Error { return &Error{Tool: name, What: t.what(), Why: why, Fix: fix} }
	switch {
	case !slices.Contains(ToolNames, name):
		return no("unknown tool", "known: "+strings.Join(ToolNames, ", "))
	case !slices.Contains(t.tools(), name):
		return no(fmt.Sprintf("it cannot profile kernels of %s", t.where()), "use one of: "+strings.Join(append(t.tools(), Auto), ", "))
	}
	switch name {
	case "ncu":
		if at, _ := FindNcu(m.nvidia.root(), m.nvidia.search()); at == "" {
			return no(errNoNcu.Error(), "run `pawl doctor --fix` to see how to install it")
		}
		for _, o := range Obstacles(m.nvidia.root(), t.Device) {
			if o.Stops {
				return no(o.What, o.Fix)
			}
		}
	case "nsys":
		if at, _ := FindNsys(m.nvidia.root(), m.nvidia.search()); at == "" {
			return no(errNoNsys.Error(), "install Nsight Systems")
		}
	case "rocprofv3":
		if at, _ := FindRocprof(m.nvidia.root(), m.nvidia.search()); at == "" {
			return no(errNoRocprof.Error(), rocprofFix)
		}
	case "perf":
		if err := m.perf(ctx); err != nil {
			return no(err.Error(), "")
		}
	case "callgrind":
		if err := m.callgrind(); err != nil {
			return no(err.Error(), "")
		}
	}
	return nil
}

// where describes where a target runs, for messages.
func (t Target) where() string {
	switch {
	case t.openCL():
		return "OpenCL"
	case t.Device.Kind == gpu.CPU:
		return "the host"
	default:
		return t.Device.Name
	}
}

// reason returns a trouble without what was attempted.
func (t *Error) reason() string {
	if t.Fix == "" {
		return t.Why
	}
	return t.Why + " (" + t.Fix + ")"
}
