package discover

import (
	"regexp"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
)

// timedFormat is a format of printf that prints a time, as a pattern of format lines.
type timedFormat struct {
	path    string
	line    int
	pattern string
}

var (
	printfCall = lazyregexp.New(`\bprintf\s*\(\s*((?:"(?:[^"\\\n]|\\.)*"\s*)+)`)
	quoted     = lazyregexp.New(`"((?:[^"\\\n]|\\.)*)"`)
	conversion = lazyregexp.New(`%[-+ #0]*(?:\d+|\*)?(?:\.(?:\d+|\*))?(?:hh|h|ll|l|L|z|j|t)?([diouxXeEfFgGaAcspn%])`)
	unitBehind = lazyregexp.New(`^[\s)\]]*(ns|us|ms|s|sec|secs|seconds?|milliseconds?|microseconds?|nanoseconds?)(?:/\w+)?(?:$|[^A-Za-z/])`)
	unitBefore = lazyregexp.New(`(?i)(?:\(|\[|_|\b)(ns|us|ms|sec|seconds|s)[)\]]?\s*[:=]?\s*\(?$`)
	lastWord   = lazyregexp.New(`([A-Za-z_]\w*)[^A-Za-z0-9_%]*$`)
	// countsRuns matches a label of a number that changes from run to run, or that means something else in a pattern.
	countsRuns = lazyregexp.New(`(?i)^(iter|iters|iterations?|runs?|reps?|repeats?|steps?|trials?|epochs?|time|times|elapsed|case|unit|ns|us|ms|s)$`)
)

// timedFormats returns the formats of a source in which a number is followed by a unit of time, or behind one.
func timedFormats(f file) []timedFormat {
	var list []timedFormat
	for _, m := range printfCall.FindAllStringSubmatchIndex(f.text, maxFindings) {
		var text strings.Builder
		for _, q := range quoted.FindAllStringSubmatch(f.text[m[2]:m[3]], maxFindings) {
			text.WriteString(q[1])
		}
		pattern, ok := linePattern(unescape.Replace(text.String()))
		if ok && !slices.ContainsFunc(list, func(t timedFormat) bool { return t.pattern == pattern }) {
			list = append(list, timedFormat{f.path, 1 + strings.Count(f.text[:m[0]], "\n"), pattern})
		}
	}
	return list
}

var unescape = strings.NewReplacer(`\n`, "\n", `\t`, " ", `\"`, `"`, `\\`, `\`, `\r`, "")

// unitGroup returns the name of the group in a pattern for a unit.
func unitGroup(unit string) string {
	switch unit = strings.ToLower(unit); {
	case strings.HasPrefix(unit, "n"):
		return "ns"
	case strings.HasPrefix(unit, "u"), strings.HasPrefix(unit, "mic"):
		return "us"
	case strings.HasPrefix(unit, "ms"), strings.HasPrefix(unit, "mil"):
		return "ms"
	default:
		return "s"
	}
}

// linePattern returns the pattern of the line of a format that prints a time. Whole numbers with a label are parameters, and
// the first text is the name of the case.
func linePattern(format string) (string, bool) {
	const most = 1_000 // bytes
	if len(format) > most {
		return "", false
	}
	for part := range strings.SplitSeq(format, "\n") {
		fields := conversion.FindAllStringSubmatchIndex(part, -1)
		at, unit := timeField(part, fields)
		if at < 0 {
			continue
		}
		var b strings.Builder
		used := map[string]bool{unitGroup(unit): true}
		from := 0
		for i, m := range fields {
			between := part[from:m[0]]
			b.WriteString(literalPattern(between))
			from = m[1]
			kind := part[m[2]:m[3]]
			label := ""
			if w := lastWord.FindStringSubmatch(between); w != nil {
				label = w[1]
			}
			switch {
			case i == at:
				b.WriteString(`\s*(?<` + unitGroup(unit) + `>[0-9.eE+-]+)`)
			case kind == "%":
				b.WriteString(`%`)
			case strings.ContainsAny(kind, "diu") && label != "" && !used[label] && !countsRuns.MatchString(label):
				used[label] = true
				b.WriteString(`\s*(?<` + label + `>[0-9]+)`)
			case strings.ContainsAny(kind, "diouxX"):
				b.WriteString(`\s*[0-9a-fA-Fx-]+`)
			case kind == "s" && !used["case"] && i < at:
				used["case"] = true
				b.WriteString(`\s*(?<case>\S.*?)`)
			case kind == "s" || kind == "c" || kind == "p":
				b.WriteString(`\s*\S*`)
			default:
				b.WriteString(`\s*[-+0-9.eEnaif]+`)
			}
		}
		b.WriteString(literalPattern(strings.TrimRight(part[from:], " ")))
		_, err := regexp.Compile(b.String())
		return b.String(), err == nil
	}
	return "", false
}

// timeField returns the first number of a line that has a unit of time, and the unit; -1 if there is none.
func timeField(part string, fields [][]int) (at int, unit string) {
	for i, m := range fields {
		if !strings.ContainsAny(part[m[2]:m[3]], "eEfFgGdiu") {
			continue
		}
		if u := unitBehind.FindStringSubmatch(part[m[1]:]); u != nil {
			return i, u[1]
		}
	}
	for i, m := range fields {
		if u := unitBefore.FindStringSubmatch(part[:m[0]]); u != nil && strings.ContainsAny(part[m[2]:m[3]], "eEfFgG") {
			return i, u[1]
		}
	}
	return -1, ""
}

// literalPattern matches a text, with any amount of space. Space at its end is left to the field behind it.
func literalPattern(text string) string {
	var b strings.Builder
	words := strings.Fields(text)
	if len(words) == 0 {
		if text == "" {
			return ""
		}
		return `\s+`
	}
	if strings.TrimLeft(text, " ") != text {
		b.WriteString(`\s*`)
	}
	for i, w := range words {
		if i > 0 {
			b.WriteString(`\s+`)
		}
		b.WriteString(regexp.QuoteMeta(w))
	}
	return b.String()
}
