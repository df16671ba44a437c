package tune

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/lazyregexp"
)

// Form is one way to apply a point, ready to be pasted.
type Form struct {
	Title    string `json:"title"`
	Language string `json:"language"` // of the text: yaml, c, sh
	Text     string `json:"text"`
	Note     string `json:"note,omitempty"`
}

// forms are the ways to apply a point that make sense for it: by the device, by the command
// that builds it where that is known, and by names and values that the form can hold.
func (r *Report) forms(point map[string]any) []Form {
	list := []Form{r.yamlForm(point)}
	if !r.identifiers(point) {
		return list
	}
	compiler := map[gpu.Kind]string{gpu.NVIDIA: "nvcc", gpu.AMD: "hipcc", gpu.CPU: "the compiler"}[r.Header.Device.Kind]
	for _, f := range []struct {
		word string // in the build command
		form Form
	}{
		{"cmake", Form{"CMake", "sh", "cmake -B build " + r.assigned(point, "-D", cmakeText), "Where the project has these as cache variables."}},
		{"make", Form{"Make", "sh", "make " + r.assigned(point, "", shellText), ""}},
		{"", Form{"Flags of " + compiler, "sh", r.assigned(point, "-D", macroText), ""}},
		{"", Form{"Header for C, C++ and CUDA", "c", r.header(point), ""}},
		{"", Form{"Environment", "sh", "export " + r.assigned(point, "", shellText), "Where the program reads them when it runs."}},
	} {
		switch {
		case compiler == "" && strings.HasPrefix(f.form.Title, "Flags"):
		case f.word == "make" && r.Build == "": // more than a guess is needed
		case f.word != "" && r.Build != "" && !slices.Contains(words.FindAllString(r.Build, -1), f.word):
		default:
			list = append(list, f.form)
		}
	}
	return list
}

var (
	words      = lazyregexp.New(`[\w.+-]+`)
	identifier = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]{0,99}$`)
	// bare is a value that shells, CMake, make and the preprocessor take as it is.
	bare = lazyregexp.New(`^[A-Za-z0-9_.][A-Za-z0-9_.-]{0,99}$`)
)

// identifiers tells whether every name and text of a point can be a macro or a variable.
func (r *Report) identifiers(point map[string]any) bool {
	for name, v := range point {
		if s, isText := v.(string); !identifier.MatchString(name) || isText && !bare.MatchString(s) {
			return false
		}
	}
	return true
}

// ordered are the parameters of a point in the order of the suite.
func (r *Report) ordered(point map[string]any) []Parameter {
	var list []Parameter
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

// The values as each form writes them. They are bare: none needs quotes.
func shellText(v any) string { return valueText(v) }

func cmakeText(v any) string {
	if yes, is := v.(bool); is {
		return map[bool]string{true: "ON", false: "OFF"}[yes]
	}
	return valueText(v)
}

// macroText writes truth as a number: before C23 the preprocessor knows no other.
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

// yamlForm is the part of the suite that makes a point the default. Parameters that keep
// their default are left out.
func (r *Report) yamlForm(point map[string]any) Form {
	var b strings.Builder
	fmt.Fprintf(&b, "benchmarks:\n  %s:\n    tune:\n      parameters:\n", yamlText(r.benchmark()))
	for _, p := range r.ordered(point) {
		if sameValue(point[p.Name], p.Default) {
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

// yamlText writes a value so that YAML reads the same: text that could be anything else is
// in quotes.
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

func sameValue(a, b any) bool {
	x, isNumber := number(a)
	y, alsoNumber := number(b)
	if isNumber || alsoNumber {
		return isNumber && alsoNumber && x == y
	}
	return a == b
}

// dispatch is a function in C and C++ that chooses a point by the config. It is empty where
// one point is best for all, and where configs cannot be told apart by numbers.
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
	return &Form{"Choose by config (C and C++)", "c", b.String(), "Every point in it is one more kernel to build: instantiate those that you want to keep."}
}

func (r *Report) defaults() map[string]any {
	point := map[string]any{}
	for _, p := range r.Header.Space.Parameters {
		point[p.Name] = p.Default
	}
	return point
}

// deciding are the parameters of the configs that tell them apart; none where the points are
// all the same or something in them is no number.
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

func (r *Report) initial(fields []Parameter, point map[string]any) string {
	var list []string
	for _, p := range fields {
		if s, isText := point[p.Name].(string); isText {
			list = append(list, `"`+s+`"`) // bare: nothing in it needs a backslash
		} else {
			list = append(list, macroText(point[p.Name]))
		}
	}
	return "{" + strings.Join(list, ", ") + "}"
}

// cType is the type that holds all of these values, with the space before the name.
func cType(values []any) string {
	kind := "int "
	for _, v := range values {
		if _, isText := v.(string); isText {
			return "const char *"
		}
		switch x, _ := number(v); {
		case x != math.Trunc(x) || math.Abs(x) > 1<<53:
			kind = "double "
		case math.Abs(x) > math.MaxInt32 && kind == "int ":
			kind = "long long "
		}
	}
	return kind
}
