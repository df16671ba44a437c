package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/report/summary"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/measure/codediff"
	"github.com/goatnote-inc/pawl/ratchet"
)

// facts lists what was compared, on which device, how long it took and what it cost.
func facts(in Input) []Fact {
	var list []Fact
	add := func(label, text string) {
		if text = words.SanitizeTo(text, words.SentenceLength); text != "" {
			list = append(list, Fact{label, text})
		}
	}
	add("commit", cmp.Or(in.Commit, commitOf(in.Run, measure.Candidate)))
	add("base", commitOf(in.Run, measure.Base))
	if run := in.about(); run != nil {
		add("hardware", hardware(run))
	}
	add("code", codeText(in.Run))
	add("checks", stagesText(in.Stages))
	if in.Run != nil {
		add("measured", howMeasured(in))
		add("trust", trustText(in.Run))
		add("definition", definitionText(in.Run))
		add("device", deviceStates(in.Run))
		add("duration", duration(in.Run))
		if in.Run.End.Dollars > 0 {
			add("cost", words.Dollars(in.Run.End.Dollars))
		}
		if s := in.Run.End.State; s != measure.Complete && s != "" {
			add("ended early", fmt.Sprintf("%s: %s", s, in.Run.End.Reason))
		}
	}
	if in.Result != nil {
		add(CalibrationLabel, strings.Join(in.Result.Calibrations, "; "))
		add("policy", policyText(in.Result.Policy))
		add("quarantine", quarantineText(in.Result))
	}
	return list
}

// quarantineText lists the cases that cannot fail the change, with the quarantine's owner
// and end.
func quarantineText(r *ratchet.Result) string {
	names := map[string][]string{}
	var whys []string
	for _, c := range r.Cases {
		if c.Quarantine == "" {
			continue
		}
		if names[c.Quarantine] == nil {
			whys = append(whys, c.Quarantine)
		}
		names[c.Quarantine] = append(names[c.Quarantine], c.Name)
	}
	var list []string
	for _, why := range whys {
		who := names[why][0]
		if more := len(names[why]) - 1; more > 0 {
			who += fmt.Sprintf(" and %d more", more)
		}
		list = append(list, who+" ("+why+")")
	}
	return strings.Join(list, "; ")
}

// codeText names the functions whose machine code differs between the two sides.
func codeText(run *measure.Run) string {
	if run == nil {
		return ""
	}
	code := map[string][]measure.CodeDigest{}
	for _, im := range run.Implementations {
		code[im.Name] = im.Build.Code
	}
	if len(code[measure.Base]) == 0 || len(code[measure.Candidate]) == 0 {
		return ""
	}
	return codediff.Compare(code[measure.Base], code[measure.Candidate]).String()
}

func commitOf(run *measure.Run, side string) string {
	if run == nil {
		return ""
	}
	i := slices.IndexFunc(run.Implementations, func(i measure.Implementation) bool { return i.Name == side })
	if i < 0 || run.Implementations[i].Commit == "" {
		return ""
	}
	m := run.Implementations[i]
	text := fmt.Sprintf("%.12s", m.Commit)
	if m.Ref != "" && !strings.HasPrefix(m.Commit, m.Ref) {
		text += " (" + m.Ref + ")"
	}
	if m.Dirty {
		text += ", with uncommitted changes"
	}
	return text
}

func hardware(run *measure.Run) string {
	parts := []string{run.Device.Name}
	if run.Device.Driver != "" {
		parts = append(parts, "driver "+run.Device.Driver)
	}
	if run.Device.CUDA != "" {
		parts = append(parts, "CUDA "+run.Device.CUDA)
	}
	if run.Testbed.PowerCapW > 0 {
		parts = append(parts, fmt.Sprintf("%g W cap", run.Testbed.PowerCapW))
	}
	if run.Testbed.Clocks.Mode != "" {
		parts = append(parts, "clocks "+run.Testbed.Clocks.String())
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ", ")
}

func howMeasured(in Input) string {
	run := in.Run
	dropped := len(summary.Dropped(run))
	text := fmt.Sprintf("%s, %s", timers(run), words.Plural(len(run.Rounds)-dropped, "round"))
	if dropped > 0 {
		text += fmt.Sprintf(" (and %d dropped)", dropped)
	}
	if run.Source == measure.Imported {
		text += ", imported from " + run.Format
	}
	return text
}

func deviceStates(run *measure.Run) string {
	if s := lastState(run); s != nil {
		return strings.Join(DeviceState(*s), ", ")
	}
	return ""
}

func duration(run *measure.Run) string {
	if run.End.Seconds <= 0 {
		return ""
	}
	text := words.Duration(time.Duration(run.End.Seconds*float64(time.Second))) + " on the device"
	var build float64
	for _, i := range run.Implementations {
		build += i.Build.Seconds
	}
	if build > 0 {
		text += ", " + words.Duration(time.Duration(build*float64(time.Second))) + " to build"
	}
	return text
}

func policyText(p ratchet.Policy) string {
	text := fmt.Sprintf("%s: fails if slower by %s or more", p.Rule, words.Percent(p.Slower))
	if len(p.Cases) > 0 {
		text += ", with " + words.Plural(len(p.Cases), "exception")
	}
	return text
}
