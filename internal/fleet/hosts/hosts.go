// Package hosts starts and stops the hosts of a fleet, as a workflow. The rules are those of package wake; here is what feeds them:
// the demand of gates, the answers of commands, and time. It must not know how a gate is placed.
package hosts

import (
	"encoding/json"
	"errors"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/goatnote-inc/pawl/internal/fleet/wake"
)

// Names of the workflow, its query and its signal.
const (
	Name   = "hosts" // name and ID of the workflow
	Shown  = "hosts" // query, answered with a wake.Summary
	Chosen = "file"  // signal: the digest of the file that decides from now on
)

// Names of the activities of pawld.
const (
	Look = "demand"       // what gates want of the hosts: (Known) Demand
	Run  = "host command" // runs a command of a host: (Order) Answer
)

// OtherFile is the type of the error of both activities in a pawld that does not have the file.
const OtherFile = "file"

// Known says what the workflow knows.
type Known struct {
	File  string `json:"file,omitzero"`  // digest; empty for any
	Rules string `json:"rules,omitzero"` // digest of what follows from the file and the devices
}

// Demand is what gates want of the hosts.
type Demand struct {
	Known Known        `json:"known"`
	Rules *wake.Config `json:"rules,omitzero"` // without commands; nil if the workflow knows them
	Lists []List       `json:"lists"`
}

// List has the gates that wait for a device model, or are measured on it.
type List struct {
	Model string     `json:"model"`
	Jobs  []wake.Job `json:"jobs"`
}

// An Order is a command for a host.
type Order struct {
	File     string    `json:"file"` // digest
	Host     string    `json:"host"`
	Kind     wake.Kind `json:"kind"`
	Stopping bool      `json:"stopping,omitzero"` // the host was told to stop, or will be: the budget is used up
	Hard     bool      `json:"hard,omitzero"`     // to stop, even if that loses a measurement: the budget is used up
}

// An Answer is the outcome of an Order.
type Answer struct {
	Power wake.Power `json:"power,omitzero"` // of a status command
	Why   string     `json:"why,omitzero"`   // it failed; empty if it succeeded
	Stays bool       `json:"stays,omitzero"` // it was not stopped, because a gate has just got a device
}

// State is what a run of the workflow leaves to the next one.
type State struct {
	Known Known       `json:"known,omitzero"`
	Rules wake.Config `json:"rules,omitzero"`
	Wake  *wake.State `json:"wake,omitzero"`
}

const (
	every     = 10 * time.Second // between two looks, unless a host is asked more often
	soonest   = time.Second
	maxEvents = 3000             // of a history, after which the workflow continues in a new run
	slack     = 30 * time.Second // that a command takes longer than its own limit, if pawld is lost
	maxFailed = 30               // looks in a row, after which the file of any pawld is taken, and then none: the pawlds that had one are gone
)

type hosts struct {
	State
	running int // commands
	failed  int // looks in a row
}

// Hosts starts and stops hosts until no pawld has a file of hosts. The file of the pawld that was started last decides. A change
// of the rules of wake with which a kept history does not replay needs workflow.GetVersion.
func Hosts(ctx workflow.Context, in State) error {
	h := &hosts{State: in}
	if h.Wake == nil {
		h.Wake = wake.NewState()
	}
	if err := workflow.SetQueryHandler(ctx, Shown, h.show(ctx)); err != nil {
		return err
	}
	chosen := workflow.GetSignalChannel(ctx, Chosen)
	for {
		for file := ""; chosen.ReceiveAsync(&file); {
			h.Known.File = file
		}
		switch {
		case !isLong(ctx):
			if gone := h.look(ctx); gone {
				return nil
			}
		case h.running == 0:
			return workflow.NewContinueAsNewError(ctx, Name, h.State)
		}
		if err := workflow.Sleep(ctx, h.pause()); err != nil {
			return err
		}
	}
}

// isLong reports whether this run should end. It then starts no command any more, and ends with the last one.
func isLong(ctx workflow.Context) bool {
	info := workflow.GetInfo(ctx)
	return info.GetContinueAsNewSuggested() || info.GetCurrentHistoryLength() > maxEvents
}

// look lets the rules see what gates want. It reports whether no pawld has a file of hosts any more.
func (h *hosts) look(ctx workflow.Context) (gone bool) {
	began := workflow.Now(ctx)
	var d Demand
	once := workflow.WithActivityOptions(ctx, workflow.ActivityOptions{ScheduleToCloseTimeout: 30 * time.Second, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1}})
	err := workflow.ExecuteActivity(once, Look, h.Known).Get(ctx, &d)
	switch {
	case ctx.Err() != nil:
	case isOther(err): // no command can run there either
		if h.failed++; h.failed >= maxFailed {
			gone = h.Known.File == ""
			h.Known.File, h.failed = "", 0
		}
	case err != nil:
		workflow.GetLogger(ctx).Warn("cannot see what gates want of the hosts", "error", err)
		h.step(ctx, wake.Tick{})
	default:
		h.failed = 0
		h.demand(ctx, d, began)
	}
	return gone
}

func isOther(err error) bool {
	app, ok := errors.AsType[*temporal.ApplicationError](err)
	return ok && app.Type() == OtherFile
}

// pause returns the time between two looks.
func (h *hosts) pause() time.Duration {
	pause := every
	for _, host := range h.Rules.Hosts {
		pause = min(pause, host.Ask)
	}
	return max(pause, soonest)
}

// demand lets the rules see new rules and all jobs.
func (h *hosts) demand(ctx workflow.Context, d Demand, began time.Time) {
	h.Known = d.Known
	if d.Rules != nil {
		h.Rules = *d.Rules
		h.Wake.Adopt(&h.Rules, workflow.Now(ctx))
	}
	for _, l := range d.Lists {
		h.step(ctx, wake.Poll{Repo: l.Model, Began: began, Jobs: l.Jobs})
	}
	if len(d.Lists) == 0 {
		h.step(ctx, wake.Tick{})
	}
	h.Wake.DropEnded()
}

// step lets the rules process an event, and starts the commands that follow.
func (h *hosts) step(ctx workflow.Context, e wake.Event) {
	if isLong(ctx) {
		h.Wake.Note(&h.Rules, e, workflow.Now(ctx))
		return
	}
	actions, said := h.Wake.Step(&h.Rules, e, workflow.Now(ctx))
	for _, text := range said {
		workflow.GetLogger(ctx).Info("hosts: " + text)
	}
	for _, a := range actions {
		h.running++
		workflow.Go(ctx, func(ctx workflow.Context) {
			e := h.run(ctx, a)
			h.running--
			h.step(ctx, e)
		})
	}
}

// run runs a command of a host, once: the rules decide when to try again. It is only tried again where another file is.
func (h *hosts) run(ctx workflow.Context, a wake.Action) wake.Event {
	limit := slack
	if host := h.Rules.Host(a.Host); host != nil {
		limit += host.Timeout
	}
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{ScheduleToCloseTimeout: limit, RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: 10 * time.Second}})
	var r Answer
	over := h.Wake.IsOver(&h.Rules, workflow.Now(ctx))
	order := Order{File: h.Known.File, Host: a.Host, Kind: a.Kind, Stopping: over || h.Wake.IsStopping(a.Host), Hard: over && a.Kind == wake.Stop}
	if err := workflow.ExecuteActivity(ctx, Run, order).Get(ctx, &r); err != nil {
		r = Answer{Why: "its command was lost: " + err.Error()}
	}
	if a.Kind == wake.Ask {
		return wake.StatusResult{Host: a.Host, Turn: a.Turn, Power: r.Power, Why: r.Why}
	}
	return wake.Ended{Host: a.Host, Kind: a.Kind, Why: r.Why, Stays: r.Stays}
}

// show answers queries from a copy, because a summary starts the new day.
func (h *hosts) show(ctx workflow.Context) func() (wake.Summary, error) {
	return func() (wake.Summary, error) {
		text, err := json.Marshal(h.Wake)
		if err != nil {
			return wake.Summary{}, err
		}
		copied, err := wake.DecodeState(text)
		if err != nil {
			return wake.Summary{}, err
		}
		return wake.Summarize(&h.Rules, copied, workflow.Now(ctx)), nil
	}
}
