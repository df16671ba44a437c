package artifact

import (
	"fmt"
	"io"
	"math"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/report"
	"github.com/goatnote-inc/pawl/internal/report/sweep"
)

// maxLines is the max number of table rows in a terminal. The files have all.
const maxLines = 60

// Terminal writes the ranks, then the result over all configs last, where readers look
// first.
func Terminal(w io.Writer, r *sweep.Result, style report.Style) error {
	for _, t := range []table{rankingTable(r), speedupTable(r), overallTable(r)} {
		if len(t.rows) == 0 {
			continue
		}
		if _, err := fmt.Fprintln(w, style.Bold(words.Sanitize(t.title))); err != nil {
			return err
		}
		more := len(t.rows) - maxLines
		if err := t.write(w, style, min(len(t.rows), maxLines)); err != nil {
			return err
		}
		rest := ""
		if more > 0 {
			rest = fmt.Sprintf("and %s in tables/%s.csv\n", words.Plural(more, "more row"), t.name)
		}
		if _, err := fmt.Fprintln(w, rest); err != nil {
			return err
		}
	}
	return writeOmissions(w, r)
}

// writeOmissions lists what the numbers do not cover.
func writeOmissions(w io.Writer, r *sweep.Result) error {
	if n := len(r.Overall.LeftOut); n > 0 {
		first := r.Overall.LeftOut[0]
		if _, err := fmt.Fprintf(w, "left out of the geometric mean: %s, such as %s (%s)\n", words.Plural(n, "config"), words.Sanitize(first.Name), words.Sanitize(first.Reason)); err != nil {
			return err
		}
	}
	if text := detectableText(r); text != "" {
		if _, err := fmt.Fprintln(w, text); err != nil {
			return err
		}
	}
	for _, l := range r.Absent {
		if _, err := fmt.Fprintf(w, "not compared: %s (%s)\n", words.Sanitize(l.Name), words.Sanitize(l.Reason)); err != nil {
			return err
		}
	}
	return nil
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
	right, head := make([]bool, len(t.columns)), make([]string, len(t.columns))
	for i, c := range t.columns {
		right[i], head[i] = c.right, c.head
	}
	rows := [][]string{head}
	above := ""
	for _, row := range t.rows[:most] {
		cells := make([]string, len(row))
		for i, c := range row {
			cells[i] = words.Sanitize(c.text)
		}
		if t.columns[0].head == "config" {
			if cells[0] == above {
				cells[0] = ""
			} else {
				above = cells[0]
			}
		}
		rows = append(rows, cells)
	}
	return report.Table(w, style, right, rows)
}
