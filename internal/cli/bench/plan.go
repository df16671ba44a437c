package bench

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/progress"
	"github.com/goatnote-inc/pawl/internal/judge/runner"
)

// PrintPlan prints the plan of a dry run.
func (f *Flags) PrintPlan(p runner.Plan) error {
	if f.JSON {
		return command.WriteJSON(f.Out, p)
	}
	var b strings.Builder
	line := func(label, format string, args ...any) {
		fmt.Fprintf(&b, "%-9s%s\n", label, fmt.Sprintf(format, args...))
	}
	line("measure", "%s on %s, clocks %s", cmp.Or(p.Suite, "this suite"), p.Device, p.Clocks)
	line("sides", "%s", strings.Join(p.Sides, ", "))
	switch {
	case p.Samples == 0 && len(p.Cases) == 0:
		line("cases", "those that the command reports")
	case p.Open:
		line("cases", "%d named by the suite; the harness lists the others", len(p.Cases))
	case len(p.Cases) > 6:
		line("cases", "%d: %s, ...", len(p.Cases), strings.Join(p.Cases[:6], ", "))
	default:
		line("cases", "%d: %s", len(p.Cases), strings.Join(p.Cases, ", "))
	}
	for _, c := range p.Builds {
		line("build", "%s (once a side)", c)
	}
	each := fmt.Sprintf("%d samples each after warm-up", p.Samples)
	if p.Samples == 0 {
		each = "each one run of the command"
	}
	line("rounds", "%s, %s, seed %d", progress.RoundsASide(p.Rounds), each, p.Seed)
	line("time", "%s on the device (from %s)", between(p.MinCost.Seconds, p.Most.Seconds, Seconds), p.Basis)
	if p.Most.Dollars > 0 {
		line("cost", "%s", between(p.MinCost.Dollars, p.Most.Dollars, words.Dollars))
	} else {
		line("cost", "unknown: set device.price_per_hour in the suite")
	}
	_, err := f.Out.Write([]byte(b.String()))
	return err
}

// Seconds formats a time in seconds.
func Seconds(s float64) string { return words.Duration(time.Duration(s * float64(time.Second))) }

func between(least, most float64, format func(float64) string) string {
	if format(least) == format(most) {
		return "about " + format(least)
	}
	return format(least) + " to " + format(most)
}
