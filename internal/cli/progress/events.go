package progress

import (
	"encoding/json"
	"fmt"

	"github.com/goatnote-inc/pawl/internal/judge/runner"
	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/stats"
)

// jsonEvent returns an event as a JSON line: its name, then its fields.
func jsonEvent(e runner.Event) string {
	fields := map[string]any{}
	var name string
	switch e := e.(type) {
	case runner.Recovered:
		name, fields["path"], fields["rounds"] = "recovered", e.Path, e.Rounds
	case runner.Resumed:
		name, fields["run"], fields["rounds"] = "resumed", e.Run, e.Rounds
	case runner.NotResumed:
		name, fields["why"], fields["path"] = "not_resumed", e.Why, e.Path
	case runner.Building:
		name, fields["side"], fields["command"] = "building", e.Side, e.Command
	case runner.Built:
		name, fields["side"], fields["seconds"], fields["cached"] = "built", e.Side, e.Seconds, e.Cached
	case runner.Identical:
		name, fields["base"], fields["ignored"] = "identical", e.Base, e.Ignored
	case runner.LeftOut:
		name, fields["cases"], fields["unchanged"], fields["sampled"] = "left_out", e.Cases, e.Unchanged, e.Sampled
	case runner.Judged:
		name, fields["verdict"], fields["sentence"] = "judged", e.Result.Verdict, e.Result.Sentence
	case runner.Confirming:
		name, fields["cases"] = "confirming", e.Cases
	case runner.Waiting:
		name, fields["what"], fields["holder"] = "waiting", e.What, e.Holder
	case runner.Ready:
		name, fields["device"], fields["state"], fields["sides"], fields["cases"], fields["rounds"] = "ready", e.Device, e.State, e.Sides, e.Cases, e.Rounds
	case runner.Calibrated:
		name, fields["when"], fields["median_ns"] = "calibrated", e.When, e.Median
	case runner.Noticed:
		name, fields["notice"] = "notice", e.Notice
	case runner.Profiling:
		name, fields["case"], fields["side"], fields["tool"] = "profiling", e.Case, e.Side, e.Tool
	case runner.Profiled:
		name, fields["case"], fields["side"], fields["tool"], fields["seconds"] = "profiled", e.Case, e.Side, e.Tool, e.Seconds
	case runner.Explained:
		name, fields["case"] = "explained", e.Case
		if e.Err != nil {
			fields["error"] = e.Err.Error()
		}
	case runner.Staged:
		name, fields["step"], fields["answer"], fields["line"], fields["detail"] = "staged", e.Step, e.Answer, e.Line, e.Detail
	case runner.Saved:
		name, fields["path"], fields["end"] = "saved", e.Path, e.End
	case runner.Measuring:
		name = trialEvent(e.Event, fields)
	default:
		name = tuneEvent(e, fields)
	}
	return EventLine(name, fields)
}

// EventLine returns a named event as a JSON line; empty if it has no name.
func EventLine(name string, fields map[string]any) string {
	if name == "" {
		return ""
	}
	body, err := json.Marshal(fields)
	if err != nil {
		return ""
	}
	return fmt.Sprintf(`{"event":%q,%s`, name, body[1:])
}

// trialEvent sets the fields of an event of a round and returns its name. "round" counts from 1;
// "index" is the index in the record, which counts dropped rounds too.
func trialEvent(e trial.Event, fields map[string]any) string {
	switch e := e.(type) {
	case trial.RoundStarted:
		fields["round"], fields["of"], fields["order"], fields["cases"] = e.Number, e.Of, e.Order, e.Cases
		return "round_started"
	case trial.SideStarted:
		fields["index"], fields["side"], fields["state"] = e.Round, e.Side, e.State
		return "side_started"
	case trial.CaseMeasured:
		fields["index"], fields["side"], fields["case"] = e.Round, e.Side, e.Result.Case.Name()
		if r := e.Result.Round; r.Error != "" {
			fields["error"] = r.Error
		} else {
			fields["median"], fields["samples"] = stats.Median(r.Samples), len(r.Samples)
		}
		return "case_measured"
	case trial.RoundDone:
		fields["round"], fields["of"], fields["index"] = e.Number, e.Of, e.Round.Index
		fields["seconds"], fields["dropped"] = e.Seconds, e.Round.Dropped
		return "round_done"
	case trial.Looked:
		fields["rounds"], fields["undecided"] = e.Rounds, e.Undecided
		return "looked"
	case trial.Warned:
		fields["warning"] = e.Warning
		return "warning"
	default:
		return ""
	}
}
