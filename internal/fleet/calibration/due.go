package calibration

import (
	"slices"
	"time"
)

// usual returns the median noise of the last good calibrations with a driver; 0 if there are too few.
func usual(list []Record, grades []string, driver string) float64 {
	var noise []float64
	for i := len(list) - 1; i >= 0 && len(noise) < usualOf; i-- {
		if list[i].Driver == driver && grades[i] == "" {
			noise = append(noise, list[i].Noise)
		}
	}
	if len(noise) < usualFrom {
		return 0
	}
	slices.Sort(noise)
	return noise[len(noise)/2]
}

// soon is how long after a bad or failed calibration the next one follows.
const soon = time.Hour

// Due returns why a card has to be calibrated now; empty if it does not. last is its latest calibration, zero if there is
// none, driver that of its latest measurement, and every the time between two calibrations.
func (s State) Due(last Record, driver string, every time.Duration, now time.Time) string {
	age := now.Sub(last.At)
	switch {
	case last.At.IsZero():
		return "it was never calibrated"
	case driver != "" && last.Driver != "" && driver != last.Driver && (last.Error == "" || age >= soon):
		return "its driver has changed"
	case age >= every:
		return "its last calibration is old"
	case age < soon:
		return ""
	case s.Quarantine != "":
		return "it is in quarantine"
	case last.Error != "":
		return "its last calibration failed"
	case last.bad(0) != "":
		return "its last calibration was bad"
	}
	return ""
}
