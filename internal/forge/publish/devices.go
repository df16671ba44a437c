package publish

import (
	"cmp"
	"context"
	"maps"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/forge/comment"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// Device names the results of a change on one device.
type Device struct {
	Name    string // as shown
	Results string // folder of the results
	Failed  string // why there are none

	Calibration string // of the device, as the server of the fleet knows it; may be empty
}

// readDevices judges the results of every device by itself, and joins them into one result. One device needs no joining.
func (p *publication) readDevices(ctx context.Context, t target, in *comment.Input) error {
	if only := p.want.Devices[0]; len(p.want.Devices) == 1 {
		if in.ToolFailed = only.Failed; in.ToolFailed != "" {
			return nil
		}
		if err := p.readResults(ctx, &t, only.Results, in); err != nil {
			return err
		}
		only.calibrate(in.Result)
		return nil
	}
	var parts []ratchet.Part
	var whys []string
	in.Quarantined, in.Released = map[string]suite.Quarantine{}, map[string]suite.Quarantine{}
	for _, d := range p.want.Devices {
		one := comment.Input{ToolFailed: d.Failed}
		if d.Failed == "" {
			if err := p.readResults(ctx, &t, d.Results, &one); err != nil {
				return err
			}
		}
		part := ratchet.Part{Device: d.Name, Result: resultOf(one)}
		if part.Result == nil {
			part.Why = words.SanitizeTo(cmp.Or(one.ToolFailed, "the run left nothing to judge"), words.SentenceLength)
			whys = append(whys, d.Name+": "+part.Why)
		}
		d.calibrate(part.Result)
		parts = append(parts, part)
		in.Devices = append(in.Devices, d.Name)
		maps.Copy(in.Quarantined, one.Quarantined)
		maps.Copy(in.Released, one.Released)
		in.Accepted = cmp.Or(in.Accepted, one.Accepted)
		if in.Drift == nil || one.Drift != nil && one.Drift.Verdict == ratchet.Regression {
			in.Drift = one.Drift
		}
		if len(in.Stages) == 0 {
			in.Stages = one.Stages
		}
	}
	if len(whys) == len(parts) {
		in.ToolFailed = strings.Join(whys, " ")
		return nil
	}
	joined := ratchet.Join(parts)
	in.Result = &joined
	return nil
}

// calibrate adds the calibration of the device to a result of it.
func (d Device) calibrate(r *ratchet.Result) {
	if r != nil && d.Calibration != "" {
		r.Calibrations = []string{d.Calibration}
	}
}

// resultOf returns what was judged, or the claim of a run that ended before anything was; nil if neither says anything.
func resultOf(in comment.Input) *ratchet.Result {
	switch {
	case in.Result != nil || in.ToolFailed != "" || in.Claimed == "":
		return in.Result
	case in.Claimed.Severity() == ratchet.SeverityPass && in.Claimed != ratchet.Identical:
		return nil // a pass without samples is not believed
	}
	sentence := "The run ended before anything was judged."
	for _, s := range in.Stages {
		if s.Answer == "stop" {
			sentence = s.Name + ": " + s.Line
		}
	}
	return &ratchet.Result{
		Schema: ratchet.Schema, Verdict: in.Claimed, Sentence: sentence, Counts: map[ratchet.Verdict]int{in.Claimed: 1},
		Cases: []ratchet.Judgment{{
			Name: "all cases", CaseKey: measure.CaseKey{Benchmark: "all cases", Implementation: measure.Candidate},
			Verdict: in.Claimed, Ratchet: ratchet.Holds, Gate: true, Sentence: sentence,
		}},
	}
}
