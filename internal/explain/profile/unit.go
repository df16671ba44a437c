package profile

import "strings"

// Units of quantities. Tools print the same value in ns, usecond or ms; the unit of a quantity never changes.
const (
	none           = ""
	percent        = "%"
	nanoseconds    = "ns"
	byteUnit       = "byte"
	bytesPerSecond = "byte/s"
	hertz          = "hz"
)

// convert returns a value in the unit of a quantity. It rejects other kinds of units: a throughput
// in percent is not one in bytes, whatever its label. Units of counted things (inst, sector, block)
// do not matter, but their prefixes do: ncu 2020 prints sectors in Mbyte.
func convert(v float64, unit, want string) (float64, bool) {
	factor, have := base(unit)
	switch want {
	case nanoseconds, hertz, bytesPerSecond, percent:
		if have != want && unit != "" {
			return 0, false
		}
	default:
		if have == percent && want == byteUnit || have == nanoseconds {
			return 0, false
		}
	}
	return v * factor, true
}

// base splits a unit into the factor to its base unit and the kind of that unit. Time in a
// numerator is in nanoseconds, in a denominator in seconds.
func base(unit string) (factor float64, kind string) {
	above, below, ratio := strings.Cut(unit, "/")
	factor, kind = simple(above)
	if !ratio {
		return factor, kind
	}
	per, of := simple(below)
	if of != nanoseconds {
		return factor / per, kind // Kbyte/block, inst/cycle
	}
	factor *= 1e9 / per
	switch {
	case kind == byteUnit:
		return factor, bytesPerSecond
	case above == "cycle":
		return factor, hertz
	default:
		return factor, above + "/s"
	}
}

var prefixes = map[string]float64{"p": 1e-12, "n": 1e-9, "u": 1e-6, "m": 1e-3, "": 1, "K": 1e3, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}

func simple(unit string) (factor float64, kind string) {
	switch unit {
	case "%":
		return 1, percent
	case "cycle", "block", "":
		return 1, none
	}
	for _, u := range []struct {
		name, kind string
		factor     float64
	}{
		{"second", nanoseconds, 1e9},
		{"sec", nanoseconds, 1e9},
		{"byte", byteUnit, 1},
		{"hz", hertz, 1},
		{"s", nanoseconds, 1e9},
		{"B", byteUnit, 1},
	} {
		if prefix, ok := strings.CutSuffix(unit, u.name); ok {
			if p, ok := prefixes[prefix]; ok {
				return p * u.factor, u.kind
			}
		}
	}
	return 1, none
}
