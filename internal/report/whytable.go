package report

import (
	"math"
	"strconv"
	"strings"
	"sync"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/explain/diagnose"
	"github.com/goatnote-inc/pawl/internal/explain/profile"
)

// usual lists the quantities shown if no finding names others, most informative first. Each
// tool has some of them.
var usual = []string{
	"time_ns", "sm_pct", "dram_pct", "occupancy_pct", "registers", "l2_hit_pct", "ipc", "queued_ns", "submit_ns", "gap_ns",
	"host_instructions", "host_ipc", "host_reads", "host_l1_miss_pct", "host_llc_miss_pct", "host_branch_miss_pct",
}

// table lists what changed: the causal chain of the first cause, then other changes. With
// one side only, it lists the evidence of the first findings, then the usual quantities.
func (w Why) table() (head []string, rows [][]string) {
	if w.Difference != nil && (w.Before != nil || len(w.Difference.Changes) > 0) {
		return []string{"", "base", "candidate"}, w.changed()
	}
	only := w.After
	if only == nil {
		only = w.Before
	}
	told := map[string]bool{}
	add := func(name, about, value, limit string) {
		if !told[name] && len(rows) < rowsShown {
			told[name] = true
			rows = append(rows, []string{words.SanitizeTo(about, words.NameLength), value, limit})
		}
	}
	if w.Diagnosis != nil {
		for _, f := range w.Diagnosis.Findings {
			for _, e := range f.Evidence {
				limit := ""
				if e.Compare != "" {
					limit = words.SanitizeTo(e.Compare, 2) + " " + Reading(e.Limit, e.Unit)
				}
				add(e.Quantity, e.About, Reading(e.Value, e.Unit), limit)
			}
		}
	}
	if only != nil {
		for _, name := range usual {
			if v, ok := only.Facts[name]; ok {
				q := quantityTable()[name]
				add(name, q.About, Reading(v, q.Unit), "")
			}
		}
	}
	return []string{"", "value", "limit"}, rows
}

// quantityTable maps the names of profile quantities to their definitions.
var quantityTable = sync.OnceValue(func() map[string]profile.Quantity {
	table := map[string]profile.Quantity{}
	for _, q := range profile.Quantities() {
		table[q.Name] = q
	}
	return table
})

func (w Why) changed() [][]string {
	d := w.Difference
	var rows [][]string
	told := map[string]bool{}
	add := func(c diagnose.Change) {
		if told[c.Quantity] || len(rows) == rowsShown {
			return
		}
		told[c.Quantity] = true
		rows = append(rows, []string{words.SanitizeTo(c.About, words.NameLength), reading(c.Before, c.Unit), reading(c.After, c.Unit)})
	}
	if d.Before > 0 && d.After > 0 {
		add(diagnose.Change{Quantity: "time_ns", About: "time", Unit: "ns", Before: &d.Before, After: &d.After})
	}
	for _, c := range d.Causes {
		for _, link := range c.Chain {
			add(link)
		}
	}
	for _, c := range d.Changes {
		add(c)
	}
	return rows
}

func reading(v *float64, unit string) string {
	if v == nil {
		return "-"
	}
	return Reading(*v, unit)
}

// Reading formats a profile quantity with its unit, with as many digits as people compare.
func Reading(v float64, unit string) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "-"
	}
	switch strings.ToLower(unit) {
	case "ns":
		return words.Quantity(v, "ns")
	case "%":
		return strconv.FormatFloat(v, 'f', 1, 64) + " %"
	case "byte":
		return words.SI(v, "B")
	case "byte/s":
		return words.SI(v, "B/s")
	case "hz":
		return words.SI(v, "Hz")
	case "":
		return count(v)
	default:
		return count(v) + " " + words.SanitizeTo(unit, 24)
	}
}

// count formats whole numbers with commas between thousands. From a million on, and for
// other numbers, it is short: 5.47 M and 138 M compare at a glance.
func count(v float64) string {
	if v != math.Trunc(v) || math.Abs(v) >= 1e15 {
		if math.Abs(v) < 1000 {
			return words.Short(v)
		}
		return strings.TrimSpace(words.SI(v, ""))
	}
	if math.Abs(v) >= 1e6 {
		return strings.TrimSpace(words.SI(v, ""))
	}
	text := strconv.FormatFloat(math.Abs(v), 'f', 0, 64)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	if v < 0 {
		text = "-" + text
	}
	return text
}
