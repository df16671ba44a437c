package bench

import (
	"math/rand/v2"
	"slices"

	"github.com/goatnote-inc/pawl/internal/oracle"
	"github.com/goatnote-inc/pawl/internal/tensor"
	"github.com/goatnote-inc/pawl/internal/trial"
)

// freshInputs makes what scored runs of a case work on. Drawing all elements for every
// run would take longer than the run: each has some of another draw in some place instead, so that
// neither a hash of everything nor a look at some elements tells what the result is.
func freshInputs(c trial.Case, seed uint64) (func(seed uint64, path string) error, error) {
	list, err := oracle.Inputs(c.Arguments, "normal", seed)
	if err != nil {
		return nil, err
	}
	other, err := oracle.Inputs(c.Arguments, "normal", seed+1)
	if err != nil {
		return nil, err
	}
	return func(seed uint64, path string) error {
		rng := rand.New(rand.NewPCG(seed, 0))
		fresh := slices.Clone(list)
		for i := range fresh {
			fresh[i].Data = varied(rng, list[i], other[i])
		}
		return tensor.Save(path, fresh)
	}, nil
}

// freshElements is how many elements of a tensor are another draw's.
const freshElements = 64

// varied is the data of a tensor with some of another's. Whole numbers stay: they may
// be indices in an order.
func varied(rng *rand.Rand, t, other tensor.Tensor) []byte {
	data, size := slices.Clone(t.Data), t.DType.Size()
	elements := len(data) / size
	n := min(freshElements, elements)
	if n == 0 || !t.DType.IsFloat() {
		return data
	}
	to, from := rng.IntN(elements-n+1)*size, rng.IntN(elements-n+1)*size
	copy(data[to:to+n*size], other.Data[from:])
	return data
}
