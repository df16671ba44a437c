package tool

import (
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/explain/profile"
	"github.com/goatnote-inc/pawl/measure"
)

// traceOf makes a trace of launches: when each began and how long it took, in microseconds.
func traceOf(launches ...[2]float64) *profile.Profile {
	p := &profile.Profile{Format: profile.Format, Tool: profile.Tool{Name: "nsys"}}
	for i, l := range launches {
		p.Launches = append(p.Launches, profile.Launch{ID: i, Kernel: "k", Metrics: []profile.Metric{
			{Name: "Start", Unit: "ns", Value: new(1000 * l[0])}, {Name: "Duration", Unit: "ns", Value: new(1000 * l[1])},
		}})
	}
	return p
}

func TestCompareClocks(t *testing.T) {
	for _, test := range []struct {
		name  string
		own   measure.Samples // ns
		trace *profile.Profile
		runs  int
		agree bool
		says  string
	}{
		{"equal", measure.Samples{99e3, 100e3, 104e3}, traceOf([2]float64{0, 99}, [2]float64{200, 101}), 2, true, "two clocks agree: 100 us by the harness, 100 us by nsys"},
		{"ten times better than the kernel", measure.Samples{10e3}, traceOf([2]float64{0, 100}), 1, false, "do not trust the result"},
		{"a fifth is missing", measure.Samples{79e3}, traceOf([2]float64{0, 100}), 1, false, "saw kernels busy for 100 us"},
		{"less than the difference of two clocks", measure.Samples{500}, traceOf([2]float64{0, 1.4}), 1, true, "two clocks agree"},
		{"launching takes most of it", measure.Samples{40e3}, traceOf([2]float64{0, 10}), 1, true, "in the remaining 75 % no kernel was on the device"},
		{"two kernels of a run", measure.Samples{60e3}, traceOf([2]float64{0, 30}, [2]float64{30, 30}), 1, true, "60 us by nsys"},
		{"two kernels side by side count once", measure.Samples{31e3}, traceOf([2]float64{0, 30}, [2]float64{1, 30}), 1, true, "31 us by nsys"},
		{"one inside another", measure.Samples{100e3}, traceOf([2]float64{0, 100}, [2]float64{10, 10}, [2]float64{40, 10}), 1, true, "100 us by nsys"},
		{"not in order", measure.Samples{60e3}, traceOf([2]float64{50, 30}, [2]float64{0, 30}), 1, true, "60 us by nsys"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := CompareClocks(test.own, test.trace, test.runs)
			if err != nil || got.Agree != test.agree || !strings.Contains(got.Sentence, test.says) {
				t.Errorf("got %+v, %v\nwant %v, %q", got, err, test.agree, test.says)
			}
		})
	}
}

func TestCompareClocksNeedsBoth(t *testing.T) {
	one := measure.Samples{1e5}
	for name, run := range map[string]func() (Clocks, error){
		"no samples": func() (Clocks, error) { return CompareClocks(nil, traceOf([2]float64{0, 1}), 1) },
		"no kernels": func() (Clocks, error) { return CompareClocks(one, traceOf(), 1) },
		"no runs":    func() (Clocks, error) { return CompareClocks(one, traceOf([2]float64{0, 1}), 0) },
		"no times": func() (Clocks, error) {
			return CompareClocks(one, &profile.Profile{Launches: []profile.Launch{{Kernel: "k"}}}, 1)
		},
	} {
		if got, err := run(); err == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
