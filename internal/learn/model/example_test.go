package model_test

import (
	"fmt"
	"math"

	"github.com/goatnote-inc/pawl/internal/learn/model"
)

// The example of docs/explanation/model.md.
func ExampleModel() {
	m := model.New()
	key := func(fix string) model.Key { return model.Key{Fix: fix, Class: "memory", GPU: "sm_89"} }
	offer := []model.Candidate{
		{Key: key("coalescing/1"), Kernel: "attention", Prior: math.Log(1.30)},
		{Key: key("vector-loads/1"), Kernel: "attention", Prior: math.Log(1.15)},
		{Key: key("lesson/swizzle"), Kernel: "attention", Claims: []model.Claim{{Lesson: "swizzle", Gain: math.Log(1.5)}}},
	}
	show := func(when string) {
		fmt.Println(when)
		for _, r := range m.Rank(offer) {
			fmt.Printf("  %-15s %.2fx (%.2fx to %.2fx), the best with %2.0f %%\n", r.Fix, math.Exp(r.Gain), math.Exp(r.Low), math.Exp(r.High), 100*r.Best)
		}
	}
	show("before any outcome")
	for kernel, speedup := range map[string]float64{"softmax": 1.02, "layernorm": 1.00, "rope": 1.05} {
		m.Learn(model.Outcome{Key: key("coalescing/1"), Kernel: kernel, Gain: math.Log(speedup), Error: 0.02, Prior: math.Log(1.30)})
	}
	for kernel, speedup := range map[string]float64{"softmax": 1.14, "rope": 1.17} {
		m.Learn(model.Outcome{Key: key("vector-loads/1"), Kernel: kernel, Gain: math.Log(speedup), Error: 0.02, Prior: math.Log(1.15)})
	}
	show("after three outcomes of the first and two of the second")
	m.Learn(model.Outcome{Key: key("lesson/swizzle"), Kernel: "rope", Gain: 0, Error: 0.02, Claims: []model.Claim{{Lesson: "swizzle", Gain: math.Log(1.5)}}})
	show("after the lesson failed once")
	// Output:
	// before any outcome
	//   coalescing/1    1.20x (0.92x to 1.57x), the best with 52 %
	//   vector-loads/1  1.10x (0.87x to 1.40x), the best with 25 %
	//   lesson/swizzle  1.06x (0.82x to 1.37x), the best with 23 %
	// after three outcomes of the first and two of the second
	//   vector-loads/1  1.15x (1.08x to 1.21x), the best with 69 %
	//   lesson/swizzle  1.06x (0.87x to 1.28x), the best with 30 %
	//   coalescing/1    1.03x (0.97x to 1.09x), the best with  1 %
	// after the lesson failed once
	//   vector-loads/1  1.15x (1.08x to 1.21x), the best with 95 %
	//   coalescing/1    1.03x (0.97x to 1.08x), the best with  3 %
	//   lesson/swizzle  1.00x (0.93x to 1.07x), the best with  1 %
}
