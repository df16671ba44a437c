package words

import (
	"fmt"
	"testing"
	"time"
)

func TestNumbers(t *testing.T) {
	for v, want := range map[float64]string{0: "0 ns", 0.5: "0.5000 ns", 60416.2: "60.42 us", 1.5e6: "1.500 ms", 123456789: "123.5 ms", 2.5e9: "2.500 s", 1e12: "1000 s"} {
		if got := Quantity(v, "ns"); got != want {
			t.Errorf("Quantity(%v) = %q, want %q", v, got, want)
		}
	}
	for ratio, want := range map[float64]string{1: "same", 1.0004: "same", 1.06: "6.0 % slower", 0.94: "6.0 % faster", 2.5: "2.50x slower", 0.4: "2.50x faster", 0: "-"} {
		if got := Change(ratio); got != want {
			t.Errorf("Change(%v) = %q, want %q", ratio, got, want)
		}
	}
	for d, want := range map[time.Duration]string{3400 * time.Millisecond: "3.4 s", 90 * time.Second: "90 s", 10*time.Minute + 5*time.Second: "10 min 5 s", 3 * time.Hour: "3 h 0 min"} {
		if got := Duration(d); got != want {
			t.Errorf("Duration(%v) = %q, want %q", d, got, want)
		}
	}
}

func TestSigned_ZeroHasNoSign(t *testing.T) {
	for v, want := range map[float64]string{0: "0.0", -0.04: "0.0", 0.04: "0.0", -0.06: "-0.1", 4.2: "+4.2", -100: "-100.0"} {
		if got := Signed(v, 1); got != want {
			t.Errorf("Signed(%v) = %q, want %q", v, got, want)
		}
	}
	if got := Percent(-0.0004); got != "0.0 %" {
		t.Errorf("Percent = %q", got)
	}
	if got, want := ChangeWithin(1.002, 0.9997, 1.0045), "0.2 % slower (0.0 to 0.4 %)"; got != want {
		t.Errorf("ChangeWithin = %q, want %q", got, want)
	}
}

func TestPlural(t *testing.T) {
	for want, c := range map[string]struct {
		n    int
		noun string
	}{
		"0 cases": {0, "case"}, "1 series": {1, "series"}, "31 series": {31, "series"}, "2 benches": {2, "bench"}, "3 queries": {3, "query"}, "2 days": {2, "day"},
		"2 passes": {2, "pass"}, "5 new events": {5, "new event"}, "1 new event": {1, "new event"},
	} {
		if got := Plural(c.n, c.noun); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func ExampleDuration() {
	fmt.Println(Duration(95 * time.Second))
	// Output: 95 s
}

func TestChangeWithin(t *testing.T) {
	for _, c := range []struct {
		ratio, low, high float64
		want             string
	}{
		{1.042, 1.036, 1.048, "4.2 % slower (3.6 to 4.8 %)"},
		{0.95, 0.94, 0.96, "5.0 % faster (4.0 to 6.0 %)"},
		{1.002, 0.996, 1.008, "0.2 % slower (-0.4 to 0.8 %)"},
		{2.4, 2.3, 2.5, "2.40x slower (2.30x to 2.50x)"},
		{0.4, 0.38, 0.42, "2.50x faster (2.38x to 2.63x)"},
		{1.5, 0, 2, "50.0 % slower"},     // no lower limit
		{1.5, 1.2, 1.1, "50.0 % slower"}, // not an interval
	} {
		if got := ChangeWithin(c.ratio, c.low, c.high); got != c.want {
			t.Errorf("ChangeWithin(%v, %v, %v) = %q, want %q", c.ratio, c.low, c.high, got, c.want)
		}
	}
	if got := AmountWithin(0.9, 0.85, 0.95); got != "10.0 % less (5.0 to 15.0 %)" {
		t.Errorf("AmountWithin: %q", got)
	}
}
