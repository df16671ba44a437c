package cli

import (
	"math"
	"testing"

	"github.com/goatnote-inc/pawl/internal/learn"
	"github.com/goatnote-inc/pawl/internal/learn/model"
)

func TestExpectedText(t *testing.T) {
	fix := func(gain, prior float64, seen int) learn.Advised {
		return learn.Advised{Ranked: model.Ranked{
			Candidate: model.Candidate{Prior: prior}, Gain: math.Log1p(gain), Low: math.Log1p(gain - 0.1), High: math.Log1p(gain + 0.1), Seen: seen,
		}}
	}
	for _, c := range []struct {
		fix  learn.Advised
		want string
	}{
		{fix(0.12, 0.1, 0), "expected: 12 % faster (+2 % to +22 %)"},
		{fix(-0.03, 0.1, 4), "expected: 3 % slower (-13 % to +7 %)"},
		{fix(-0.002, 0, 1), "expected: as fast as now (-10 % to +10 %)"},
		{fix(0.0999, 0, 1), "expected: 10 % faster (+0 % to +20 %)"},
		{fix(0.098, 0, 1), "expected: 10 % faster (+0 % to +20 %)"},
		{fix(0, 0, 0), "no known gain yet"},
	} {
		if got := expectedText(c.fix); got != c.want {
			t.Errorf("%+v: %q, not %q", c.fix.Ranked, got, c.want)
		}
	}
}
