package journal

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/stats"
)

// Summary is one session in figures. The five measures of a session are Build, Bottleneck, Wrong,
// Speedup and Dollars.
type Summary struct {
	Started
	Began   time.Time `json:"began"`
	By      Actor     `json:"by"`
	Open    bool      `json:"open,omitempty"`
	Ended   *Ended    `json:"ended,omitempty"`
	Minutes float64   `json:"minutes"`
	Device  float64   `json:"device_seconds,omitempty"`

	Build      *float64 `json:"minutes_to_build,omitempty"`      // to the first working build; nil for none
	Bottleneck *float64 `json:"minutes_to_bottleneck,omitempty"` // to the first profile
	Wrong      int      `json:"wrong_optimizations"`
	Speedup    float64  `json:"speedup,omitempty"` // at the end, see Session.Speedup
	Dollars    float64  `json:"dollars,omitempty"` // the device for the whole session if its price is known, or else its commands

	Gained   float64            `json:"gained,omitempty"` // times as fast as at the beginning
	Phases   map[string]float64 `json:"minutes_by_phase,omitempty"`
	Attempts []Attempt          `json:"attempts,omitempty"`
	Entries  int                `json:"entries"`
	Refused  int                `json:"refused,omitempty"`
	Overrode int                `json:"overrode,omitempty"`
	Broken   string             `json:"broken,omitempty"` // why the journal cannot be read to its end
	Path     string             `json:"-"`
}

// Summarize returns the summary of a session; now counts while it is open.
func Summarize(s *Session, now time.Time) Summary {
	sum := Summary{
		Started: s.Started, Began: s.Began, Open: s.Ended == nil, Ended: s.Ended, Minutes: s.Minutes(now),
		Entries: len(s.Entries), Path: s.Path, Attempts: Attempts(s),
	}
	sum.Device, sum.Dollars = s.Spent()
	if s.Price > 0 {
		sum.Dollars = sum.Minutes / 60 * s.Price
	}
	for _, a := range sum.Attempts {
		if len(a.Wrong) > 0 {
			sum.Wrong++
		}
	}
	if all := s.Measurements(); len(all) > 0 {
		last := all[len(all)-1].Measured
		sum.Speedup, sum.Gained = s.Speedup(last), s.Gained(last)
	}
	for i, e := range s.Entries {
		if i == 0 {
			sum.By = e.Actor
		}
		if e.Refused != nil {
			sum.Refused++
		}
		if e.Overrode != nil {
			sum.Overrode++
		}
	}
	sum.firsts(s)
	sum.phases(s)
	return sum
}

// firsts finds the first working build and the first profile.
func (sum *Summary) firsts(s *Session) {
	for _, e := range s.Entries {
		if e.Did == nil {
			continue
		}
		at := max(0, e.Time.Sub(s.Began).Minutes())
		if b := e.Did.Built; sum.Build == nil && (b != nil && b.OK || e.Did.Measures()) {
			sum.Build = &at
		}
		if p := e.Did.Profiled; sum.Bottleneck == nil && p != nil && p.Bottleneck != "" {
			sum.Bottleneck = &at
		}
	}
}

// Phases lists the phases of the work in order.
var Phases = []string{"assess", "build", "baseline", "optimize"}

// phases splits the minutes: the time between two entries went to what the later one did.
func (sum *Summary) phases(s *Session) {
	sum.Phases = map[string]float64{}
	phase, at := Phases[0], s.Began
	measured := false
	for _, e := range s.Entries {
		if d := e.Did; d != nil {
			switch {
			case d.Profiled != nil || d.Tuned != nil || measured && len(d.Changes) > 0:
				phase = "optimize"
			case phase == "optimize":
			case d.Measures():
				phase, measured = "baseline", true
			case d.Built != nil || d.Checked != nil:
				phase = "build"
			case d.Environment != nil || d.Limits != nil:
				phase = "assess"
			}
		}
		if e.Time.After(at) {
			sum.Phases[phase] += e.Time.Sub(at).Minutes()
			at = e.Time
		}
	}
}

// Summaries returns those of all sessions by their start, the open one last. A journal that cannot
// be read has the reason in Broken.
func (f Folder) Summaries() ([]Summary, error) {
	if _, err := f.Open(); err != nil && !errors.Is(err, ErrNoSession) { // publishes one that a crash left
		if _, broken := errors.AsType[*BrokenError](err); !broken {
			return nil, err
		}
	}
	paths, err := f.Paths()
	if err != nil {
		return nil, err
	}
	var list []Summary
	for _, path := range paths {
		s, err := ReadFile(path)
		if s == nil || s.ID == "" {
			s = &Session{Started: Started{ID: strings.TrimSuffix(filepath.Base(path), ".jsonl")}, Path: path}
		}
		sum := Summarize(s, f.now())
		if sum.Open = sum.Open && filepath.Dir(path) == f.openDir(); err != nil {
			sum.Broken = err.Error()
		}
		if !sum.Open && s.Ended == nil {
			sum.Minutes = s.Last().Sub(s.Began).Minutes()
		}
		list = append(list, sum)
	}
	slices.SortStableFunc(list, func(a, b Summary) int { return strings.Compare(a.ID, b.ID) })
	return list, nil
}

// NewForecast returns the median and the range of what earlier sessions took and reached; nil
// without any that ended.
func NewForecast(past []Summary) *Forecast {
	var minutes, speedup []float64
	for _, s := range past {
		if s.Open || s.Ended == nil || s.Broken != "" {
			continue
		}
		minutes = append(minutes, s.Minutes)
		if s.Gained > 0 {
			speedup = append(speedup, s.Gained)
		}
	}
	if len(minutes) == 0 {
		return nil
	}
	return &Forecast{Minutes: rangeOf(minutes), Speedup: rangeOf(speedup), Basis: len(minutes)}
}

func rangeOf(list []float64) Range {
	if len(list) == 0 {
		return Range{}
	}
	return Range{Value: stats.Median(list), Low: slices.Min(list), High: slices.Max(list)}
}

// Holds reports whether a value lies in the range.
func (r Range) Holds(x float64) bool { return r.Low <= x && x <= r.High }
