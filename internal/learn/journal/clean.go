package journal

import (
	"math"
	"reflect"
	"strings"
	"time"
	"unicode/utf8"
)

// Limits of an entry: texts of compilers and kernels can have any length.
const (
	maxText = 4 << 10 // bytes
	maxList = 10_000
)

// clean returns a copy of an entry without secrets, with texts and lists of bounded length, and
// with finite numbers.
func clean(e Entry) Entry {
	out, ok := reflect.TypeAssert[Entry](cleaned(reflect.ValueOf(e)))
	if !ok {
		panic("journal: the copy is not an entry")
	}
	return out
}

var timeType = reflect.TypeFor[time.Time]()

func cleaned(v reflect.Value) reflect.Value {
	if v.Type() == timeType {
		return v
	}
	out := reflect.New(v.Type()).Elem()
	switch v.Kind() {
	case reflect.String:
		out.SetString(cleanText(v.String()))
	case reflect.Float64:
		out.SetFloat(finite(v.Float()))
	case reflect.Pointer:
		if !v.IsNil() {
			p := reflect.New(v.Type().Elem())
			p.Elem().Set(cleaned(v.Elem()))
			out.Set(p)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			out.Field(i).Set(cleaned(v.Field(i)))
		}
	case reflect.Slice:
		if n := min(v.Len(), maxList); !v.IsNil() {
			out.Set(reflect.MakeSlice(v.Type(), n, n))
			for i := range n {
				out.Index(i).Set(cleaned(v.Index(i)))
			}
			if v.Type().Elem().Kind() == reflect.String {
				if words, ok := reflect.TypeAssert[[]string](out); ok {
					hideFlagValues(words)
				}
			}
		}
	case reflect.Map:
		if !v.IsNil() {
			out.Set(reflect.MakeMap(v.Type()))
			for k, x := range v.Seq2() {
				if out.Len() < maxList {
					out.SetMapIndex(cleaned(k), cleaned(x))
				}
			}
		}
	default:
		out.Set(v)
	}
	return out
}

// finite replaces infinities by the largest number, and NaN by 0.
func finite(x float64) float64 {
	switch {
	case math.IsNaN(x):
		return 0
	case math.IsInf(x, 0):
		return math.Copysign(math.MaxFloat64, x)
	default:
		return x
	}
}

func cleanText(s string) string {
	s = Redact(strings.ToValidUTF8(s, "\uFFFD"))
	if len(s) <= maxText {
		return s
	}
	cut := maxText
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + " [cut]"
}
