package artifact

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/report"
	"github.com/goatnote-inc/pawl/internal/report/sweep"
)

// maxLines is the max number of table rows in a terminal. The files have all.
const maxLines = 60

// Terminal writes the ranks, then the result over all configs last, where readers look
// first.
func Terminal(w io.Writer, r *sweep.Result, style report.Style) error {
	var b strings.Builder
	for _, t := range []table{rankingTable(r), speedupTable(r), overallTable(r)} {
		if len(t.rows) == 0 {
			continue
		}
		b.WriteString(style.Bold(words.Sanitize(t.title)) + "\n")
		if err := t.write(&b, style, min(len(t.rows), maxLines)); err != nil {
			return err
		}
		if more := len(t.rows) - maxLines; more > 0 {
			fmt.Fprintf(&b, "and %s in tables/%s.csv\n", words.Plural(more, "more row"), t.name)
		}
		b.WriteString("\n")
	}
	if n := len(r.Overall.LeftOut); n > 0 {
		first := r.Overall.LeftOut[0]
		fmt.Fprintf(&b, "left out of the geometric mean: %s, such as %s (%s)\n", words.Plural(n, "config"), words.Sanitize(first.Name), words.Sanitize(first.Reason))
	}
	b.WriteString(detectableText(r) + "\n")
	for _, l := range r.Absent {
		fmt.Fprintf(&b, "not compared: %s (%s)\n", words.Sanitize(l.Name), words.Sanitize(l.Reason))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// detectableText says how small a difference was detectable. Without it, a tie means little.
func detectableText(r *sweep.Result) string {
	least, most := math.Inf(1), 0.0
	for _, c := range r.Configs {
		if c.Power != nil {
			least, most = min(least, c.Power.Detectable), max(most, c.Power.Detectable)
		}
	}
	if most == 0 {
		return "too few rounds to tell implementations apart: at least 3 are needed, and 8 to detect a difference of a few percent"
	}
	return fmt.Sprintf("differences that this many rounds find 19 times in 20: %s to %s, by config (tables/power.csv)", share(least).text, share(most).text)
}

// write writes the first rows. It does not repeat a name from the row above.
func (t table) write(w io.Writer, style report.Style, most int) error {
	var right []bool
	for _, c := range t.columns {
		right = append(right, c.right)
	}
	rows := t.texts(words.Sanitize)[:1+most]
	above := ""
	for _, cells := range rows[1:] {
		if t.columns[0].head == "config" {
			if cells[0] == above {
				cells[0] = ""
			} else {
				above = cells[0]
			}
		}
	}
	return report.Table(w, style, right, rows)
}
