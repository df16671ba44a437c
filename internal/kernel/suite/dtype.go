package suite

import (
	"slices"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/base/strictyaml"
	"github.com/goatnote-inc/pawl/internal/kernel/suite/expr"
	"github.com/goatnote-inc/pawl/internal/kernel/tensor"
)

// dtypes maps the names that users write to element types, pawl's own name first.
var dtypes = map[string]tensor.DType{
	"f64": tensor.F64, "fp64": tensor.F64, "float64": tensor.F64, "double": tensor.F64,
	"f32": tensor.F32, "fp32": tensor.F32, "float32": tensor.F32, "float": tensor.F32, "tf32": tensor.TF32,
	"f16": tensor.F16, "fp16": tensor.F16, "float16": tensor.F16, "half": tensor.F16,
	"bf16": tensor.BF16, "bfloat16": tensor.BF16,
	"e4m3": tensor.E4M3, "fp8_e4m3": tensor.E4M3, "float8_e4m3fn": tensor.E4M3,
	"e5m2": tensor.E5M2, "fp8_e5m2": tensor.E5M2, "float8_e5m2": tensor.E5M2,
	"e4m3fnuz": tensor.E4M3FNUZ, "fp8_e4m3fnuz": tensor.E4M3FNUZ, "float8_e4m3fnuz": tensor.E4M3FNUZ,
	"e5m2fnuz": tensor.E5M2FNUZ, "fp8_e5m2fnuz": tensor.E5M2FNUZ, "float8_e5m2fnuz": tensor.E5M2FNUZ,
	"e8m0": tensor.E8M0, "float8_e8m0fnu": tensor.E8M0,
	"e3m2": tensor.E3M2, "float6_e3m2fn": tensor.E3M2, "e2m3": tensor.E2M3, "float6_e2m3fn": tensor.E2M3,
	"e2m1": tensor.E2M1, "float4_e2m1fn": tensor.E2M1, "e2m1x2": tensor.E2M1x2, "float4_e2m1fn_x2": tensor.E2M1x2,
	"i64": tensor.I64, "int64": tensor.I64, "i32": tensor.I32, "int32": tensor.I32, "int": tensor.I32,
	"i16": tensor.I16, "int16": tensor.I16, "i8": tensor.I8, "int8": tensor.I8,
	"u8": tensor.U8, "uint8": tensor.U8, "bool": tensor.Bool,
}

// dtypeNames lists the names shown in messages.
var dtypeNames = []string{"f64", "f32", "tf32", "f16", "bf16", "e4m3", "e5m2", "e4m3fnuz", "e5m2fnuz", "e8m0", "e3m2", "e2m3", "e2m1", "e2m1x2", "i64", "i32", "i16", "i8", "u8", "bool"}

// integer reports whether a type holds whole numbers.
func integer(t tensor.DType) bool {
	return slices.Contains([]tensor.DType{tensor.I64, tensor.I32, tensor.I16, tensor.I8, tensor.U8, tensor.Bool}, t)
}

// elementType is the type of a tensor's elements, or the name of a parameter that holds the
// type.
type elementType struct {
	string
	at *strictyaml.Node
}

const elementPattern = `^[A-Za-z_][A-Za-z0-9_]{0,63}$`

var elementSpelling = lazyregexp.New(elementPattern)

func (t *elementType) ReadYAML(d *strictyaml.Decoder, n *strictyaml.Node, f strictyaml.Field) {
	if !n.IsText() || !elementSpelling.MatchString(n.Text) {
		d.Want(n, f, "an element type such as f16, or the name of a parameter")
		return
	}
	*t = elementType{n.Text, n}
}

func (*elementType) schema(*schemaWriter, strictyaml.Field) object {
	return object{"type": "string", "pattern": elementPattern}
}

// of returns the element type for a config.
func (t elementType) of(p Params) (tensor.DType, bool) {
	if known, ok := dtypes[t.string]; ok {
		return known, true
	}
	v, _ := p.Get(t.string)
	name, _ := v.(string)
	known, ok := dtypes[name]
	return known, ok
}

// fillDoc defines the contents of an input: "normal" or {uniform: [low, high]}.
type fillDoc struct {
	kind      tensor.FillKind
	low, high formula
	at        *strictyaml.Node
}

func (x *fillDoc) ReadYAML(d *strictyaml.Decoder, n *strictyaml.Node, f strictyaml.Field) {
	limits := n.Get(string(tensor.Uniform))
	switch {
	case n.IsText() && (n.Text == string(tensor.Normal) || n.Text == string(tensor.Uniform)):
		*x = fillDoc{kind: tensor.FillKind(n.Text), at: n}
	case n.Kind == strictyaml.Map && len(n.Keys) == 1 && limits != nil && limits.Kind == strictyaml.List && len(limits.Items) == 2:
		*x = fillDoc{kind: tensor.Uniform, at: n}
		x.low.ReadYAML(d, limits.Items[0], strictyaml.Field{Key: f.Key})
		x.high.ReadYAML(d, limits.Items[1], strictyaml.Field{Key: f.Key})
	default:
		d.Want(n, f, "normal, uniform or {uniform: [low, high]}")
	}
}

func (*fillDoc) schema(s *schemaWriter, _ strictyaml.Field) object {
	limit := (*formula)(nil).schema(s, strictyaml.Field{})
	return object{"anyOf": []object{
		{"enum": []tensor.FillKind{tensor.Normal, tensor.Uniform}},
		{
			"type": "object", "required": []tensor.FillKind{tensor.Uniform}, "additionalProperties": false,
			"properties": object{"uniform": object{"type": "array", "items": limit, "minItems": 2, "maxItems": 2}},
		},
	}}
}

// pointDoc is an expression over the elements of tensors.
type pointDoc struct{ formula }

func (x *pointDoc) ReadYAML(d *strictyaml.Decoder, n *strictyaml.Node, f strictyaml.Field) {
	x.compile(d, n, f, expr.CompileElementwise)
}
