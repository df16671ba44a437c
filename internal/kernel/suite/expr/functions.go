package expr

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/spell"
)

// function is a function of numbers: of one, or of two; with more arguments it is folded from
// the left. sizeof, the only function of text, is compiled separately.
type function struct {
	minArgs, maxArgs int // number of arguments
	one              func(a float64) float64
	two              func(a, b float64) float64
}

const sizeofName = "sizeof"

var functions = map[string]function{
	"abs":     {minArgs: 1, maxArgs: 1, one: math.Abs},
	"ceil":    {minArgs: 1, maxArgs: 1, one: math.Ceil},
	"floor":   {minArgs: 1, maxArgs: 1, one: math.Floor},
	"log2":    {minArgs: 1, maxArgs: 1, one: math.Log2},
	"sqrt":    {minArgs: 1, maxArgs: 1, one: math.Sqrt},
	"ceildiv": {minArgs: 2, maxArgs: 2, two: func(a, b float64) float64 { return math.Ceil(a / b) }},
	"max":     {minArgs: 1, maxArgs: 16, one: itself, two: math.Max},
	"min":     {minArgs: 1, maxArgs: 16, one: itself, two: math.Min},
}

func itself(a float64) float64 { return a }

// operators lists the keywords of the grammar, which the lexer never reads as a name.
var operators = []string{
	"and", "contains", "else", "endsWith", "false", "if", "in", "let", "matches", "nil", "not", "or", "startsWith", "true",
}

// Functions returns the functions that an expression may call, sorted.
func Functions() []string {
	return slices.Sorted(maps.Keys(withSizeof()))
}

// Reserved returns the words that cannot name a variable, sorted.
func Reserved() []string {
	return slices.Sorted(slices.Values(append(Functions(), operators...)))
}

func withSizeof() map[string]function {
	all := maps.Clone(functions)
	all[sizeofName] = function{minArgs: 1, maxArgs: 1}
	return all
}

// sizes holds the bytes of one element, by the type names that frameworks use.
var sizes = map[string]float64{
	"fp64": 8, "f64": 8, "float64": 8, "double": 8,
	"fp32": 4, "f32": 4, "float32": 4, "float": 4, "tf32": 4,
	"fp16": 2, "f16": 2, "float16": 2, "half": 2, "bf16": 2, "bfloat16": 2,
	"fp8": 1, "f8": 1, "e4m3": 1, "e5m2": 1, "fp8_e4m3": 1, "fp8_e5m2": 1, "float8_e4m3fn": 1, "float8_e5m2": 1,
	"e4m3fnuz": 1, "e5m2fnuz": 1, "fp8_e4m3fnuz": 1, "fp8_e5m2fnuz": 1, "float8_e4m3fnuz": 1, "float8_e5m2fnuz": 1,
	"e8m0": 1, "float8_e8m0fnu": 1,
	"fp6": 0.75, "fp4": 0.5, "int4": 0.5, "uint4": 0.5, // packed; as element types they take a byte
	"e2m3": 1, "e3m2": 1, "e2m1": 1, "e2m1x2": 1, "float6_e2m3fn": 1, "float6_e3m2fn": 1, "float4_e2m1fn": 1, "float4_e2m1fn_x2": 1,
	"int64": 8, "uint64": 8, "i64": 8, "u64": 8,
	"int32": 4, "uint32": 4, "i32": 4, "u32": 4, "int": 4,
	"int16": 2, "uint16": 2, "i16": 2, "u16": 2,
	"int8": 1, "uint8": 1, "i8": 1, "u8": 1, "bool": 1,
	"complex64": 8, "complex128": 16,
}

func sizeof(dtype string) (float64, *Error) {
	if size, ok := sizes[strings.ToLower(dtype)]; ok {
		return size, nil
	}
	err := &Error{Msg: fmt.Sprintf("sizeof: unknown type %q", dtype)}
	if near := spell.Nearest(dtype, slices.Sorted(maps.Keys(sizes))); near != "" {
		err.Hint = fmt.Sprintf("did you mean %q?", near)
	}
	return 0, err
}
