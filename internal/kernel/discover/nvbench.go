package discover

import (
	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
)

var (
	nvbenchBench = lazyregexp.New(`\bNVBENCH_BENCH\w*\s*\(\s*(\w+)`)
	nvbenchName  = lazyregexp.New(`^\s*\.\s*(\w+)\s*\(`)
)

// nvbenchAxes returns the benchmarks of a source with the values of their axes, in the order in which NVBench names
// them. It returns nil unless it understands every axis: a suite that lists cases measures no others.
func nvbenchAxes(text string) []suite.Listed {
	var list []suite.Listed
	for _, m := range nvbenchBench.FindAllStringSubmatchIndex(text, maxFindings) {
		listed := suite.Listed{Name: text[m[2]:m[3]]}
		_, end, ok := arguments(text, indexFrom(text, '(', m[0]))
		var axes []axis
		for ok {
			call := nvbenchName.FindStringSubmatchIndex(text[end:])
			if call == nil {
				break
			}
			name := text[end+call[2] : end+call[3]]
			var args []string
			if args, end, ok = arguments(text, end+call[1]-1); !ok {
				return nil
			}
			switch name {
			case "add_int64_axis", "add_int64_power_of_two_axis", "add_string_axis":
				a, known := nvbenchAxis(args, name == "add_int64_power_of_two_axis")
				if !known {
					return nil
				}
				axes = append(axes, a)
			case "set_name":
				if v, known := evaluate(first(args), nil); known {
					listed.Name, _ = v.(string)
				}
			case "add_float64_axis", "set_type_axes_names":
				return nil // their values are spelled by NVBench
			}
		}
		if !ok || len(axes) == 0 {
			return nil
		}
		if listed.Configs, ok = combinations(axes); !ok {
			return nil
		}
		list = append(list, listed)
	}
	return list
}

// nvbenchAxis returns the axis of a call such as ("N", {1, 2}) or ("N", nvbench::range(20, 24, 2)).
func nvbenchAxis(args []string, power bool) (axis, bool) {
	if len(args) != 2 {
		return axis{}, false
	}
	name, _ := evaluate(args[0], nil)
	values, ok := evaluate(nvbenchRange.ReplaceAllString(braces.Replace(args[1]), "inclusive"), nil)
	a := axis{}
	a.name, _ = name.(string)
	a.values, _ = values.([]any)
	if power {
		for i, v := range a.values {
			n, isNumber := v.(float64)
			if !isNumber || n < 0 || n > 50 {
				return axis{}, false
			}
			a.values[i] = float64(int64(1) << int(n))
		}
	}
	return a, ok && a.name != "" && len(a.values) > 0
}
