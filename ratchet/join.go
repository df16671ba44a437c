package ratchet

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/measure"
)

// Part is the result of a change on one device, to be joined with those of others.
type Part struct {
	Device string
	Result *Result // nil if the device gave none
	Why    string  // why it gave none
}

// DeviceVerdict is the verdict of one device in a joined result.
type DeviceVerdict struct {
	Device   string  `json:"device"`
	Verdict  Verdict `json:"verdict"`
	Sentence string  `json:"sentence"`
}

// Join returns one result for a change that was judged on several devices. The worst device decides, by the order that
// decides between cases; a device without a result is inconclusive. A case has one line for each device on which it
// changed, and one for all devices on which it did not.
func Join(parts []Part) Result {
	r := Result{Schema: Schema, Counts: map[Verdict]int{}}
	for _, p := range parts {
		d := DeviceVerdict{Device: p.Device, Verdict: Inconclusive, Sentence: p.Why}
		if p.Result != nil {
			d.Verdict, d.Sentence = p.Result.Verdict, p.Result.Sentence
			r.Policy = p.Result.Policy
			r.Calibrations = append(r.Calibrations, p.Result.Calibrations...)
			r.addWarnings(p)
		} else {
			r.Warnings = append(r.Warnings, fmt.Sprintf("No answer on %s: %s", p.Device, p.Why))
		}
		r.Devices = append(r.Devices, d)
		if r.Verdict == "" || d.Verdict.weight() > r.Verdict.weight() {
			r.Verdict = d.Verdict
		}
	}
	r.joinCases(parts)
	for _, c := range r.Cases {
		r.Counts[c.Verdict]++
	}
	r.Sentence = r.deviceSentence()
	return r
}

// addWarnings keeps what a part says beside its cases.
func (r *Result) addWarnings(p Part) {
	for _, w := range p.Result.Warnings {
		r.Warnings = append(r.Warnings, p.Device+": "+w)
	}
	for _, name := range p.Result.Undecided {
		r.Undecided = append(r.Undecided, name+" on "+p.Device)
	}
	if s := p.Result.Suite; s != nil && s.Verdict == Regression {
		r.Warnings = append(r.Warnings, p.Device+": "+s.Sentence)
	}
}

// joinCases adds the lines of all cases, in the order in which the parts name them.
func (r *Result) joinCases(parts []Part) {
	changed, same := map[string][]Judgment{}, map[string][]Judgment{}
	var names []string
	for _, p := range parts {
		if p.Result == nil {
			continue
		}
		for _, j := range p.Result.Cases {
			if len(changed[j.Name])+len(same[j.Name]) == 0 {
				names = append(names, j.Name)
			}
			j.Devices = []string{p.Device}
			if j.Verdict == Maintained || j.Verdict == Identical {
				same[j.Name] = append(same[j.Name], j)
			} else {
				changed[j.Name] = append(changed[j.Name], j)
			}
		}
	}
	for _, name := range names {
		r.Cases = append(r.Cases, changed[name]...)
		list := same[name]
		if len(list) == 0 {
			continue
		}
		line := slices.MaxFunc(list, func(a, b Judgment) int { return cmp.Compare(a.loss(), b.loss()) })
		line.Devices = nil
		if len(list) < len(parts) {
			for _, j := range list {
				line.Devices = append(line.Devices, j.Devices...)
			}
		}
		r.Cases = append(r.Cases, line)
	}
}

// loss returns the change of a case, positive if it is worse.
func (j Judgment) loss() float64 {
	switch {
	case j.Facts == nil:
		return 0
	case j.Facts.Better == measure.Higher:
		return -j.Facts.Change
	default:
		return j.Facts.Change
	}
}

// deviceSentence names the verdict of every device, the worst first.
func (r *Result) deviceSentence() string {
	devices := slices.Clone(r.Devices)
	slices.SortStableFunc(devices, func(a, b DeviceVerdict) int { return b.Verdict.weight() - a.Verdict.weight() })
	var list []string
	for _, d := range devices {
		word := string(d.Verdict)
		if d.Verdict.Severity() == SeverityNoAnswer {
			word = "no answer"
		}
		list = append(list, fmt.Sprintf("%s on %s", word, d.Device))
	}
	if len(list) == 0 {
		return "There is no device to join."
	}
	text := strings.Join(list, ", ") + "."
	return strings.ToUpper(text[:1]) + text[1:]
}
