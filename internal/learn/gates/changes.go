package gates

import (
	"fmt"
	"math"
	"slices"

	"github.com/goatnote-inc/pawl/internal/learn/journal"
)

// attempts is what was changed, and what came of it.
func (l *learner) attempts() {
	n := l.numbers
	n["changed"] = float64(len(l.changes))
	n["changed_files"] = float64(files(l.changes))
	l.texts["changes"] = told(l.changes)
	l.texts["put_back"] = "all but one of them"
	if len(l.changes) == 2 {
		l.texts["put_back"] = "one of them"
	}
	l.checkedNow()
	all := journal.Attempts(l.session)
	n["attempts_made"] = float64(len(all))
	for _, a := range slices.Backward(all) {
		if a.Correct && a.Gain >= enough {
			break
		}
		n["attempts_without_20"]++
	}
	if len(all) > 0 {
		n["last_gain"] = all[len(all)-1].Gain
	}
	l.target()
	if len(l.measurements) == 0 {
		return
	}
	last := l.measurements[len(l.measurements)-1]
	for _, p := range l.profiled {
		of := p.Source != "" && (p.Source == last.Source || p.Source == l.source) || p.Source == "" && l.order[p] > l.order[last]
		if of {
			l.set("profiled", true)
			l.texts["bottleneck"] = name(p.Profiled.Bottleneck)
		}
	}
	first := l.measurements[0].Definition
	l.set("definition_changed", first != "" && l.definition != "" && l.definition != first)
}

// enough is what an attempt has to gain: 20 %.
var enough = math.Log(1.2)

// target is whether the work is done: what was wanted, or without that 20 %.
func (l *learner) target() {
	n := l.numbers
	speedup, known := n["speedup"]
	if !known {
		return
	}
	wanted := l.session.Target
	if wanted == 0 {
		wanted = 1.2
	}
	l.set("reached", speedup >= wanted && n["mending"] == 0 && n["changed"] == 0)
}

// checkedNow is whether the present source is right, and whether that of the last
// measurement was not.
func (l *learner) checkedNow() {
	var last *journal.Did
	if len(l.measurements) > 0 {
		last = l.measurements[len(l.measurements)-1]
	}
	for _, c := range l.checked {
		after := last != nil && l.order[c] > l.order[last]
		bad := c.Checked.Failed > 0 || c.Checked.NotFinite || !c.Checked.SmallestOK
		if l.source != "" && c.Source == l.source || c.Source == "" && after {
			if ok, seen := l.numbers["correct_since_change"]; seen && ok == 0 && c.Source != "" {
				bad = true // one that is wrong once is wrong, whatever else is tried
			}
			l.set("correct_since_change", !bad)
		}
		if last != nil && bad && c.Source != "" && c.Source == last.Source {
			l.set("mending", true)
		}
	}
}

func files(changes []journal.Change) int {
	seen := map[string]bool{}
	for _, c := range changes {
		seen[c.File] = true
	}
	return len(seen)
}

// told names changes with their numbers: "BLOCK_M 64 to 128 and THREADS 128 to 256".
func told(changes []journal.Change) string {
	var all []string
	for _, c := range changes {
		text := name(c.Name)
		before, after := name(c.Before), name(c.After)
		switch {
		case c.What == journal.File && text == "":
			text = name(c.File)
		case c.What == journal.Code:
			text += "()"
		case before != "" && after != "":
			text = fmt.Sprintf("%s %s to %s", text, before, after)
		}
		if text != "" {
			all = append(all, text)
		}
	}
	if len(all) == 0 {
		return "Nothing"
	}
	return list(all)
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
