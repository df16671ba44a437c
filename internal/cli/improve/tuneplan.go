package improve

import (
	"fmt"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/cli/bench"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/progress"
	"github.com/goatnote-inc/pawl/internal/judge/tuning"
)

// printTunePlan prints the plan of a dry run.
func (f *tuneFlags) printTunePlan(p tuning.Plan) error {
	if f.JSON {
		return command.WriteJSON(f.Out, p)
	}
	var b strings.Builder
	line := func(label, format string, args ...any) {
		fmt.Fprintf(&b, "%-9s%s\n", label, fmt.Sprintf(format, args...))
	}
	line("tune", "%s on %s, strategy %s, seed %d", p.Case, p.Device, p.Strategy, p.Seed)
	for i, x := range p.Parameters {
		label := ""
		if i == 0 {
			label = "over"
		}
		line(label, "%s", x)
	}
	for _, c := range p.Constraints {
		line("where", "%s", c)
	}
	points := words.Plural(p.Points, "point")
	if !p.Complete {
		points += ", sampled from more than can be listed"
	}
	line("points", "%s; the defaults are %s", points, progress.PointText(p.Defaults))
	if p.Unchecked != "" {
		line("check", "none: %s", p.Unchecked)
	}
	more := ""
	if p.Known > 0 {
		more = fmt.Sprintf(" in addition to %d in the journal", p.Known)
	}
	line("search", "about %s%s in %s, %s each (from %s)", words.Plural(p.Evaluations, "evaluation"), more, bench.Seconds(p.Search.Seconds), bench.Seconds(p.Each), p.Basis)
	if p.Proof.Seconds > 0 {
		line("proof", "at most %s: the best three side by side with the defaults, on every config", bench.Seconds(p.Proof.Seconds))
	} else {
		line("proof", "none")
	}
	if total := p.Search.Dollars + p.Proof.Dollars; total > 0 {
		line("cost", "at most %s", words.Dollars(total))
	} else {
		line("cost", "unknown: set device.price_per_hour in the suite")
	}
	_, err := f.Out.Write([]byte(b.String()))
	return err
}
