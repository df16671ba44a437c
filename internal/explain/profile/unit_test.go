package profile

import (
	"math"
	"testing"
)

func TestConvert(t *testing.T) {
	for _, c := range []struct {
		value float64
		unit  string
		want  string
		in    float64
		ok    bool
	}{
		{1.54, "ms", nanoseconds, 1.54e6, true},
		{1.54, "msecond", nanoseconds, 1.54e6, true},
		{336.7, "usecond", nanoseconds, 336700, true},
		{5, "ns", nanoseconds, 5, true},
		{2, "s", nanoseconds, 2e9, true},
		{2, "second", nanoseconds, 2e9, true},
		{2, "nsec", nanoseconds, 2, true},
		{7, "", nanoseconds, 7, true},
		{7, "cycle", nanoseconds, 0, false},
		{7, "%", nanoseconds, 0, false},
		{794.94, "Mhz", hertz, 794.94e6, true},
		{6.24, "Ghz", hertz, 6.24e9, true},
		{5, "hz", hertz, 5, true},
		{1.5, "cycle/nsecond", hertz, 1.5e9, true},
		{585.1, "cycle/usecond", hertz, 585.1e6, true},
		{2, "cycle/second", hertz, 2, true},
		{212.43, "Gbyte/s", bytesPerSecond, 212.43e9, true},
		{212.43, "Gbyte/second", bytesPerSecond, 212.43e9, true},
		{973, "Mbyte/second", bytesPerSecond, 973e6, true},
		{70.87, "%", bytesPerSecond, 0, false}, // Memory Throughput is two things
		{212.43, "Gbyte/s", percent, 0, false},
		{70.87, "%", percent, 70.87, true},
		{32.77, "Kbyte/block", byteUnit, 32770, true},
		{9.44, "Mbyte", byteUnit, 9.44e6, true},
		{1.25, "Gbyte", byteUnit, 1.25e9, true},
		{0, "byte/block", byteUnit, 0, true},
		{48, "byte/cycle", none, 48, true},
		{34.8, "Kbyte/cycle", none, 34800, true},
		{2.766869, "Mbyte", none, 2766869, true}, // sectors, as ncu 2020 prints them
		{1.8, "sector/nsecond", none, 1.8e9, true},
		{16, "register/thread", none, 16, true},
		{16, "something new", none, 16, true},
		{16, "ns", none, 0, false},
		{4.194, "MB", byteUnit, 4.194e6, true},
	} {
		got, ok := convert(c.value, c.unit, c.want)
		if ok != c.ok || ok && math.Abs(got-c.in) > 1e-9*c.in {
			t.Errorf("%v %q in %q is %v, %v, want %v, %v", c.value, c.unit, c.want, got, ok, c.in, c.ok)
		}
	}
}

func TestParseNumber(t *testing.T) {
	for in, want := range map[string]float64{
		"0": 0, "16.67": 16.67, "-3": -3, "12,319,469": 12319469, "4,963,609,951.19": 4963609951.19, "1e3": 1000, "999": 999, "-1,000": -1000,
	} {
		if got, _, ok := parseNumber(in); !ok || got != want {
			t.Errorf("%q is %v, %v, want %v", in, got, ok, want)
		}
	}
	for _, in := range []string{"", "n/a", "nan", "inf", "-", "1,5", "1,23,456", ",123", "1234,567", "0x10", "1e999", "1 2", "CachePreferNone", "1;2", "1,000e,3"} {
		if got, _, ok := parseNumber(in); ok {
			t.Errorf("%q is not a number, not %v", in, got)
		}
	}
}

// What is printed of bytes in Kbyte with two decimals is brought back to what it was.
func TestWholeBytes(t *testing.T) {
	for _, c := range []struct {
		printed float64
		unit    string
		want    float64
	}{
		{32.77, "Kbyte/block", 32768},
		{65.54, "Kbyte", 65536},
		{1.02, "Kbyte/block", 1024},
		{102.4, "Kbyte", 102400},
		{49.15, "Kbyte/block", 49152},
		{8.45, "Kbyte/block", 8448},
		{4.22, "Kbyte/block", 4224},
		{1.04, "Kbyte/block", 1040},
		{32.772, "Kbyte/block", 32772}, // a raw page is exact
		{20, "byte/block", 20},
		{0, "byte/block", 0},
	} {
		v, _ := convert(c.printed, c.unit, byteUnit)
		if got := wholeBytes(c.printed, c.unit, v); math.Abs(got-c.want) > 1e-6 {
			t.Errorf("%v %s is %v bytes, want %v", c.printed, c.unit, got, c.want)
		}
	}
}
