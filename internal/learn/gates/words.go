package gates

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
)

// fill puts facts into a text: {fact}, {fact|unit}, and [...] that is left out where one
// of its facts is missing. It is false where one outside of brackets is missing.
func fill(text string, look func(name string) (string, bool)) (string, bool) {
	out, rest, ok := fillUpTo(text, look, false)
	return out + rest, ok
}

// fillUpTo fills up to the bracket that ends the part, and gives what is behind it.
func fillUpTo(text string, look func(string) (string, bool), inside bool) (out, rest string, ok bool) {
	var b strings.Builder
	ok = true
	for text != "" {
		at := strings.IndexAny(text, "{[]")
		if at < 0 {
			b.WriteString(text)
			return b.String(), "", ok
		}
		b.WriteString(text[:at])
		sign := text[at]
		text = text[at+1:]
		switch sign {
		case '[':
			part, behind, all := fillUpTo(text, look, true)
			if all {
				b.WriteString(part)
			}
			text = behind
		case ']':
			if inside {
				return b.String(), text, ok
			}
			b.WriteByte(']')
		case '{':
			name, behind, closed := strings.Cut(text, "}")
			word, known := look(name)
			if !closed || !known {
				ok = false
			}
			b.WriteString(word)
			text = behind
		}
	}
	return b.String(), "", ok
}

// words looks facts up for a sentence.
func words(numbers map[string]any, texts map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		name, unit, _ := strings.Cut(name, "|")
		if x, ok := numbers[name].(float64); ok && !math.IsInf(x, 0) && math.Abs(x) < beyond {
			return inUnit(x, unit), true
		}
		t, ok := texts[name]
		return t, ok && t != ""
	}
}

// arguments looks them up for a command line, quoted where a shell would read them.
func arguments(look func(string) (string, bool)) func(string) (string, bool) {
	return func(name string) (string, bool) {
		word, ok := look(name)
		if name == "replay" { // a whole command, which was looked at when it was taken over
			return word, ok
		}
		if strings.ContainsFunc(word, func(r rune) bool { return !plainRune(r) }) {
			word = "'" + strings.ReplaceAll(word, "'", "") + "'"
		}
		return word, ok
	}
}

// inUnit writes a number for people.
func inUnit(x float64, unit string) string {
	switch unit {
	case "x":
		return short(x) + "x"
	case "%":
		return strconv.Itoa(int(math.Round(100*x))) + " %"
	case "minutes", "seconds":
		n := int(math.Round(x))
		if n == 1 {
			return "1 " + strings.TrimSuffix(unit, "s")
		}
		return fmt.Sprintf("%d %s", n, unit)
	case "bytes":
		return fmt.Sprintf("%s KB", strconv.FormatFloat(math.Round(x/102.4)/10, 'f', -1, 64))
	case "time":
		switch {
		case x >= 1e6:
			return short(x/1e6) + " ms"
		case x >= 1e3:
			return short(x/1e3) + " us"
		}
		return short(x) + " ns"
	}
	return short(x)
}

// short is a number with three digits that mean something.
func short(x float64) string {
	if x == math.Trunc(x) && math.Abs(x) < 1e6 {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}

func plainRune(r rune) bool {
	return r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_./=:-+,@", r))
}

// name keeps of a name what cannot be anything but a name: no spaces, no signs, not long.
// What sentences are made of comes from sources and journals that strangers wrote.
func name(s string) string {
	const longest = 60
	var b strings.Builder
	for _, r := range s {
		if b.Len() == longest {
			break
		}
		if plainRune(r) {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// list joins names as people do: a, b and c.
func list(names []string) string {
	const most = 4
	if n := len(names); n > most {
		return strings.Join(names[:most-1], ", ") + fmt.Sprintf(" and %d more", n-most+1)
	}
	switch len(names) {
	case 0:
		return ""
	case 1:
		return names[0]
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
