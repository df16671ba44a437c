package tune

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/stats"
)

// Status is what became of a point.
type Status string

// The ways an evaluation can end. All but OK and Pruned cost time and are told to the
// strategy, so that it keeps away from their neighbours.
const (
	OK           Status = "ok"
	CompileError Status = "compile_error"
	RuntimeError Status = "runtime_error"
	Wrong        Status = "wrong"
	Timeout      Status = "timeout"
	Pruned       Status = "pruned" // no device has room for it: it was not even built
)

var statuses = []Status{OK, CompileError, RuntimeError, Wrong, Timeout, Pruned}

// Evaluation is one point that was tried.
type Evaluation struct {
	N      int            `json:"n"`     // from 0, in the order they ended
	Point  map[string]any `json:"point"` // values by parameter: numbers, text, true or false
	Status Status         `json:"status"`

	Samples []float64 `json:"samples,omitempty"` // nanoseconds, in the order taken
	Value   float64   `json:"value,omitempty"`   // their median
	Lost    bool      `json:"lost,omitempty"`    // the race was over before all samples were taken

	// Seconds that building, checking and measuring took.
	Build   float64 `json:"build"`
	Check   float64 `json:"check"`
	Measure float64 `json:"measure"`

	Why string    `json:"why,omitempty"` // what went wrong, in a line
	At  time.Time `json:"at"`
}

// Seconds is what the evaluation cost.
func (e Evaluation) Seconds() float64 { return e.Build + e.Check + e.Measure }

// Key is equal for equal points. A number is itself in whatever type it comes.
func Key(point map[string]any) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(point)) {
		fmt.Fprintf(&b, "%q=", name)
		switch v := point[name].(type) {
		case string:
			b.WriteString(strconv.Quote(v))
		case bool:
			b.WriteString(strconv.FormatBool(v))
		default:
			x, _ := number(v)
			b.WriteString(strconv.FormatFloat(x, 'g', -1, 64))
		}
		b.WriteByte(' ')
	}
	return b.String()
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case int:
		return float64(v), true
	case int64:
		return float64(v), true
	case uint64:
		return float64(v), true
	}
	return 0, false
}

// check finds what no evaluation can be.
func (e Evaluation) check() error {
	if !slices.Contains(statuses, e.Status) {
		return fmt.Errorf("evaluation %d: %q is no status", e.N, e.Status)
	}
	if len(e.Point) == 0 || len(e.Point) > maxParameters {
		return fmt.Errorf("evaluation %d: a point of %d values", e.N, len(e.Point))
	}
	for name, v := range e.Point {
		switch v.(type) {
		case string, bool:
		default:
			if x, ok := number(v); !ok || math.IsNaN(x) || math.IsInf(x, 0) {
				return fmt.Errorf("evaluation %d: %q is neither a number nor text nor true or false", e.N, name)
			}
		}
	}
	for _, x := range append([]float64{e.Value, e.Build, e.Check, e.Measure}, e.Samples...) {
		if math.IsNaN(x) || math.IsInf(x, 0) || x < 0 {
			return fmt.Errorf("evaluation %d: %v is no time", e.N, x)
		}
	}
	if (e.Status == OK) != (len(e.Samples) > 0 && e.Value > 0) {
		return fmt.Errorf("evaluation %d: status %s with %d samples and value %v", e.N, e.Status, len(e.Samples), e.Value)
	}
	return nil
}

// maxParameters bounds the values of a point.
const maxParameters = 64

// Best is the evaluation with the least value; false where none is right. Of those that the
// race gave up early none can be it, unless there is no other.
func Best(list []Evaluation) (Evaluation, bool) {
	ranked := Ranked(list)
	if len(ranked) == 0 {
		return Evaluation{}, false
	}
	return ranked[0], true
}

// Ranked are the right ones, best first. One that lost its race stands behind all that
// did not: it was measured too little to be compared.
func Ranked(list []Evaluation) []Evaluation {
	var ok []Evaluation
	for _, e := range list {
		if e.Status == OK {
			ok = append(ok, e)
		}
	}
	slices.SortStableFunc(ok, func(a, b Evaluation) int {
		switch {
		case a.Lost != b.Lost && a.Lost:
			return 1
		case a.Lost != b.Lost:
			return -1
		case a.Value < b.Value:
			return -1
		case a.Value > b.Value:
			return 1
		}
		return a.N - b.N
	})
	return ok
}

// Noise is the relative standard error of the value, as far as the samples show it.
func (e Evaluation) Noise() float64 {
	if len(e.Samples) < 2 || e.Value <= 0 {
		return 0
	}
	// Of a median, from the median deviation: an outlier says nothing about either.
	return 1.2533 * stats.RobustSD(e.Samples) / math.Sqrt(float64(len(e.Samples))) / e.Value
}

// Measured fills in what samples say.
func (e *Evaluation) Measured(samples []float64, lost bool) {
	e.Status, e.Samples, e.Value, e.Lost = OK, samples, stats.Median(samples), lost
}
