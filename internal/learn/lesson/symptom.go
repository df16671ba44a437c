package lesson

import (
	"errors"
	"fmt"
	"math"
	"path"
	"strings"

	"github.com/goatnote-inc/pawl/internal/kernel/suite/expr"
)

// compile reads a symptom. An error is an *expr.Error with the place inside of it.
func compile(symptom string) (*expr.Bound, error) {
	e, err := expr.Compile(symptom)
	if err != nil {
		return nil, err
	}
	for _, v := range e.Variables() {
		if _, ok := known().slots[v.Name]; !ok {
			return nil, &expr.Error{Pos: v.Pos, Msg: fmt.Sprintf("there is no fact %q", v.Name), Hint: near(v.Name)}
		}
	}
	if len(e.Variables()) == 0 {
		return nil, &expr.Error{Msg: "it asks for no fact", Hint: "a lesson that always speaks says nothing"}
	}
	return e.Bind(known().layout)
}

// Compile makes a lesson that was not parsed ready to be matched.
func (l *Lesson) Compile() error {
	if l.speaks != nil {
		return nil
	}
	b, err := compile(l.Symptom)
	if err != nil {
		return fmt.Errorf("symptom %q of lesson %s: %w", l.Symptom, l.Name, err)
	}
	l.speaks = b
	return nil
}

// Asks lists the facts that the symptom reads, in the order of Known.
func (l *Lesson) Asks() []string {
	if l.Compile() != nil {
		return nil
	}
	var names []string
	for _, slot := range l.speaks.Slots() {
		names = append(names, known().names[slot])
	}
	return names
}

// Speaks tells whether the lesson is about what is known. It is silent where a fact that
// its symptom reads is not known, or one that its scope needs.
func (l *Lesson) Speaks(f Facts) bool { return l.Compile() == nil && f.view().heard(l) }

// view is facts as many symptoms read them: by slots, not by names.
type view struct {
	slots  []float64 // NaN for what is not known
	gpu    string
	kernel string
}

func (f Facts) view() *view {
	k := known()
	v := &view{slots: make([]float64, len(k.list)), gpu: strings.ToLower(f.GPU), kernel: strings.ToLower(f.Kernel)}
	for i := range v.slots {
		v.slots[i] = math.NaN()
	}
	for name, x := range f.Numbers {
		if slot, ok := k.slots[name]; ok && !math.IsInf(x, 0) {
			v.slots[slot] = x
		}
	}
	return v
}

// heard tells whether a compiled lesson speaks.
func (v *view) heard(l *Lesson) bool {
	for _, slot := range l.speaks.Slots() {
		if math.IsNaN(v.slots[slot]) {
			return false
		}
	}
	return l.speaks.Holds(v.slots) && v.onGPU(l.GPUs) && v.ofFamily(l.Kernels)
}

func (v *view) onGPU(patterns []string) bool {
	for _, p := range patterns {
		if ok, err := path.Match(p, v.gpu); ok && err == nil && v.gpu != "" {
			return true
		}
	}
	return len(patterns) == 0
}

// families are the words by which the family of a kernel is told from its name. A family
// that is not here is told by its own.
var families = map[string][]string{
	"attention":   {"attention", "attn", "attend", "sdpa", "mha"},
	"matmul":      {"matmul", "gemm", "mma", "matrix_product"},
	"reduction":   {"reduc", "sum", "softmax", "norm"},
	"norm":        {"norm"},
	"elementwise": {"elementwise", "pointwise", "saxpy", "axpy", "gelu", "relu", "silu", "bias"},
	"convolution": {"conv"},
	"sparse":      {"sparse", "spmm", "spmv", "bsr", "csr"},
}

func (v *view) ofFamily(wanted []string) bool {
	for _, family := range wanted {
		words, ok := families[family]
		if !ok {
			words = []string{family}
		}
		for _, w := range words {
			if strings.Contains(v.kernel, w) {
				return true
			}
		}
	}
	return len(wanted) == 0
}

// position is where inside a symptom an error is, in characters from its start.
func position(err error) (pos int, msg, hint string) {
	if e, ok := errors.AsType[*expr.Error](err); ok {
		return e.Pos, e.Msg, e.Hint
	}
	return 0, err.Error(), ""
}
