package correctness

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/goatnote-inc/pawl/internal/kernel/tensor"
)

// Inputs creates the tensors of all arguments that a kernel reads, from a kind of
// contents and a seed. The same three always give the same bytes.
func Inputs(arguments []tensor.Argument, kind string, seed uint64) ([]tensor.Tensor, error) {
	var list []tensor.Tensor
	for _, a := range arguments {
		if a.Role != tensor.In && a.Role != tensor.InOut {
			continue
		}
		t, err := Fill(a, kind, seed)
		if err != nil {
			return nil, fmt.Errorf("cannot create the inputs: %w", err)
		}
		list = append(list, t)
	}
	return list, nil
}

// Fill creates one tensor. Each argument has its own random stream, so that its contents
// do not depend on other arguments. Gaps between strided elements hold NaN, which
// shows up in the result of a kernel that reads them.
func Fill(a tensor.Argument, kind string, seed uint64) (tensor.Tensor, error) {
	if !slices.Contains(Distributions(), kind) {
		return tensor.Tensor{}, fmt.Errorf("unknown inputs %q (known: %v)", kind, Distributions())
	}
	t, err := tensor.New(a)
	if err != nil {
		return tensor.Tensor{}, err
	}
	n := t.Len()
	if n == 0 {
		return t, nil
	}
	g := generator{dtype: a.DType, quantile: quantileOf(a, kind), stream: stream(seed, a.Name)}
	if !t.IsContiguous() {
		copy(t.Data, tensor.Poison(g.stream.Uint64(), len(t.Data)))
	}
	switch row := a.Shape[max(len(a.Shape)-1, 0):]; {
	case kind == Constant:
		repeat(t, slices.Repeat(g.values(1), a.DType.Lanes()))
	case kind == EqualRows && len(row) == 1:
		repeat(t, g.values(row[0]*a.DType.Lanes()))
	case t.IsContiguous():
		g.fill(t.Data)
	default:
		t.Write(0, g.values(n))
	}
	if kind == Infinities && a.Fill.Low >= a.Fill.High && a.DType.IsFloat() {
		scatter(t, g.stream)
	}
	return t, nil
}

// stream returns the random stream of one argument.
func stream(seed uint64, name string) *rand.ChaCha8 {
	return rand.NewChaCha8(sha256.Sum256(fmt.Appendf(nil, "pawl inputs %d %s", seed, name)))
}

type generator struct {
	dtype    tensor.DType
	quantile quantile
	stream   *rand.ChaCha8
}

// values draws n values. They are rounded to the type only when they are written.
func (g generator) values(n int) []float64 {
	list := make([]float64, n)
	g.draw(list)
	return list
}

func (g generator) draw(list []float64) {
	for i := range list {
		list[i] = g.quantile((float64(g.stream.Uint64()>>11) + 0.5) / (1 << 53))
	}
}

// fill draws the elements of a whole storage. For types with at most 65536 values it
// draws from a table of that size, four values per 64 random bits: creating gigabytes
// of inputs must not cost more than the kernel.
func (g generator) fill(data []byte) {
	size, lanes := g.dtype.Size(), g.dtype.Lanes()
	if size > 2 || len(data) < steps {
		var buf [chunk]float64
		for len(data) > 0 {
			n := min(chunk/lanes, len(data)/size)
			g.draw(buf[:n*lanes])
			tensor.Encode(g.dtype, data, buf[:n*lanes])
			data = data[n*size:]
		}
		return
	}
	values := make([]float64, steps)
	for i := range values {
		values[i] = g.quantile((float64(i) + 0.5) / steps)
	}
	table := make([]byte, steps*size)
	tensor.Encode(g.dtype.Lane(), table, values)
	switch {
	case lanes == 2:
		g.draw4((*[steps]byte)(table), data)
	case size == 1:
		g.draw8((*[steps]byte)(table), data)
	default:
		g.draw16(table, data)
	}
}

func (g generator) draw4(table *[steps]byte, data []byte) {
	for len(data) > 0 {
		bits := g.stream.Uint64()
		for i := range min(2, len(data)) {
			data[i] = table[uint16(bits>>(32*i))] | table[uint16(bits>>(32*i+16))]<<4
		}
		data = data[min(2, len(data)):]
	}
}

func (g generator) draw8(table *[steps]byte, data []byte) {
	for len(data) > 0 {
		bits := g.stream.Uint64()
		for i := range min(4, len(data)) {
			data[i] = table[uint16(bits>>(16*i))]
		}
		data = data[min(4, len(data)):]
	}
}

func (g generator) draw16(table, data []byte) {
	var halves [steps]uint64
	for i := range halves {
		halves[i] = uint64(binary.LittleEndian.Uint16(table[2*i:]))
	}
	for ; len(data) >= 8; data = data[8:] {
		b := g.stream.Uint64()
		binary.LittleEndian.PutUint64(data, halves[uint16(b)]|halves[uint16(b>>16)]<<16|halves[uint16(b>>32)]<<32|halves[b>>48]<<48)
	}
	for ; len(data) >= 2; data = data[2:] {
		binary.LittleEndian.PutUint16(data, uint16(halves[uint16(g.stream.Uint64())]))
	}
}

// repeat writes the values repeatedly until the tensor is full.
func repeat(t tensor.Tensor, values []float64) {
	if t.IsContiguous() {
		size := len(values) / t.DType.Lanes() * t.DType.Size()
		tensor.Encode(t.DType, t.Data, values)
		for done := size; done < len(t.Data); {
			done += copy(t.Data[done:], t.Data[:done])
		}
		return
	}
	for at := 0; at < t.Len(); at += len(values) {
		t.Write(at, values)
	}
}

// scatter writes infinities of both signs at a few positions: one is enough to make a
// whole row of results NaN. A type without infinity gets its largest value.
func scatter(t tensor.Tensor, stream *rand.ChaCha8) {
	infinity := math.Inf(1)
	if !t.DType.HasInfinity() {
		_, infinity = t.DType.Limits()
	}
	n := t.Len()
	for i := range min(4, max(1, n/64)) {
		t.Write(int(stream.Uint64()%uint64(n)), []float64{infinity})
		if i%2 == 0 {
			infinity = -infinity
		}
	}
}
