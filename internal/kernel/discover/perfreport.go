package discover

import (
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
)

var (
	callsReport    = lazyregexp.New(`(?m)^[ \t]*@(?:[\w.]+\.)?perf_report\s*\(`)
	callsBenchmark = lazyregexp.New(`\bBenchmark\s*\(`)
	measuredDef    = lazyregexp.New(`^\s*(?:@[^\n]*\n\s*)*def[ \t]+(\w+)`)
	callOrDef      = lazyregexp.New(`(?m)^[ \t]*def[ \t]+(\w+)|\bdo_bench\w*\s*\(`)
	keywordWord    = lazyregexp.New(`^([A-Za-z_]\w*)\s*=`)
)

// reportKeys are the arguments of triton.testing.Benchmark, in order.
var reportKeys = []string{"x_names", "x_vals", "line_arg", "line_vals", "line_names", "plot_name", "args"}

// perfReports returns the benchmarks of a file that perf_report measures, with their ranges, named as pawl's recorder names
// them. It returns nil unless it understands all that the file measures: a suite that lists cases measures no others.
func perfReports(f file) []suite.Listed {
	var list []suite.Listed
	var functions []string
	known := constants(f.text)
	for _, m := range callsReport.FindAllStringSubmatchIndex(f.text, maxFindings) {
		_, end, ok := arguments(f.text, m[1]-1)
		if !ok {
			return nil
		}
		def := measuredDef.FindStringSubmatch(f.text[end:])
		if def == nil {
			return nil
		}
		listed := suite.Listed{Name: f.stem() + "." + def[1]}
		for _, call := range callsBenchmark.FindAllStringSubmatchIndex(f.text[m[1]:end], maxFindings) {
			args, _, ok := arguments(f.text, m[1]+call[1]-1)
			configs, understood := reportConfigs(args, known)
			if !ok || !understood {
				return nil
			}
			listed.Configs = append(listed.Configs, configs...)
		}
		if len(listed.Configs) == 0 {
			return nil
		}
		functions, list = append(functions, def[1]), append(list, listed)
	}
	function := ""
	for _, m := range callOrDef.FindAllStringSubmatch(f.text, -1) {
		if m[1] != "" {
			function = m[1]
		} else if !slices.Contains(functions, function) {
			return nil // measured outside of a report
		}
	}
	return list
}

// reportConfigs returns the configs of one Benchmark(...): its values, then the lines, then the other arguments, which is the
// order in which Triton passes them.
func reportConfigs(args []string, known names) ([]suite.Config, bool) {
	byKey := keywords(args, reportKeys)
	xNames, okNames := stringsOf(byKey["x_names"], known)
	values, okValues := listOf(byKey["x_vals"], known)
	lineArg, okArg := evaluate(byKey["line_arg"], known)
	lines, okLines := listOf(byKey["line_vals"], known)
	lineName, isText := lineArg.(string)
	if !okNames || !okValues || !okArg || !okLines || !isText {
		return nil, false
	}
	rest, ok := fixedArguments(byKey["args"], known)
	if !ok {
		return nil, false
	}
	var rows []suite.Params
	for _, v := range values {
		tuple, isTuple := v.([]any)
		if !isTuple { // one value for all names
			tuple = slices.Repeat([]any{v}, len(xNames))
		}
		if len(tuple) != len(xNames) {
			return nil, false
		}
		var row suite.Params
		for i, name := range xNames {
			row = append(row, suite.Param{Name: name, Value: tuple[i]})
		}
		for _, l := range lines {
			rows = append(rows, slices.Concat(row, suite.Params{{Name: lineName, Value: l}}, rest))
		}
	}
	for _, row := range rows {
		for _, p := range row {
			if !plainParam(p.Value) {
				return nil, false
			}
		}
	}
	return configsOf(rows), len(rows) > 0 && len(rows) <= maxValues
}

// keywords returns the arguments of a call by name. order names those without one.
func keywords(args, order []string) map[string]string {
	byKey := map[string]string{}
	for i, a := range args {
		if m := keywordWord.FindStringSubmatchIndex(a); m != nil && !strings.HasPrefix(a[m[1]:], "=") {
			byKey[a[m[2]:m[3]]] = strings.TrimSpace(a[m[1]:])
		} else if i < len(order) {
			byKey[order[i]] = a
		}
	}
	return byKey
}

// fixedArguments returns the dictionary of arguments that all configs share, in its order.
func fixedArguments(text string, known names) (suite.Params, bool) {
	if text == "" {
		return nil, true
	}
	entries, _, ok := arguments(text, 0)
	if !ok || text[0] != '{' {
		return nil, false
	}
	var list suite.Params
	for _, entry := range entries {
		key, value, _ := strings.Cut(entry, ":")
		name, okName := evaluate(key, known)
		v, okValue := evaluate(value, known)
		s, isText := name.(string)
		if !okName || !okValue || !isText {
			return nil, false
		}
		list = append(list, suite.Param{Name: s, Value: v})
	}
	return list, true
}

func listOf(text string, known names) ([]any, bool) {
	v, ok := evaluate(text, known)
	list, isList := v.([]any)
	return list, ok && isList && len(list) > 0
}

func stringsOf(text string, known names) ([]string, bool) {
	values, ok := listOf(text, known)
	var list []string
	for _, v := range values {
		s, isText := v.(string)
		if ok = ok && isText; ok {
			list = append(list, s)
		}
	}
	return list, ok
}

// constants resolves the variables that a file sets to a literal outside of functions.
func constants(text string) names {
	const maxDepth, maxLookups = 5, 200 // a constant may name constants
	lookups := 0
	var find func(depth int) names
	find = func(depth int) names {
		return func(name string) (any, bool) {
			if lookups++; depth > maxDepth || lookups > maxLookups {
				return nil, false
			}
			set := name + " = "
			at := 0
			if !strings.HasPrefix(text, set) {
				if at = strings.Index(text, "\n"+set) + 1; at == 0 {
					return nil, false
				}
			}
			rest := text[at+len(set):]
			rest = rest[:min(len(rest), maxCall)]
			end := strings.IndexByte(rest, '\n')
			if _, closed, ok := arguments(rest, 0); ok {
				end = closed
			}
			if end < 0 {
				end = len(rest)
			}
			return evaluate(rest[:end], find(depth+1))
		}
	}
	return find(0)
}
