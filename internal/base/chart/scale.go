package chart

import (
	"math"
	"strconv"
)

// Scale maps values to positions: Low to From, High to To.
type Scale struct {
	Low, High float64
	From, To  float64
	Log       bool // equal ratios are equally long; Low and High are above 0
}

// At returns the position of a value.
func (s Scale) At(v float64) float64 {
	share := (v - s.Low) / (s.High - s.Low)
	if s.Log {
		share = math.Log(v/s.Low) / math.Log(s.High/s.Low)
	}
	return s.From + share*(s.To-s.From)
}

// Within returns the position of a value, for one outside the scale that of the nearest
// end.
func (s Scale) Within(v float64) float64 { return s.At(min(max(v, s.Low), s.High)) }

// Ticks returns about n round values of the scale; up to twice as many on a logarithmic
// one.
func (s Scale) Ticks(n int) []float64 {
	if s.Log {
		return logTicks(s.Low, s.High, 2*n)
	}
	return Ticks(s.Low, s.High, n)
}

// Ticks returns round values that divide a range into about n parts.
func Ticks(low, high float64, n int) []float64 {
	if !(high > low) || n < 1 || math.IsInf(high-low, 0) {
		return []float64{low}
	}
	raw := (high - low) / float64(n)
	step := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range []float64{1, 2, 5, 10} {
		if step*m >= raw {
			step *= m
			break
		}
	}
	var list []float64
	for i := math.Ceil(low / step); i*step <= high+step*1e-9 && len(list) <= 2*n+2; i++ {
		list = append(list, i*step)
	}
	if len(list) == 0 {
		return []float64{low}
	}
	return list
}

// logTicks returns powers of ten, with twos and fives between them if that makes at most n
// values; every second, third ... power if even the powers are too many.
func logTicks(low, high float64, n int) []float64 {
	between := []float64{1, 2, 5}
	for step := 1; ; step++ {
		var list []float64
		for e := int(math.Floor(math.Log10(low))); math.Pow10(e) <= high; e++ {
			for _, m := range between {
				if v := m * math.Pow10(e); e%step == 0 && v >= low && v <= high {
					list = append(list, v)
				}
			}
		}
		if len(list) <= n || step > 400 {
			return list
		}
		if len(between) > 1 {
			between, step = between[:1], 0
		}
	}
}

// TickTexts formats the ticks of an axis in one unit, with as few digits as distinguish
// them, and returns that unit.
func TickTexts(ticks []float64, unit string) (texts []string, shown string) {
	factor, name := 1.0, unit
	if unit == "ns" {
		largest := 0.0
		for _, t := range ticks {
			largest = max(largest, math.Abs(t))
		}
		switch {
		case largest >= 1e9:
			factor, name = 1e9, "s"
		case largest >= 1e6:
			factor, name = 1e6, "ms"
		case largest >= 1e3:
			factor, name = 1e3, "us"
		}
	}
	for decimals := range 7 {
		texts = texts[:0]
		seen := map[string]bool{}
		exact := true
		for _, t := range ticks {
			text := strconv.FormatFloat(t/factor, 'f', decimals, 64)
			back, _ := strconv.ParseFloat(text, 64)
			exact = exact && math.Abs(back-t/factor) <= 1e-6*math.Abs(t/factor)
			seen[text] = true
			texts = append(texts, text)
		}
		if len(seen) == len(ticks) && exact {
			break
		}
	}
	return texts, name
}
