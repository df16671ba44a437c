package lesson

import (
	"errors"
	"fmt"
	"math"
	"path"
	"strings"

	"github.com/goatnote-inc/pawl/internal/kernel/suite/expr"
)

// Compile prepares the symptom for matching.
func (l *Lesson) Compile() error {
	if l.matches != nil || l.Symptom == "" {
		return nil
	}
	e, err := expr.Compile(l.Symptom)
	if err != nil {
		return fmt.Errorf("symptom: %w", err)
	}
	for _, v := range e.Variables() {
		if _, ok := known().slots[v.Name]; !ok {
			return fmt.Errorf("symptom: there is no fact %q (%s)", v.Name, near(v.Name))
		}
	}
	if len(e.Variables()) == 0 {
		return errors.New("symptom: it uses no fact, so it would always match")
	}
	if l.matches, err = e.Bind(known().layout); err != nil {
		return fmt.Errorf("symptom: %w", err)
	}
	return nil
}

// Matches reports whether the symptom is true of the facts. It is false if a fact that the symptom or
// the scope needs is not known.
func (l *Lesson) Matches(f Facts) bool { return l.Compile() == nil && f.view().matches(l) }

// view is facts by slot, for matching many symptoms.
type view struct {
	slots  []float64 // NaN if not known
	gpu    string
	kernel string
}

func (f Facts) view() *view {
	k := known()
	v := &view{slots: make([]float64, len(k.names)), gpu: strings.ToLower(f.GPU), kernel: strings.ToLower(f.Kernel)}
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

func (v *view) matches(l *Lesson) bool {
	if l.matches == nil {
		return false
	}
	for _, slot := range l.matches.Slots() {
		if math.IsNaN(v.slots[slot]) {
			return false
		}
	}
	return l.matches.Holds(v.slots) && v.onGPU(l.GPUs) && v.ofFamily(l.Kernels)
}

func (v *view) onGPU(patterns []string) bool {
	for _, p := range patterns {
		if ok, err := path.Match(p, v.gpu); ok && err == nil && v.gpu != "" {
			return true
		}
	}
	return len(patterns) == 0
}

// families are the words that name the family of a kernel. Any other family is its own word.
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
