package conformance

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
)

// A pattern is JSON. It matches a value that is equal to it, with two exceptions. An object may have more
// fields than its pattern, because both sides ignore unknown fields. A string of the form "<...>" matches
// by rule; the README lists the rules.
var placeholder = lazyregexp.New(`^<(any|absent|bool|string|list|number|integer|numbers)(?: ([^<>]*))?>$`)

// difference returns where and how got differs from the pattern, or "" if it does not.
func difference(pattern, got any, at string) string {
	switch want := pattern.(type) {
	case map[string]any:
		object, ok := got.(map[string]any)
		if !ok {
			return fmt.Sprintf("%s: expected an object, got %s", at, show(got))
		}
		for _, name := range slices.Sorted(maps.Keys(want)) {
			value, there := object[name]
			if want[name] == "<absent>" {
				if there {
					return fmt.Sprintf("%s.%s: must be absent, got %s", at, name, show(value))
				}
				continue
			}
			if !there {
				return fmt.Sprintf("%s.%s: is missing", at, name)
			}
			if d := difference(want[name], value, at+"."+name); d != "" {
				return d
			}
		}
		return ""
	case []any:
		list, ok := got.([]any)
		if !ok || len(list) != len(want) {
			return fmt.Sprintf("%s: expected a list of %d, got %s", at, len(want), show(got))
		}
		for i := range want {
			if d := difference(want[i], list[i], fmt.Sprintf("%s[%d]", at, i)); d != "" {
				return d
			}
		}
		return ""
	case string:
		if m := placeholder.FindStringSubmatch(want); m != nil {
			return byRule(m[1], m[2], got, at)
		}
	}
	if pattern != got {
		return fmt.Sprintf("%s: expected %s, got %s", at, show(pattern), show(got))
	}
	return ""
}

func byRule(rule, argument string, got any, at string) string {
	ok := false
	switch rule {
	case "any":
		ok = true
	case "bool":
		_, ok = got.(bool)
	case "string":
		var s string
		s, ok = got.(string)
		ok = ok && strings.Contains(s, argument)
	case "number", "integer":
		ok = isNumber(got, argument, rule == "integer")
	case "list":
		list, isList := got.([]any)
		ok = isList
		for word := range strings.FieldsSeq(argument) {
			ok = ok && slices.Contains(list, any(word))
		}
	case "numbers":
		list, isList := got.([]any)
		count, of, _ := strings.Cut(argument, " of ")
		ok = isList && inRange(float64(len(list)), count)
		for i, value := range list {
			if ok && !isNumber(value, of, false) {
				return fmt.Sprintf("%s[%d]: expected %s, got %s", at, i, strings.TrimSpace("a number "+of), show(value))
			}
		}
	}
	if ok {
		return ""
	}
	return fmt.Sprintf("%s: expected <%s>, got %s", at, strings.TrimSpace(rule+" "+argument), show(got))
}

func isNumber(got any, bounds string, whole bool) bool {
	value, ok := got.(float64)
	return ok && (!whole || value == math.Trunc(value)) && inRange(value, bounds)
}

// inRange reports whether a value is within "5", "5..", "..7" or "5..7"; "" allows every value.
func inRange(value float64, bounds string) bool {
	low, high, err := parseRange(bounds)
	return err == nil && value >= low && value <= high
}

func parseRange(text string) (low, high float64, err error) {
	from, to, isRange := strings.Cut(text, "..")
	if !isRange {
		to = from
	}
	low, high = math.Inf(-1), math.Inf(1)
	if from != "" {
		if low, err = strconv.ParseFloat(from, 64); err != nil {
			return 0, 0, fmt.Errorf("%q is not a number or a range such as 5..7", text)
		}
	}
	if to != "" {
		if high, err = strconv.ParseFloat(to, 64); err != nil {
			return 0, 0, fmt.Errorf("%q is not a number or a range such as 5..7", text)
		}
	}
	return low, high, nil
}

// checkPattern rejects placeholders that would never match as intended.
func checkPattern(pattern any) error {
	switch p := pattern.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(p)) {
			if err := checkPattern(p[name]); err != nil {
				return err
			}
		}
	case []any:
		for _, item := range p {
			if err := checkPattern(item); err != nil {
				return err
			}
		}
	case string:
		m := placeholder.FindStringSubmatch(p)
		if m == nil && strings.HasPrefix(p, "<") {
			return fmt.Errorf("%q is not a rule: expected <any>, <absent>, <bool>, <string>, <list>, <number>, <integer> or <numbers>", p)
		}
		if m == nil {
			return nil
		}
		ranges := []string{}
		switch m[1] {
		case "number", "integer":
			ranges = append(ranges, m[2])
		case "numbers":
			count, of, _ := strings.Cut(m[2], " of ")
			ranges = append(ranges, count, of)
		}
		for _, r := range ranges {
			if _, _, err := parseRange(r); err != nil {
				return fmt.Errorf("%q: %w", p, err)
			}
		}
	}
	return nil
}

// show formats a value for a message, cut to a readable length.
func show(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	if len(text) > 200 {
		return string(text[:200]) + "..."
	}
	return string(text)
}
