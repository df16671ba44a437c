package suite

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/goatnote-inc/pawl/internal/base/strictyaml"
	"github.com/goatnote-inc/pawl/internal/kernel/tensor"
)

// maxStorage is the maximum number of elements of one argument: far more than any GPU holds.
const maxStorage = 1 << 40

// Arguments returns the kernel's arguments for a config, in the order of its signature. They
// are nil if the suite does not define them. The config need not belong to the benchmark:
// fuzzing tries others.
func (b Benchmark) Arguments(p Params) ([]tensor.Argument, error) {
	if b.doc == nil || len(b.doc.Arguments) == 0 {
		return nil, nil
	}
	list := make([]tensor.Argument, len(b.doc.Arguments))
	all := b.Complete(p)
	for i, e := range b.doc.Arguments {
		a, bad := e.value.argument(e.name, all)
		if bad != nil {
			return nil, fmt.Errorf("argument %q of %s/%s: %w", e.name, b.Name, ConfigName(p), bad.err)
		}
		list[i] = a
	}
	return list, nil
}

// Flops returns the declared work of a config; 0 means unknown.
func (b Benchmark) Flops(p Params) float64 {
	if b.doc == nil || !b.doc.Flops.set() {
		return 0
	}
	v, err := b.doc.Flops.Number(p.Map())
	if err != nil {
		return 0
	}
	return max(v, 0)
}

// evalError is an expression that does not work for a config.
type evalError struct {
	formula
	err error
}

// role returns how a kernel uses the argument, and its element type as written.
func (d argumentDoc) role() (tensor.Role, elementType) {
	switch {
	case d.In.at != nil:
		return tensor.In, d.In
	case d.Out.at != nil:
		return tensor.Out, d.Out
	case d.InOut.at != nil:
		return tensor.InOut, d.InOut
	default:
		return tensor.Value, elementType{}
	}
}

func (d argumentDoc) argument(name string, p Params) (tensor.Argument, *evalError) {
	a := tensor.Argument{Name: name}
	var kind elementType
	variables := p.Map()
	if a.Role, kind = d.role(); a.Role == tensor.Value {
		a.DType = tensor.DType(cmp.Or(d.Type, "i32"))
		return a, d.value(&a, variables)
	}
	var ok bool
	if a.DType, ok = kind.of(p); !ok {
		v, _ := p.Get(kind.string)
		err := fmt.Errorf("unknown element type %q", formatValue(v))
		return a, &evalError{formula{key: kind.string, at: kind.at}, err}
	}
	var bad *evalError
	if a.Shape, bad = evalSizes(d.Shape, variables, 1); bad != nil {
		return a, bad
	}
	least := 0 // elements of an input may overlap, those of an output must not
	if a.Role != tensor.In {
		least = 1
	}
	if a.Strides, bad = evalSizes(d.Strides, variables, least); bad != nil {
		return a, bad
	}
	if elements := storage(a); elements > maxStorage {
		return a, &evalError{d.Shape[0], fmt.Errorf("%.0f elements exceed the limit of %d", elements, int64(maxStorage))}
	}
	if d.Map != nil {
		if a.Map, bad = d.Map.tensorMap(a, variables); bad != nil {
			return a, bad
		}
	}
	return a, d.fill(&a, variables)
}

// value computes an argument that is passed by value; true and false are 1 and 0.
func (d argumentDoc) value(a *tensor.Argument, variables map[string]any) *evalError {
	v, err := d.Value.Eval(variables)
	switch v := v.(type) {
	case bool:
		if v {
			a.Value = 1
		}
	case float64:
		a.Value = v
	case string:
		err = fmt.Errorf("expected a number, got text %q", v)
	}
	switch {
	case err != nil:
	case math.IsNaN(a.Value) || math.IsInf(a.Value, 0):
		err = fmt.Errorf("the result is not a finite number")
	case integer(a.DType) && a.Value != math.Trunc(a.Value):
		err = fmt.Errorf("%v is not a whole number, which type %s requires", a.Value, a.DType)
	}
	if err != nil {
		return &evalError{d.Value, err}
	}
	return nil
}

func (d argumentDoc) fill(a *tensor.Argument, variables map[string]any) *evalError {
	a.Fill.Kind = d.Fill.kind
	if !d.Fill.low.set() || !d.Fill.high.set() {
		return nil
	}
	for x, to := range map[*formula]*float64{&d.Fill.low: &a.Fill.Low, &d.Fill.high: &a.Fill.High} {
		v, err := x.Number(variables)
		if err != nil {
			return &evalError{*x, err}
		}
		*to = v
	}
	if a.Fill.Low >= a.Fill.High {
		return &evalError{d.Fill.low, fmt.Errorf("the range from %v to %v is empty", a.Fill.Low, a.Fill.High)}
	}
	return nil
}

// evalSizes computes sizes: whole numbers, none below the minimum least.
func evalSizes(list []formula, variables map[string]any, least int) ([]int, *evalError) {
	var out []int
	for _, x := range list {
		v, err := x.Number(variables)
		if err == nil && (v != math.Trunc(v) || v < float64(least) || v > maxStorage) {
			err = fmt.Errorf("%v is not a whole number from %d", v, least)
		}
		if err != nil {
			return nil, &evalError{x, err}
		}
		out = append(out, int(v))
	}
	return out, nil
}

// storage returns how many elements an argument spans, as a float so that it cannot overflow.
func storage(a tensor.Argument) float64 {
	if len(a.Strides) == 0 {
		n := 1.0
		for _, size := range a.Shape {
			n *= float64(size)
		}
		return n
	}
	last := 0.0
	for i, size := range a.Shape {
		last += float64(size-1) * float64(a.Strides[i])
	}
	return last + 1
}

// checkKernel checks what a benchmark defines about its kernel: arguments, launch, preflight, profile and check.
func (r *resolver) checkKernel(e *entry[benchmarkDoc], b *Benchmark) {
	if e.node == nil { // only the harness lists it
		return
	}
	before := r.Found
	names := b.allNames()
	r.checkArguments(e, names)
	r.checkLaunch(e, names)
	r.checkPreflight(e, names)
	r.checkProfile(e, names)
	check := r.check(e, b, b.Configs[0].Params.names()) // the correct result does not depend on tunables
	if r.Found > before {
		return
	}
	b.Check = check
	configs := b.Configs
	if check != nil {
		configs = slices.Concat(configs, check.Fuzz.Configs)
	}
	seen := map[*strictyaml.Node]bool{} // report a mistake for one config only
	for _, c := range configs {
		c.Params = b.Complete(c.Params)
		for _, a := range e.value.Arguments {
			_, bad := a.value.argument(a.name, c.Params)
			r.misfit(bad, c.Name, seen)
		}
		if e.value.Launch != nil {
			_, bad := e.value.Launch.launch(c.Params)
			r.misfit(bad, c.Name, seen)
		}
		r.tryPreflight(e, c, seen)
		r.tryProfile(e, c, seen)
	}
}

// misfit reports an expression that does not work for a config.
func (r *resolver) misfit(bad *evalError, config string, seen map[*strictyaml.Node]bool) {
	if bad == nil || seen[bad.at] {
		return
	}
	seen[bad.at] = true
	bad.key = fmt.Sprintf("%s of config %s", bad.key, config)
	addExpression(r.Problems, bad.formula, bad.err)
}

func (r *resolver) checkArguments(e *entry[benchmarkDoc], params []string) {
	for _, a := range e.value.Arguments {
		d := a.value
		roles := 0
		for _, written := range []bool{d.In.at != nil, d.Out.at != nil, d.InOut.at != nil, d.Value.set()} {
			if written {
				roles++
			}
		}
		role, kind := d.role()
		switch {
		case roles != 1:
			r.Add(a.at, "set exactly one of in, out, inout and value", "argument %q has %d roles", a.name, roles)
			continue
		case role == tensor.Value && (d.Shape != nil || d.Strides != nil || d.Fill.at != nil):
			r.Add(a.at, "", "argument %q is a value and cannot have shape, strides or fill", a.name)
		case role != tensor.Value && d.Type != "":
			r.Add(a.at, "its type is the value of "+string(role), "argument %q is a tensor and cannot have type", a.name)
		case role != tensor.Value && len(d.Shape) == 0:
			r.Add(a.at, "write shape: [N]", "argument %q has no shape", a.name)
		case d.Strides != nil && len(d.Strides) != len(d.Shape):
			r.Add(a.at, "", "argument %q has %d sizes and %d strides", a.name, len(d.Shape), len(d.Strides))
		case role == tensor.Out && d.Fill.at != nil:
			r.Add(a.at, "", "argument %q is only written and cannot have fill", a.name)
		}
		if _, known := dtypes[kind.string]; role != tensor.Value && !known && !slices.Contains(params, kind.string) {
			r.Add(kind.at, strictyaml.DidYouMean(kind.string, append(slices.Clone(dtypeNames), params...)),
				"%q is neither an element type nor a parameter", kind.string)
		}
		for _, x := range slices.Concat(d.Shape, d.Strides, []formula{d.Value, d.Fill.low, d.Fill.high}) {
			r.checkVariables(x, params)
		}
		if d.Map != nil {
			r.checkMap(e, &a, params)
		}
	}
}
