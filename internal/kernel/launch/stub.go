package launch

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/kernel/tensor"
)

// cTypes maps the types that a C function can take by value. Smaller floats have no
// calling convention that all compilers share.
var cTypes = map[tensor.DType]struct{ c, field string }{
	tensor.F64: {"double", "f64"}, tensor.F32: {"float", "f32"},
	tensor.I64: {"int64_t", "i64"}, tensor.I32: {"int32_t", "i32"}, tensor.I16: {"int16_t", "i16"}, tensor.I8: {"int8_t", "i8"},
	tensor.U8: {"uint8_t", "u8"}, tensor.Bool: {"_Bool", "u8"},
}

// signature spells the argument types of a kernel: p for a pointer, else the type of a value.
func signature(arguments []tensor.Argument) (string, error) {
	types := make([]string, len(arguments))
	for i, a := range arguments {
		types[i] = "p"
		if a.Role != tensor.Value {
			continue
		}
		if _, ok := cTypes[a.DType]; !ok {
			return "", fmt.Errorf("argument %q: a value of type %q cannot be passed to a C function; use f32 or f64", a.Name, a.DType)
		}
		types[i] = string(a.DType)
	}
	return strings.Join(types, ","), nil
}

// stubs generates stubs.h: for each signature one function that calls a kernel as C would.
// C cannot call a function whose type is known only at run time.
func stubs(signatures [][]tensor.Argument) ([]byte, error) {
	distinct := map[string]bool{}
	for _, arguments := range signatures {
		s, err := signature(arguments)
		if err != nil {
			return nil, err
		}
		distinct[s] = true
	}
	var functions, table bytes.Buffer
	for n, s := range slices.Sorted(maps.Keys(distinct)) {
		types, values := call(s)
		fmt.Fprintf(&functions, "static void stub_%d(void *kernel, void *const *p, const value *v) {\n  (void)p, (void)v;\n  ((void (*)(%s))kernel)(%s);\n}\n", n, types, values)
		fmt.Fprintf(&table, "    {%q, stub_%d},\n", s, n)
	}
	fmt.Fprintf(&functions, "static const struct {\n  const char *signature;\n  stub_function call;\n} stubs[] = {\n%s    {0, 0},\n};\n", &table)
	return functions.Bytes(), nil
}

// call returns the parameter types of a signature and the value passed for each.
func call(signature string) (types, values string) {
	if signature == "" {
		return "void", ""
	}
	var t, v []string
	for i, s := range strings.Split(signature, ",") {
		if s == "p" {
			t, v = append(t, "void *"), append(v, fmt.Sprintf("p[%d]", i))
			continue
		}
		c := cTypes[tensor.DType(s)]
		t, v = append(t, c.c), append(v, fmt.Sprintf("v[%d].%s", i, c.field))
	}
	return strings.Join(t, ", "), strings.Join(v, ", ")
}
