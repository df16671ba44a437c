package submit

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// An answer stays small whatever is in it, and is never cut in the middle of something.
func TestAnswer_StaysSmall(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringN(500, 2000, -1), rapid.StringMatching(`["\\<>&]{0,600}`))
		figure := func(name string) number { return number(rapid.Float64().Draw(t, name)) }
		count := rapid.Int()
		left := figure("left")
		a := Answer{
			ID: text.Draw(t, "id"), Status: Status(text.Draw(t, "status")), Stage: Stage(text.Draw(t, "stage")), Verdict: text.Draw(t, "verdict"),
			Reason: text.Draw(t, "reason"), Detail: text.Draw(t, "detail"), Speedup: figure("speedup"), Range: &bounds{figure("low"), figure("high")}, Rounds: count.Draw(t, "rounds"),
			Same: text.Draw(t, "same"), Faster: count.Draw(t, "faster"), Slower: count.Draw(t, "slower"), Kept: count.Draw(t, "kept"),
			Open: count.Draw(t, "open"), Broken: count.Draw(t, "broken"), Input: text.Draw(t, "input"), Best: text.Draw(t, "best"),
			BestSpeedup: figure("best speedup"), Waited: figure("waited"), Cost: figure("cost"), Left: &left,
		}
		if rapid.Bool().Draw(t, "does not compile") {
			a.Status = CompileError
		}
		for range rapid.IntRange(0, 5).Draw(t, "cases") {
			a.Worst = append(a.Worst, CaseAnswer{text.Draw(t, "case"), text.Draw(t, "case verdict"), figure("case speedup")})
		}
		for range rapid.IntRange(0, 5).Draw(t, "errors") {
			a.Errors = append(a.Errors, BuildError{text.Draw(t, "file"), count.Draw(t, "line"), count.Draw(t, "column"), text.Draw(t, "message")})
		}
		checkSmall(t, a)
	})
}

func TestAnswer_LargestStaysSmall(t *testing.T) {
	t.Parallel()
	for _, letter := range []string{"x", `"`, "ä", "字", "\u2028", "\x00", "<"} {
		for _, status := range []Status{CompileError, Measured} {
			long, most := strings.Repeat(letter, 3000), number(-math.MaxFloat64)
			a := Answer{
				ID: long, Status: status, Stage: Stage(long), Verdict: long, Reason: long, Detail: long, Speedup: most, Range: &bounds{most, most}, Rounds: math.MaxInt,
				Same: long, Faster: math.MaxInt, Slower: math.MaxInt, Kept: math.MaxInt, Open: math.MaxInt, Broken: math.MaxInt,
				Input: long, Best: long, BestSpeedup: most, Waited: most, Cost: most, Left: &most,
			}
			for range 5 {
				a.Worst = append(a.Worst, CaseAnswer{long, long, most})
				a.Errors = append(a.Errors, BuildError{long, math.MaxInt, math.MaxInt, long})
			}
			checkSmall(t, a)
			a.Reason = "in short"
			checkSmall(t, a)
		}
	}
}

func checkSmall(t interface {
	Errorf(format string, args ...any)
}, a Answer,
) {
	text, err := a.Encode()
	if err != nil || len(text) > MaxAnswer || !json.Valid(text) || !utf8.Valid(text) || strings.Count(string(text), "\n") != 1 {
		t.Errorf("%d bytes, %v: %s", len(text), err, text)
	}
	var again Answer
	if err := json.Unmarshal(text, &again); err != nil {
		t.Errorf("%v: %s", err, text)
	}
}

func TestShorten(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text  string
		limit int
		want  string
	}{
		{"short", 10, "short"},
		{"exactly 10", 10, "exactly 10"},
		{"more than ten", 10, "more th..."},
		{"two\nlines\tand \x1b[31mcolor", 40, "two lines and [31mcolor"},
		{`"""""""`, 10, `"""...`}, // each takes two bytes
		{"ääääääääää", 10, "äää..."},
	} {
		if got := shorten(test.text, test.limit); got != test.want {
			t.Errorf("shorten(%q, %d) = %q, want %q", test.text, test.limit, got, test.want)
		}
	}
}

func TestExplanation_StaysSmall(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("\"x", 3000)
	e := Explanation{ID: long, Other: long, Case: long, Tool: long, Reason: long, Code: long, Cost: -math.MaxFloat64}
	for range 20 {
		e.Changes, e.Notes = append(e.Changes, long), append(e.Notes, long)
		e.Hot, e.Try = append(e.Hot, HotLine{long, math.MaxInt, math.MaxFloat64}), append(e.Try, Try{long, long})
	}
	if text, err := e.Encode(); err != nil || len(text) > MaxExplanation || !json.Valid(text) {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}
