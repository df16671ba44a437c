package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/words"
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
			list = append(list, Step{Text: fmt.Sprintf("Fix what is broken first: %s. Nothing else counts until then.", name)})
		case ClassRegressed:
			if d.run == nil { // files of two sides: there may be no suite to run
				continue
			}
			list = append(list, Step{fmt.Sprintf("Start with %s. To judge it again, alone:", name), rerunCommand(d.run, name)})
		case ClassMissing:
			list = append(list, Step{Text: fmt.Sprintf("Restore what is missing (%s), or remove it from the suite in a separate change.", name)})
		case ClassInconclusive:
			if d.run == nil {
				if len(d.result.Devices) == 0 {
					list = append(list, Step{"Sides measured together need fewer rounds:", "pawl run"})
				}
				continue
			}
			if d.run.End.State == measure.Failed { // more rounds would fail too
				list = append(list, Step{"The run ended early. Fix the reported problem, then run it again:", "pawl run" + afterDash(d.run)})
				continue
			}
			if s.Cases[0].Person { // more rounds would not help
				list = append(list, Step{"After review, the change can be accepted; the record keeps the reason:", "pawl run --accept REASON" + afterDash(d.run)})
				continue
			}
			if d.Cases() == 1 && len(d.run.Rounds) >= manyRounds {
				list = append(list, Step{"More rounds like these would not decide it. Find out what disturbs the machine:", "pawl doctor --noise"})
				continue
			}
			list = append(list,
				Step{fmt.Sprintf("To get an answer for %s, run it alone:", name), rerunCommand(d.run, name)},
				Step{"If it stays undecided, find out what disturbs the machine:", "pawl doctor --noise"})
		case ClassImproved:
			if s.Cases[0].Moves && !forgets && d.Verdict.Severity() == ratchet.SeverityPass {
				list = append(list, Step{Text: "Merge it: on main, the baseline moves with the improvement."})
			}
		case ClassNew, ClassUnchanged, ClassSkipped, ClassMeasured:
		}
	}
	if d.Cases() > 0 && !d.gated() {
		list = append(list, Step{Text: "No case can fail a change yet: set gate: true in the suite for the cases that matter."})
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

// manyRounds is about as many rounds as a run spends on an undecided case.
const manyRounds = 32

// rerunCommand returns the command that judges one case alone against the same base. It leaves out a
// name that a shell would interpret.
func rerunCommand(run *measure.Run, name string) string {
	base := "main"
	for _, i := range run.Implementations {
		if i.Name == measure.Base {
			base = cmp.Or(i.Ref, fmt.Sprintf("%.12s", i.Commit), base)
		}
	}
	command := "pawl run"
	if isShellSafe(base) {
		command += " --base " + base
	}
	if isShellSafe(name) {
		command += " --case " + name
	}
	if run.Trust == measure.Checked || run.Trust == measure.SelfTimed { // its numbers are not comparable with others
		command += " --trust " + string(run.Trust)
	}
	return command + afterDash(run)
}

// afterDash returns the part of a command line that names the measured command; empty for the run of a suite.
func afterDash(run *measure.Run) string {
	if !slices.ContainsFunc(run.Warnings, func(w measure.Warning) bool { return w.Code == measure.WarnCommand }) {
		return ""
	}
	build, command := "", "COMMAND"
	for _, i := range run.Implementations {
		if i.Name != measure.Candidate {
			continue
		}
		if list := strings.Fields(i.Harness.Command); len(list) > 0 && !slices.ContainsFunc(list, func(w string) bool { return !isShellSafe(strings.TrimLeft(w, "-")) }) {
			command = strings.Join(list, " ")
		}
		if i.Build.Command != "" {
			build = " --build COMMAND"
		}
	}
	return build + " -- " + command
}

// isShellSafe reports whether neither a shell nor Markdown gives word a special meaning.
func isShellSafe(word string) bool {
	return word != "" && word[0] != '-' && !strings.ContainsFunc(word, func(r rune) bool { return !strings.ContainsRune(words.PlainLetters, r) })
}
