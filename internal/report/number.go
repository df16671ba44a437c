package report

import (
	"fmt"
	"math"
	"time"
)

// Quantity formats a number with its unit. Times use a readable unit and four significant
// digits, enough to see 0.1 %.
func Quantity(v float64, unit string) string {
	if math.IsNaN(v) {
		return "-"
	}
	if v == 0 {
		return "0 " + unit
	}
	if unit != "ns" {
		return digits(v) + " " + unit
	}
	for _, u := range []struct {
		name string
		ns   float64
	}{{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}} {
		if v >= u.ns {
			return digits(v/u.ns) + " " + u.name
		}
	}
	return digits(v) + " ns"
}

// digits formats v with four significant digits and no exponent.
func digits(v float64) string {
	if v == 0 {
		return "0"
	}
	decimals := 3 - int(math.Floor(math.Log10(math.Abs(v))))
	return fmt.Sprintf("%.*f", min(max(decimals, 0), 6), v)
}

// Percent formats a fraction: 0.0123 is "1.2 %".
func Percent(v float64) string { return fmt.Sprintf("%.1f %%", v*100) }

// Change describes a ratio of times in words, so that no sign needs interpreting.
func Change(ratio float64) string { return inWords(ratio, "slower", "faster") }

// Amount describes a ratio of anything other than times.
func Amount(ratio float64) string { return inWords(ratio, "more", "less") }

func inWords(ratio float64, above, below string) string {
	switch {
	case ratio == 0 || math.IsNaN(ratio):
		return "-"
	case ratio >= 2:
		return fmt.Sprintf("%.2fx %s", ratio, above)
	case ratio <= 0.5:
		return fmt.Sprintf("%.2fx %s", 1/ratio, below)
	case math.Abs(ratio-1) < 0.0005:
		return "same"
	case ratio > 1:
		return Percent(ratio-1) + " " + above
	default:
		return Percent(1-ratio) + " " + below
	}
}

// Dollars formats small costs with enough digits to be visible.
func Dollars(v float64) string {
	if v >= 1 {
		return fmt.Sprintf("$%.2f", v)
	}
	return fmt.Sprintf("$%.4f", v)
}

// FormatDuration formats a duration for people.
func FormatDuration(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
	default:
		return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
	}
}
