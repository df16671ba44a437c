package report

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// Step is a suggested action, with its command if there is one.
type Step struct {
	Text    string `json:"text"`
	Command string `json:"command,omitempty"`
}

// next suggests actions for the findings, most urgent first.
func next(d *Document, forgets bool) []Step {
	if d.result == nil {
		return nil
	}
	var list []Step
	for _, s := range d.Sections {
		name := s.Cases[0].Name
		switch s.Class {
		case ClassBroken:
			list = append(list, Step{Text: fmt.Sprintf("Mend what is broken first: %s. Nothing else counts before.", name)})
		case ClassRegressed:
			if d.run == nil { // files of two sides: there may be no suite to run
				continue
			}
			list = append(list, Step{fmt.Sprintf("Begin with %s. To measure it again, alone and closer:", name), rerunCommand(d.run, name, 16)})
		case ClassMissing:
			list = append(list, Step{Text: fmt.Sprintf("Put back what is missing (%s), or take it out of the suite in a change of its own.", name)})
		case ClassInconclusive:
			if d.run == nil {
				list = append(list, Step{"Sides that are measured together need fewer rounds:", "pawl run"})
				continue
			}
			if d.run.End.State == measure.Failed { // more rounds would fail too
				list = append(list, Step{"The run ended early. Fix what it names, then run it again:", "pawl run"})
				continue
			}
			if s.Cases[0].Person { // more rounds would not help
				list = append(list, Step{"Somebody who has read the change can accept it; the reason stays in the record:", "pawl run --accept REASON"})
				continue
			}
			list = append(list,
				Step{fmt.Sprintf("For an answer on %s:", name), rerunCommand(d.run, name, 32)},
				Step{"If it stays open, this says what disturbs the machine:", "pawl doctor --noise"})
		case ClassImproved:
			if s.Cases[0].Moves && !forgets && d.Verdict.Severity() == ratchet.Yes {
				list = append(list, Step{Text: "Merge it: on main the baseline moves with the improvement."})
			}
		case ClassNew, ClassUnchanged, ClassMeasured:
		}
	}
	if d.Cases() > 0 && !d.gated() {
		list = append(list, Step{Text: "No case may fail a change yet: write gate: true in the suite for those that matter."})
	}
	return list
}

// gated reports whether any case may fail the change.
func (d *Document) gated() bool {
	for _, s := range d.Sections {
		for _, c := range s.Cases {
			if c.Gate {
				return true
			}
		}
	}
	return false
}

// rerunCommand returns the command that measures one case with more rounds against the same base.
// It leaves out a name that a shell would interpret.
func rerunCommand(run *measure.Run, name string, rounds int) string {
	base := "main"
	for _, i := range run.Implementations {
		if i.Name == measure.Base {
			base = cmp.Or(i.Ref, fmt.Sprintf("%.12s", i.Commit), base)
		}
	}
	command := "pawl bench"
	if isShellSafe(base) {
		command += " --base " + base
	}
	command += fmt.Sprintf(" --rounds %d", rounds)
	if isShellSafe(name) {
		command += " --case " + name
	}
	if run.Trust == measure.Checked || run.Trust == measure.SelfTimed { // its numbers are not comparable with others
		command += " --trust " + string(run.Trust)
	}
	return command
}

// isShellSafe reports whether neither a shell nor Markdown gives word a special meaning.
func isShellSafe(word string) bool {
	return word != "" && word[0] != '-' && !strings.ContainsFunc(word, func(r rune) bool { return !strings.ContainsRune(nameLetters, r) })
}

const nameLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:@=+,-~^"
