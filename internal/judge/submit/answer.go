package submit

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxAnswer is the max size of an encoded answer, in bytes.
const MaxAnswer = 1200

// Status says what became of a submission.
type Status string

// The statuses, in the order in which a submission can reach them.
const (
	Refused      Status = "refused"       // not built: the input, the definition or the budget forbids it
	CompileError Status = "compile_error" // the build failed
	Compiled     Status = "compiled"      // built; stage compile asks for no more
	Identical    Status = "identical"     // nothing that a build or a kernel reads differs from the base
	Wrong        Status = "wrong"         // a result is wrong
	Crashed      Status = "crashed"       // the kernel or its process died
	Timeout      Status = "timeout"       // it did not end within its time
	Rejected     Status = "rejected"      // the integrity checks refuse it
	Passed       Status = "passed"        // results are correct; stage smoke asks for no more
	Measured     Status = "measured"      // measured and judged
	Failed       Status = "error"         // pawl or the machine could not judge it
)

// Answer is what a submission gets back. It is flat and small; explain has the rest.
type Answer struct {
	ID      string  `json:"id"`
	Status  Status  `json:"status"`
	Stage   Stage   `json:"stage"`
	Verdict string  `json:"verdict,omitempty"`         // of the judge, relative to the grant's base
	Reason  string  `json:"reason,omitempty"`          // in pawl's own words
	Detail  string  `json:"detail,omitempty"`          // in the words of a kernel, a tool or a file's author
	Speedup number  `json:"speedup,omitzero"`          // time of the base over time of the candidate
	Range   *bounds `json:"interval,omitempty"`        // 95 % confidence interval of Speedup
	Rounds  int     `json:"rounds,omitempty"`          // of the case that has most
	Same    string  `json:"same_as,omitempty"`         // an earlier attempt with the same files
	Faster  int     `json:"cases_faster,omitempty"`    // counts of cases by verdict
	Slower  int     `json:"cases_slower,omitempty"`    //
	Kept    int     `json:"cases_same,omitempty"`      //
	Open    int     `json:"cases_undecided,omitempty"` //
	Broken  int     `json:"cases_failed,omitempty"`    //

	Worst  []CaseAnswer `json:"worst,omitempty"`       // the three slowest cases relative to the base
	Errors []BuildError `json:"errors,omitempty"`      // the first three errors of the compiler
	Input  string       `json:"worst_input,omitempty"` // the input on which the result is wrong

	Best        string  `json:"best"`         // ID of the best attempt so far; "base" if none is faster
	BestSpeedup number  `json:"best_speedup"` //
	Waited      number  `json:"waited_s"`     // for the device
	Cost        number  `json:"cost_s"`       // without waiting
	Left        *number `json:"left_s,omitempty"`
}

// CaseAnswer is one case of an answer.
type CaseAnswer struct {
	Case    string `json:"case"`
	Verdict string `json:"verdict"`
	Speedup number `json:"speedup,omitzero"`
}

// BuildError is one error of a compiler.
type BuildError struct {
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Message string `json:"message"`
}

// Max lengths of the texts of an answer, encoded, and of its lists. Errors and cases exclude each other,
// so their sum is below MaxAnswer: TestAnswer_StaysSmall.
const (
	maxID      = 12
	maxReason  = 200 // with the detail
	maxInput   = 160
	maxCase    = 48
	maxFile    = 48
	maxMessage = 90
	maxListed  = 3
	maxCount   = 999_999
)

// bounded returns a with every text and list cut to its limit.
func (a Answer) bounded() Answer {
	a.ID, a.Best, a.Same = shorten(a.ID, maxID), shorten(a.Best, maxID), shorten(a.Same, maxID)
	a.Status, a.Stage = Status(shorten(string(a.Status), 16)), Stage(shorten(string(a.Stage), 8))
	a.Verdict, a.Reason, a.Input = shorten(a.Verdict, 16), shorten(a.Reason, maxReason), shorten(a.Input, maxInput)
	a.Detail = detailBeside(a.Reason, a.Detail)
	for _, n := range []*int{&a.Rounds, &a.Faster, &a.Slower, &a.Kept, &a.Open, &a.Broken} {
		*n = clamp(*n)
	}
	var cases []CaseAnswer
	var errs []BuildError
	if a.Status == CompileError {
		for _, e := range a.Errors[:min(len(a.Errors), maxListed)] {
			errs = append(errs, BuildError{shorten(e.File, maxFile), clamp(e.Line), clamp(e.Column), shorten(e.Message, maxMessage)})
		}
		a = Answer{ // nothing was run
			ID: a.ID, Status: a.Status, Stage: a.Stage, Reason: a.Reason, Detail: a.Detail, Same: a.Same,
			Best: a.Best, BestSpeedup: a.BestSpeedup, Waited: a.Waited, Cost: a.Cost, Left: a.Left,
		}
	} else {
		for _, c := range a.Worst[:min(len(a.Worst), maxListed)] {
			cases = append(cases, CaseAnswer{shorten(c.Case, maxCase), shorten(c.Verdict, 16), c.Speedup})
		}
	}
	a.Worst, a.Errors = cases, errs
	return a
}

// Encode returns the answer as one line of JSON, at most MaxAnswer bytes with its newline.
func (a Answer) Encode() ([]byte, error) { return encode(a.bounded()) }

// encode returns v as one line of JSON without the escapes that only HTML needs.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}

func clamp(n int) int { return max(0, min(n, maxCount)) }

// detailBeside returns a detail cut to what the reason leaves of maxReason.
func detailBeside(reason, detail string) string {
	room := maxReason - len(reason) - strings.Count(reason, `"`) - strings.Count(reason, `\`) - len(`,"detail":""`)
	if room < 10 {
		return ""
	}
	return shorten(detail, room)
}

// shorten returns s on one line, without characters that cannot be printed, so that its JSON string has at
// most limit bytes between the quotes. A cut text ends in "...".
func shorten(s string, limit int) string {
	return shortenLines(strings.NewReplacer("\n", " ", "\t", " ").Replace(s), limit)
}

// shortenLines is shorten for a text of several lines.
func shortenLines(s string, limit int) string {
	const mark = "..."
	var b, fits []byte // fits is the longest start of b that leaves room for the mark
	size := 0
	for _, r := range s {
		cost := utf8.RuneLen(r)
		switch {
		case r == '\n', r == '\t', r == '"', r == '\\':
			cost = 2
		case r == utf8.RuneError || !unicode.IsPrint(r):
			continue
		}
		if size += cost; size > limit {
			return string(fits) + mark
		}
		b = utf8.AppendRune(b, r)
		if size <= limit-len(mark) {
			fits = slices.Clip(b)
		}
	}
	return string(b)
}

// number is a figure with four digits: more would be noise and cost tokens.
type number float64

// IsZero reports whether the number is unknown.
func (n number) IsZero() bool { return n == 0 }

// MarshalJSON writes at most 9 bytes.
func (n number) MarshalJSON() ([]byte, error) {
	v := float64(n)
	switch {
	case math.IsNaN(v):
		return []byte("null"), nil
	case math.Abs(v) > 9_999_999:
		v = math.Copysign(9_999_999, v)
	case math.Abs(v) < 1e-4:
		v = 0
	}
	if math.Abs(v) >= 1000 {
		return strconv.AppendFloat(nil, v, 'f', 0, 64), nil
	}
	short, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 4, 64), 64)
	return strconv.AppendFloat(nil, short, 'f', -1, 64), err
}

// bounds is an interval, written as [low, high].
type bounds struct{ low, high number }

// MarshalJSON writes a list of two numbers.
func (b bounds) MarshalJSON() ([]byte, error) { return json.Marshal([2]number{b.low, b.high}) }

// UnmarshalJSON reads a list of two numbers.
func (b *bounds) UnmarshalJSON(text []byte) error {
	var pair [2]number
	err := json.Unmarshal(text, &pair)
	b.low, b.high = pair[0], pair[1]
	return err
}

// Interval returns the 95 % confidence interval of the speed-up; ok is false if it is unknown.
func (a Answer) Interval() (low, high float64, ok bool) {
	if a.Range == nil {
		return 0, 0, false
	}
	return float64(a.Range.low), float64(a.Range.high), true
}
