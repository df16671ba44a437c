package diagnose

import (
	"fmt"
	"math"
	"strconv"
)

// inWords formats a value for people: 16.7 %, 1.5 ms, 32 KiB, 212 GB/s.
func inWords(x float64, unit string) string {
	switch unit {
	case "%":
		return percent(x) + " %"
	case "ns":
		return scaled(x, 1000, []string{"ns", "us", "ms", "s"})
	case "byte":
		return inBytes(x)
	case "byte/s":
		return scaled(x, 1000, []string{"B/s", "kB/s", "MB/s", "GB/s", "TB/s"})
	case "hz":
		return scaled(x, 1000, []string{"Hz", "kHz", "MHz", "GHz"})
	case "flop":
		return scaled(x, 1000, []string{"flop", "kflop", "Mflop", "Gflop", "Tflop"})
	case "flop/s":
		return scaled(x, 1000, []string{"flop/s", "kflop/s", "Mflop/s", "Gflop/s", "Tflop/s"})
	case "", "1":
		return number(x)
	default:
		return number(x) + " " + unit
	}
}

// percent formats a percentage with a decimal only where it matters: 16.7, 71, 0.4, 99.6.
func percent(x float64) string {
	if x >= 20 && x < 99.5 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return trimZeros(x, 1)
}

// number formats a count, or a ratio with three digits.
func number(x float64) string {
	size := math.Abs(x)
	switch {
	case size >= 1e6:
		return scaled(x, 1000, []string{"", "thousand", "million", "billion", "trillion"})
	case size >= 10000:
		return thousands(strconv.FormatFloat(x, 'f', 0, 64))
	case x == math.Trunc(x), size >= 1000:
		return strconv.FormatFloat(x, 'f', 0, 64)
	case size >= 100:
		return trimZeros(x, 0)
	case size >= 10:
		return trimZeros(x, 1)
	default:
		return trimZeros(x, 2)
	}
}

// thousands groups five and six digits for readability: 541,270.
func thousands(digits string) string {
	return digits[:len(digits)-3] + "," + digits[len(digits)-3:]
}

func inBytes(x float64) string {
	if size := math.Abs(x); size < 1024 || size < 10240 && x != 1024*math.Trunc(x/1024) {
		return number(x) + " bytes"
	}
	return scaled(x, 1024, []string{"bytes", "KiB", "MiB", "GiB", "TiB"})
}

// scaled uses the unit in which the value has one to three digits before the point.
func scaled(x, step float64, units []string) string {
	i := 0
	for i+1 < len(units) && math.Abs(x) >= step*0.9995 {
		x /= step
		i++
	}
	decimals := 0
	if size := math.Abs(x); size < 9.95 {
		decimals = 2
	} else if size < 99.5 {
		decimals = 1
	}
	return trimmedUnit(trimZeros(x, decimals), units[i])
}

func trimmedUnit(value, unit string) string {
	if unit == "" {
		return value
	}
	return value + " " + unit
}

// trimZeros drops trailing zeros after the point.
func trimZeros(x float64, decimals int) string {
	rounded, _ := strconv.ParseFloat(fmt.Sprintf("%.*f", decimals, x), 64)
	return strconv.FormatFloat(rounded+0, 'f', -1, 64)
}
