package web

import (
	"fmt"
	"html/template"
	"math"
	"strings"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/base/chart"
	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/stats"
)

// TestbedHealth is a testbed with the readings of its last runs.
type TestbedHealth struct {
	client.Testbed
	Readings []client.HealthRecord // oldest first
}

// Health is the assessment of a machine.
type Health struct {
	Word     string // healthy or check it; unknown if there is too little data
	Class    string // of a badge
	Sentence string
}

// Assessments of a machine that can be compared with its past.
const (
	healthy = "healthy"
	suspect = "check it"
)

// recent is the number of runs compared with those before them.
const recent = 10

// Health compares the last runs with those before: the time of pawl's own kernel, the temperature, the clock
// and the noise.
func (b TestbedHealth) Health() Health {
	n := len(b.Readings)
	if n < 3*recent {
		return Health{"unknown", "", fmt.Sprintf("It has %s, too few to tell whether the machine is healthy; %d are enough.", words.Plural(n, "run"), 3*recent)}
	}
	before, now := b.Readings[:n-recent], b.Readings[n-recent:]
	var compared, worse []string
	for _, sign := range []struct {
		name string
		of   func(client.HealthRecord) float64
		bad  func(was, is float64) bool
		text func(was, is float64) string
	}{
		{"the speed of pawl's own kernel", func(r client.HealthRecord) float64 { return r.Calibration }, func(was, is float64) bool { return is > was*1.02 }, func(was, is float64) string {
			return "pawl's own kernel is " + words.Change(is/was)
		}},
		{"the clock", func(r client.HealthRecord) float64 { return r.SMClockMHz }, func(was, is float64) bool { return is < was*0.98 }, func(was, is float64) string {
			return fmt.Sprintf("the clock fell from %.0f to %.0f MHz", was, is)
		}},
		{"the temperature", func(r client.HealthRecord) float64 { return r.TemperatureC }, func(was, is float64) bool { return is > was+6 }, func(was, is float64) string {
			return fmt.Sprintf("it is %.0f degrees warmer (%.0f °C)", is-was, is)
		}},
		{"the noise", func(r client.HealthRecord) float64 { return r.Noise }, func(was, is float64) bool { return is > was*1.5 && is > 0.005 }, func(was, is float64) string {
			return fmt.Sprintf("the spread between rounds is %s instead of %s", words.Percent(is), words.Percent(was))
		}},
	} {
		was, is := medianReading(before, sign.of), medianReading(now, sign.of)
		if was == 0 || is == 0 {
			continue // not reported
		}
		compared = append(compared, sign.name)
		if sign.bad(was, is) {
			worse = append(worse, sign.text(was, is))
		}
	}
	switch {
	case len(compared) == 0:
		return Health{"unknown", "", "Its runs report no speed of pawl's own kernel, clock, temperature or noise that could be compared."}
	case len(worse) == 0:
		return Health{healthy, "pass", fmt.Sprintf("The last %d runs match those before in %s.", recent, listed(compared))}
	}
	return Health{suspect, "no-answer", fmt.Sprintf("In the last %d runs %s. Check the machine before you look for a commit.", recent, listed(worse))}
}

func listed(parts []string) string {
	last := len(parts) - 1
	if last == 0 {
		return parts[0]
	}
	return strings.Join(parts[:last], ", ") + " and " + parts[last]
}

// medianReading returns the median of the reported values; 0 if there are none.
func medianReading(list []client.HealthRecord, of func(client.HealthRecord) float64) float64 {
	var values []float64
	for _, r := range list {
		if v := of(r); v > 0 && !math.IsInf(v, 0) {
			values = append(values, v)
		}
	}
	if len(values) == 0 {
		return 0
	}
	return stats.Median(values)
}

// Last returns the latest reading; zero if there is none.
func (b TestbedHealth) Last() client.HealthRecord {
	if len(b.Readings) == 0 {
		return client.HealthRecord{}
	}
	return b.Readings[len(b.Readings)-1]
}

// Spark draws the time of pawl's own kernel, or the noise if that is not available.
func (b TestbedHealth) Spark() template.HTML {
	of := func(r client.HealthRecord) float64 { return r.Calibration }
	if medianReading(b.Readings, of) == 0 {
		of = func(r client.HealthRecord) float64 { return r.Noise }
	}
	var points []client.StoredPoint
	for _, r := range b.Readings {
		if v := float32(of(r)); v > 0 {
			points = append(points, client.StoredPoint{At: r.Measured, Report: r.Run, Value: v, Low: v, High: v})
		}
	}
	return spark(points, nil)
}

// Testbed is the page about the health of a machine.
type Testbed struct {
	Bed    TestbedHealth
	Series int
	Runs   []client.Run // latest first
	Moved  []client.Group
	Cards  []FleetCard // of the fleet, calibrated as this testbed
}

// Title returns the heading.
func (t Testbed) Title() string { return TestbedName(t.Bed.Facts) }
func (Testbed) tab() string     { return "overview" }

// Shown returns the cards to show, those that need a look first.
func (t Testbed) Shown() []FleetCard { return Fleet{Cards: t.Cards}.Shown() }

// Hidden returns how many cards are not shown.
func (t Testbed) Hidden() int { return Fleet{Cards: t.Cards}.Hidden() }

// Charts returns the readings of the machine over time.
func (t Testbed) Charts() []chart.Figure {
	var list []chart.Figure
	for _, c := range []struct {
		title, unit string
		of          func(client.HealthRecord) float64
	}{
		{"Time of pawl's own kernel, the same in every run", "ns", func(r client.HealthRecord) float64 { return r.Calibration }},
		{"Spread between rounds, median over cases", "%", func(r client.HealthRecord) float64 { return 100 * r.Noise }},
		{"Temperature, maximum of a run", "°C", func(r client.HealthRecord) float64 { return r.TemperatureC }},
		{"Clock, median of a run", "MHz", func(r client.HealthRecord) float64 { return r.SMClockMHz }},
		{"Power, median of a run", "W", func(r client.HealthRecord) float64 { return r.PowerW }},
		{"Host load", "", func(r client.HealthRecord) float64 { return r.Load1 }},
	} {
		if f, ok := t.Bed.chart(c.title, c.unit, c.of); ok {
			list = append(list, f)
		}
	}
	return list
}

func (b TestbedHealth) chart(title, unit string, of func(client.HealthRecord) float64) (chart.Figure, bool) {
	low, high := math.Inf(1), math.Inf(-1)
	var points []client.StoredPoint
	for _, r := range b.Readings {
		if v := of(r); v > 0 && !math.IsInf(v, 0) {
			low, high = min(low, v), max(high, v)
			points = append(points, client.StoredPoint{At: r.Measured, Report: r.Run, Value: float32(v), Low: float32(v), High: float32(v)})
		}
	}
	if len(points) < 2 {
		return chart.Figure{}, false
	}
	p := newPlot("chart small", 380, 160, points[0].At, points[len(points)-1].At, low, high, unit)
	p.values(Thin(points, 110))
	last := points[len(points)-1]
	if low == high {
		return chart.Figure{Drawing: p.HTML(), Caption: fmt.Sprintf("%s: always %s.", title, reading(low, unit))}, true
	}
	return chart.Figure{Drawing: p.HTML(), Caption: fmt.Sprintf("%s: latest %s, between %s and %s.", title,
		reading(float64(last.Value), unit), reading(low, unit), reading(high, unit))}, true
}

// reading formats a sensor value with at most three digits.
func reading(v float64, unit string) string {
	if unit == "ns" {
		return words.Quantity(v, unit)
	}
	if v >= 100 {
		return strings.TrimSpace(fmt.Sprintf("%.0f %s", v, unit))
	}
	return strings.TrimSpace(fmt.Sprintf("%.3g %s", v, unit))
}
