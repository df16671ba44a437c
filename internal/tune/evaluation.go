package tune

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/tune/space"
	"github.com/goatnote-inc/pawl/stats"
)

// Status is the outcome of evaluating a point.
type Status string

// The outcomes of an evaluation. All but OK and Pruned cost time and are reported to the
// strategy, so that it avoids neighboring points.
const (
	OK           Status = "ok"
	CompileError Status = "compile_error"
	RuntimeError Status = "runtime_error"
	Wrong        Status = "wrong"
	Timeout      Status = "timeout"
	Pruned       Status = "pruned" // exceeds the limits of every device, so it was not built
)

var statuses = []Status{OK, CompileError, RuntimeError, Wrong, Timeout, Pruned}

// Evaluation is one evaluated point.
type Evaluation struct {
	N      int            `json:"n"`     // from 0, in completion order
	Point  map[string]any `json:"point"` // values by parameter: numbers, text or booleans
	Status Status         `json:"status"`

	Samples []float64 `json:"samples,omitempty"` // nanoseconds, in the order taken
	Value   float64   `json:"value,omitempty"`   // their median
	Lost    bool      `json:"lost,omitempty"`    // the race ended before all samples were taken

	// Build, Check and Measure are the seconds spent on each step.
	Build   float64 `json:"build"`
	Check   float64 `json:"check"`
	Measure float64 `json:"measure"`

	Why string    `json:"why,omitempty"` // what failed, in one line
	At  time.Time `json:"at"`
}

// Seconds returns the total time of the evaluation.
func (e Evaluation) Seconds() float64 { return e.Build + e.Check + e.Measure }

// Key returns the same string for equal points. Equal numbers of different types have the
// same key.
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
			x, _ := space.Number(v)
			b.WriteString(strconv.FormatFloat(x, 'g', -1, 64))
		}
		b.WriteByte(' ')
	}
	return b.String()
}

// check rejects an invalid evaluation.
func (e Evaluation) check() error {
	if !slices.Contains(statuses, e.Status) {
		return fmt.Errorf("evaluation %d: unknown status %q", e.N, e.Status)
	}
	if len(e.Point) == 0 || len(e.Point) > maxParameters {
		return fmt.Errorf("evaluation %d: the point has %d values, which is none or too many", e.N, len(e.Point))
	}
	for name, v := range e.Point {
		switch v.(type) {
		case string, bool:
		default:
			if x, ok := space.Number(v); !ok || math.IsNaN(x) || math.IsInf(x, 0) {
				return fmt.Errorf("evaluation %d: %q is not a number, text or boolean", e.N, name)
			}
		}
	}
	for _, x := range append([]float64{e.Value, e.Build, e.Check, e.Measure}, e.Samples...) {
		if math.IsNaN(x) || math.IsInf(x, 0) || x < 0 {
			return fmt.Errorf("evaluation %d: %v is not a valid time", e.N, x)
		}
	}
	if (e.Status == OK) != (len(e.Samples) > 0 && e.Value > 0) {
		return fmt.Errorf("evaluation %d: status %s does not fit %d samples and value %v", e.N, e.Status, len(e.Samples), e.Value)
	}
	return nil
}

// maxParameters limits the values of a point.
const maxParameters = 64

// Best returns the evaluation with the lowest value; false if none is OK. A point that the
// race stopped early is returned only if there is no other.
func Best(list []Evaluation) (Evaluation, bool) {
	ranked := Ranked(list)
	if len(ranked) == 0 {
		return Evaluation{}, false
	}
	return ranked[0], true
}

// Ranked returns the OK evaluations, best first. Those that lost their race come last,
// because they have too few samples to be compared.
func Ranked(list []Evaluation) []Evaluation {
	var ok []Evaluation
	for _, e := range list {
		if e.Status == OK {
			ok = append(ok, e)
		}
	}
	slices.SortStableFunc(ok, func(a, b Evaluation) int {
		switch {
		case a.Lost == b.Lost:
			return cmp.Or(cmp.Compare(a.Value, b.Value), a.N-b.N)
		case a.Lost:
			return 1
		}
		return -1
	})
	return ok
}

// Measured sets the samples and the values derived from them.
func (e *Evaluation) Measured(samples []float64, lost bool) {
	e.Status, e.Samples, e.Value, e.Lost = OK, samples, stats.Median(samples), lost
}
