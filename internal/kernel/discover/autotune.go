package discover

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
)

var (
	callsAutotune = lazyregexp.New(`(?m)^[ \t]*@(?:triton\.autotune|autotune|helion\.kernel)\s*\(`)
	callsConfig   = lazyregexp.New(`\bConfig\s*\(`)
	loopClause    = lazyregexp.New(`\bfor\s+([A-Za-z_]\w*)\s+in\s+`)
	callsTuner    = lazyregexp.New(`\btune_kernel\s*\(`)
	tuneParam     = lazyregexp.New(`(?m)^[ \t]*tune_params\[\s*["'](\w+)["']\s*\]\s*=\s*`)
	tuneDict      = lazyregexp.New(`(?m)^[ \t]*tune_params\s*=\s*(?:dict\s*|OrderedDict\s*)?([({])`)
)

// foundTuning is a Tuning with the line that lists it.
type foundTuning struct {
	Tuning
	line int
}

// tunings returns what autotuners may vary, as a file says it: the configs of triton.autotune and Helion, and the parameters
// of Kernel Tuner.
func tunings(f file) []foundTuning {
	var list []foundTuning
	known := constants(f.text)
	for _, m := range callsAutotune.FindAllStringSubmatchIndex(f.text, maxFindings) {
		_, end, ok := arguments(f.text, m[1]-1)
		if !ok {
			continue
		}
		def := measuredDef.FindStringSubmatch(f.text[end:])
		if def == nil {
			continue
		}
		if axes := varying(configAxes(f.text[m[1]-1:end], known)); len(axes) > 0 {
			list = append(list, foundTuning{Tuning{Kernel: def[1], Parameters: axes}, 1 + strings.Count(f.text[:m[0]], "\n")})
		}
	}
	if m := callsTuner.FindStringIndex(f.text); m != nil {
		args, _, _ := arguments(f.text, m[1]-1)
		name, _ := evaluate(first(args), known)
		kernel, isText := name.(string)
		if !isText || kernel == "" {
			kernel = f.stem()
		}
		if axes := varying(tunerAxes(f.text, known)); len(axes) > 0 {
			list = append(list, foundTuning{Tuning{Kernel: kernel, Parameters: axes}, line(f.text, callsTuner)})
		}
	}
	return list
}

// varying returns the parameters that have a choice.
func varying(axes []axis) []axis {
	return slices.DeleteFunc(axes, func(a axis) bool { return len(a.values) < 2 })
}

// configAxes collects the values of all Config(...) in a text: those of its dictionary, and its keywords.
func configAxes(text string, known names) []axis {
	var axes []axis
	loops := loopValues(text, known)
	for _, m := range callsConfig.FindAllStringSubmatchIndex(text, maxValues) {
		args, _, ok := arguments(text, m[1]-1)
		if !ok {
			continue
		}
		for _, a := range args {
			if strings.HasPrefix(a, "{") {
				entries, _, _ := arguments(a, 0)
				for _, entry := range entries {
					key, value, _ := strings.Cut(entry, ":")
					if name, ok := evaluate(key, nil); ok {
						axes = addValues(axes, fmt.Sprint(name), value, loops, known)
					}
				}
			} else if m := keywordWord.FindStringSubmatchIndex(a); m != nil {
				axes = addValues(axes, a[m[2]:m[3]], a[m[1]:], loops, known)
			}
		}
	}
	return axes
}

// loopValues returns the values of the loop variables of comprehensions.
func loopValues(text string, known names) map[string][]any {
	loops := map[string][]any{}
	for _, m := range loopClause.FindAllStringSubmatchIndex(text, maxFindings) {
		rest := text[m[1]:]
		end := len(dottedName.FindString(rest))
		if _, closed, ok := arguments(rest, end); ok {
			end = closed
		}
		if values, ok := listOf(rest[:end], known); ok {
			loops[text[m[2]:m[3]]] = values
		}
	}
	return loops
}

// addValues adds the values of an expression to the axis of a parameter. A list, as Helion has them, is one axis per element.
func addValues(axes []axis, name, text string, loops map[string][]any, known names) []axis {
	values, isLoop := loops[strings.TrimSpace(text)]
	if !isLoop {
		v, ok := evaluate(text, known)
		if !ok {
			return axes
		}
		if list, isList := v.([]any); isList {
			for i, element := range list {
				axes = addValue(axes, fmt.Sprintf("%s_%d", name, i), element)
			}
			return axes
		}
		values = []any{v}
	}
	for _, v := range values {
		axes = addValue(axes, name, v)
	}
	return axes
}

func addValue(axes []axis, name string, v any) []axis {
	if _, isList := v.([]any); isList {
		return axes
	}
	at := slices.IndexFunc(axes, func(a axis) bool { return a.name == name })
	if at < 0 {
		at, axes = len(axes), append(axes, axis{name: name})
	}
	if !slices.Contains(axes[at].values, v) {
		axes[at].values = append(axes[at].values, v)
	}
	return axes
}

// tunerAxes collects the values of Kernel Tuner's tune_params.
func tunerAxes(text string, known names) []axis {
	var axes []axis
	add := func(name, value string) {
		if values, ok := listOf(value, known); ok {
			for _, v := range values {
				axes = addValue(axes, name, v)
			}
		}
	}
	for _, m := range tuneDict.FindAllStringSubmatchIndex(text, maxFindings) {
		entries, _, _ := arguments(text, m[2])
		for _, entry := range entries {
			if k := keywordWord.FindStringSubmatchIndex(entry); k != nil {
				add(entry[k[2]:k[3]], entry[k[1]:])
			} else if key, value, ok := strings.Cut(entry, ":"); ok {
				add(strings.Trim(strings.TrimSpace(key), `"'`), value)
			}
		}
	}
	for _, m := range tuneParam.FindAllStringSubmatchIndex(text, maxFindings) {
		rest := text[m[1]:]
		if _, end, ok := arguments(rest, 0); ok {
			add(text[m[2]:m[3]], rest[:end])
		}
	}
	return axes
}
