package tune

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/tune/space"
)

// Form is one way to apply a point, ready to paste.
type Form struct {
	Title    string `json:"title"`
	Language string `json:"language"` // of the text: yaml, c, sh
	Text     string `json:"text"`
	Note     string `json:"note,omitempty"`
}

// forms returns the ways to apply a point. They depend on the device, on the build command
// if known, and on whether the form can express the names and values.
func (r *Report) forms(point map[string]any) []Form {
	list := []Form{r.yamlForm(point)}
	if !r.identifiers(point) {
		return list
	}
	compiler := map[gpu.Kind]string{gpu.NVIDIA: "nvcc", gpu.AMD: "hipcc", gpu.CPU: "the compiler"}[r.Header.Device.Kind]
	for _, f := range []struct {
		word string // required word in the build command
		form Form
	}{
		{"cmake", Form{"CMake", "sh", "cmake -B build " + r.assigned(point, "-D", cmakeText), "If the project has these as cache variables."}},
		{"make", Form{"Make", "sh", "make " + r.assigned(point, "", valueText), ""}},
		{"", Form{"Flags for " + compiler, "sh", r.assigned(point, "-D", macroText), ""}},
		{"", Form{"Header for C, C++ and CUDA", "c", r.header(point), ""}},
		{"", Form{"Environment", "sh", "export " + r.assigned(point, "", valueText), "If the program reads them at run time."}},
	} {
		switch {
		case compiler == "" && strings.HasPrefix(f.form.Title, "Flags"):
		case f.word == "make" && r.Build == "": // only if the build command is known
		case f.word != "" && r.Build != "" && !slices.Contains(wordPattern.FindAllString(r.Build, -1), f.word):
		default:
			list = append(list, f.form)
		}
	}
	return list
}

var (
	wordPattern = lazyregexp.New(`[\w.+-]+`)
	identifier  = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]{0,99}$`)
	// bare matches a value that shells, CMake, make and the preprocessor accept unquoted.
	bare = lazyregexp.New(`^[A-Za-z0-9_.][A-Za-z0-9_.-]{0,99}$`)
)

// identifiers reports whether every name and text of a point can be a macro or a variable.
func (r *Report) identifiers(point map[string]any) bool {
	for name, v := range point {
		if s, isText := v.(string); !identifier.MatchString(name) || isText && !bare.MatchString(s) {
			return false
		}
	}
	return true
}

// ordered returns the parameters of a point in suite order.
func (r *Report) ordered(point map[string]any) []space.Parameter {
	var list []space.Parameter
	for _, p := range r.Header.Space.Parameters {
		if _, is := point[p.Name]; is {
			list = append(list, p)
		}
	}
	return list
}

func (r *Report) assigned(point map[string]any, prefix string, text func(any) string) string {
	var list []string
	for _, p := range r.ordered(point) {
		list = append(list, prefix+p.Name+"="+text(point[p.Name]))
	}
	return strings.Join(list, " ")
}

// The functions below format values for each form. Values are bare and need no quotes.
func cmakeText(v any) string {
	if yes, is := v.(bool); is {
		return map[bool]string{true: "ON", false: "OFF"}[yes]
	}
	return valueText(v)
}

// macroText writes booleans as numbers, because the preprocessor has no booleans before
// C23.
func macroText(v any) string {
	if yes, is := v.(bool); is {
		return map[bool]string{true: "1", false: "0"}[yes]
	}
	return valueText(v)
}

func (r *Report) header(point map[string]any) string {
	var b strings.Builder
	for _, p := range r.ordered(point) {
		fmt.Fprintf(&b, "#define %s %s\n", p.Name, macroText(point[p.Name]))
	}
	return b.String()
}

// yamlForm returns the part of the suite that makes a point the default. It omits
// parameters that keep their default.
func (r *Report) yamlForm(point map[string]any) Form {
	var b strings.Builder
	fmt.Fprintf(&b, "benchmarks:\n  %s:\n    tune:\n      parameters:\n", yamlText(r.benchmark()))
	for _, p := range r.ordered(point) {
		if space.Same(point[p.Name], p.Default) {
			continue
		}
		var values []string
		for _, v := range p.Values {
			values = append(values, yamlText(v))
		}
		fmt.Fprintf(&b, "        %s: {values: [%s], default: %s", yamlText(p.Name), strings.Join(values, ", "), yamlText(point[p.Name]))
		if p.When != "" {
			fmt.Fprintf(&b, ", when: %s", yamlText(p.When))
		}
		b.WriteString("}\n")
	}
	return Form{"pawl.yaml", "yaml", b.String(), "Replaces the lines of these parameters in the suite."}
}

func (r *Report) benchmark() string {
	name, _, _ := strings.Cut(r.Header.Case, "/")
	return name
}

// yamlText formats a value so that YAML reads it back unchanged. It quotes ambiguous text.
func yamlText(v any) string {
	s, isText := v.(string)
	switch {
	case !isText:
		return valueText(v)
	case identifier.MatchString(s) && !slices.Contains([]string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}, strings.ToLower(s)):
		return s
	}
	return strconv.QuoteToASCII(s) // YAML has the same escapes
}

// dispatch returns a C and C++ function that chooses a point by config. It is nil if one
// point is best for all, or if numbers cannot distinguish the configs.
func (r *Report) dispatch(choices []Choice) *Form {
	by := r.deciding(choices)
	name := r.benchmark()
	if len(by) == 0 || !identifier.MatchString(name) {
		return nil
	}
	var b strings.Builder
	fields := r.ordered(choices[0].Point)
	fmt.Fprintf(&b, "struct %s_tuning {\n", name)
	for _, p := range fields {
		fmt.Fprintf(&b, "    %s%s;\n", cType(p.Values), p.Name)
	}
	var arguments []string
	for _, param := range by {
		var values []any
		for _, c := range choices {
			values = append(values, c.Params[param])
		}
		arguments = append(arguments, cType(values)+param)
	}
	fmt.Fprintf(&b, "};\n\nstatic inline struct %s_tuning %s_tuning_for(%s)\n{\n", name, name, strings.Join(arguments, ", "))
	fmt.Fprintf(&b, "    struct %s_tuning t = %s; /* the defaults, also for sizes that were not measured */\n", name, r.initial(fields, r.defaults()))
	for _, c := range choices {
		if Key(c.Point) == Key(r.defaults()) {
			continue
		}
		var conditions []string
		for _, param := range by {
			conditions = append(conditions, param+" == "+macroText(c.Params[param]))
		}
		fmt.Fprintf(&b, "    if (%s) {\n        struct %s_tuning best = %s; /* %.2fx */\n        t = best;\n    }\n", strings.Join(conditions, " && "), name, r.initial(fields, c.Point), c.Speedup)
	}
	b.WriteString("    return t;\n}\n")
	return &Form{"Choose by config (C and C++)", "c", b.String(), "Every point in it is one more kernel to build: instantiate the ones that you want to keep."}
}

func (r *Report) defaults() map[string]any {
	point := map[string]any{}
	for _, p := range r.Header.Space.Parameters {
		point[p.Name] = p.Default
	}
	return point
}

// deciding returns the config parameters that distinguish the configs; none if all points
// are the same or a value is not a number.
func (r *Report) deciding(choices []Choice) []string {
	points, values := map[string]bool{}, map[string]map[string]bool{}
	for _, c := range choices {
		if !r.identifiers(c.Point) || len(r.ordered(c.Point)) != len(r.Header.Space.Parameters) {
			return nil
		}
		points[Key(c.Point)] = true
		for name, v := range c.Params {
			if values[name] == nil {
				values[name] = map[string]bool{}
			}
			values[name][macroText(v)] = true
		}
	}
	if len(points) < 2 {
		return nil
	}
	var by []string
	for _, name := range sortedNames(choices[0].Params) {
		if len(values[name]) < 2 {
			continue
		}
		for _, c := range choices {
			if _, isText := c.Params[name].(string); isText || c.Params[name] == nil || !identifier.MatchString(name) {
				return nil
			}
		}
		by = append(by, name)
	}
	return by
}

func (r *Report) initial(fields []space.Parameter, point map[string]any) string {
	var list []string
	for _, p := range fields {
		if s, isText := point[p.Name].(string); isText {
			list = append(list, `"`+s+`"`) // bare, so nothing needs a backslash
		} else {
			list = append(list, macroText(point[p.Name]))
		}
	}
	return "{" + strings.Join(list, ", ") + "}"
}

// cType returns a type that can hold all values, with the space before the name.
func cType(values []any) string {
	kind := "int "
	for _, v := range values {
		if _, isText := v.(string); isText {
			return "const char *"
		}
		switch x, _ := space.Number(v); {
		case x != math.Trunc(x) || math.Abs(x) > 1<<53:
			kind = "double "
		case math.Abs(x) > math.MaxInt32 && kind == "int ":
			kind = "long long "
		}
	}
	return kind
}
