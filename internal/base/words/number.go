package words

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// Quantity formats a number with its unit. Times use a readable unit and four significant
// digits, enough to see 0.1 %.
func Quantity(v float64, unit string) string {
	if math.IsNaN(v) {
		return "-"
	}
	if unit == "1" { // a number without a dimension
		return Digits(v)
	}
	if v == 0 {
		return "0 " + unit
	}
	if unit != "ns" {
		return Digits(v) + " " + unit
	}
	for _, u := range []struct {
		name string
		ns   float64
	}{{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}} {
		if v >= u.ns {
			return Digits(v/u.ns) + " " + u.name
		}
	}
	return Digits(v) + " ns"
}

// Digits formats v with four significant digits and no exponent.
func Digits(v float64) string {
	if v == 0 {
		return "0"
	}
	decimals := 3 - int(math.Floor(math.Log10(math.Abs(v))))
	return fmt.Sprintf("%.*f", min(max(decimals, 0), 6), v)
}

// SI formats a number with three digits and a unit prefix: "30.3 TFLOP/s".
func SI(v float64, unit string) string {
	prefixes := []string{"", "k", "M", "G", "T", "P", "E"}
	i := 0
	for math.Abs(v) >= 999.5 && i < len(prefixes)-1 {
		v /= 1000
		i++
	}
	return Short(v) + " " + prefixes[i] + unit
}

// Short formats a number with at most three digits.
func Short(v float64) string {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return "0"
	}
	decimals := 2 - int(math.Floor(math.Log10(math.Abs(v))))
	text := fmt.Sprintf("%.*f", min(max(decimals, 0), 6), v)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// Percent formats a fraction: 0.0123 is "1.2 %".
func Percent(v float64) string { return Fixed(v*100, 1) + " %" }

// Fixed formats v with the given number of decimals. What rounds to zero has no sign: never "-0.0".
func Fixed(v float64, decimals int) string { return plainZero(fmt.Sprintf("%.*f", decimals, v)) }

// Signed is Fixed with a sign in front of everything but zero: "+4.2", "-0.4", "0.0".
func Signed(v float64, decimals int) string { return plainZero(fmt.Sprintf("%+.*f", decimals, v)) }

// SignedPercent formats a change as a fraction: 0.0123 is "+1.2 %".
func SignedPercent(v float64) string { return Signed(v*100, 1) + " %" }

func plainZero(text string) string {
	if digits := strings.TrimLeft(text, "+-"); strings.Trim(digits, "0.") == "" {
		return digits
	}
	return text
}

// Change describes a ratio of times in words, so that no sign needs interpreting.
func Change(ratio float64) string { return inWords(ratio, "slower", "faster") }

// ChangeWithin is Change with the interval that contains the ratio: "4.2 % slower (3.6 to 4.8 %)",
// "2.40x faster (2.31x to 2.50x)".
func ChangeWithin(ratio, low, high float64) string { return withRange(Change(ratio), ratio, low, high) }

// AmountWithin is Amount with the interval that contains the ratio.
func AmountWithin(ratio, low, high float64) string { return withRange(Amount(ratio), ratio, low, high) }

func withRange(text string, ratio, low, high float64) string {
	switch {
	case !(low > 0) || !(high >= low) || math.IsInf(high, 0):
		return text
	case ratio >= 2:
		return fmt.Sprintf("%s (%.2fx to %.2fx)", text, low, high)
	case ratio <= 0.5:
		return fmt.Sprintf("%s (%.2fx to %.2fx)", text, 1/high, 1/low)
	case ratio >= 1:
		return fmt.Sprintf("%s (%s to %s)", text, Fixed(100*(low-1), 1), Percent(high-1))
	default:
		return fmt.Sprintf("%s (%s to %s)", text, Fixed(100*(1-high), 1), Percent(1-low))
	}
}

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

// Duration formats a duration for people.
func Duration(d time.Duration) string {
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

// Plural returns a count with its noun, "1 case" or "2 cases".
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %s", n, pluralOf(noun))
}

// pluralOf returns the plural of one of pawl's nouns, which may follow other words.
func pluralOf(noun string) string {
	ends := func(with ...string) bool {
		return slices.ContainsFunc(with, func(end string) bool { return strings.HasSuffix(noun, end) })
	}
	switch {
	case ends("series"): // one series, two series
		return noun
	case ends("ay", "ey", "oy", "uy"):
		return noun + "s"
	case ends("y"):
		return strings.TrimSuffix(noun, "y") + "ies"
	case ends("s", "x", "z", "ch", "sh"):
		return noun + "es"
	default:
		return noun + "s"
	}
}

// Bytes formats a size: "12 kB", "3.4 MB".
func Bytes(n int64) string {
	switch {
	case n < 1e6:
		return fmt.Sprintf("%d kB", (n+999)/1000)
	case n < 1e9:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	default:
		return fmt.Sprintf("%.1f GB", float64(n)/1e9)
	}
}
