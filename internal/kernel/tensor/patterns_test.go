package tensor

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// specified are the types of at most a byte, in the words of their specifications: OCP's
// 8-bit floats and MX formats, and the fnuz types of LLVM and PyTorch. No formula of
// package tensor is used.
var specified = []struct {
	d        DType
	bits     int       // of a value, sign included
	mantissa int       // bits
	least    float64   // the smallest positive value
	last     int       // the pattern of the largest value
	largest  float64   // and the value
	nan, inf []int     // patterns
	one      int       // the pattern of 1
	marks    []float64 // the values of the first patterns
}{
	{E4M3, 8, 3, 0x1p-9, 0x7e, 448, []int{0x7f, 0xff}, nil, 0x38, []float64{0, 0x1p-9, 0x1p-8}},
	{E5M2, 8, 2, 0x1p-16, 0x7b, 57344, []int{0x7d, 0x7e, 0x7f, 0xfd, 0xfe, 0xff}, []int{0x7c, 0xfc}, 0x3c, []float64{0, 0x1p-16}},
	{E4M3FNUZ, 8, 3, 0x1p-10, 0x7f, 240, []int{0x80}, nil, 0x40, []float64{0, 0x1p-10}},
	{E5M2FNUZ, 8, 2, 0x1p-17, 0x7f, 57344, []int{0x80}, nil, 0x40, []float64{0, 0x1p-17}},
	{E3M2, 6, 2, 0.0625, 0x1f, 28, nil, nil, 0x0c, []float64{0, 0.0625, 0.125, 0.1875, 0.25}},
	{E2M3, 6, 3, 0.125, 0x1f, 7.5, nil, nil, 0x08, []float64{0, 0.125, 0.25}},
	{E2M1, 4, 1, 0.5, 0x7, 6, nil, nil, 0x2, []float64{0, 0.5, 1, 1.5, 2, 3, 4, 6}},
}

// Values rise by equal steps, which double each time the mantissa is full. Only the
// binade of denormals has the step of the next. That gives all of them without looking
// at an exponent.
func TestDecode_EveryPattern(t *testing.T) {
	for _, s := range specified {
		want := make([]float64, 1<<s.bits)
		sign := 1 << (s.bits - 1)
		for p, x, step := 0, 0.0, s.least; p < sign; p++ {
			want[p], want[sign+p] = x, -x
			x += step
			if next := p + 1; next%(1<<s.mantissa) == 0 && next >= 2<<s.mantissa {
				step *= 2
			}
		}
		for _, p := range s.nan {
			want[p] = math.NaN()
		}
		for _, p := range s.inf {
			want[p] = math.Copysign(math.Inf(1), float64(sign-1-p))
		}
		if want[s.last] != s.largest || want[s.one] != 1 || !slices.Equal(want[:len(s.marks)], s.marks) {
			t.Fatalf("%s: the largest is %v, pattern %#x is %v", s.d, want[s.last], s.one, want[s.one])
		}
		_, got := patterns(s.d)
		for p, x := range got {
			if w := want[p%len(want)]; math.Float64bits(x) != math.Float64bits(w) && !(x != x && w != w) {
				t.Fatalf("%s %#02x is %v, want %v", s.d, p, x, w)
			}
		}
		if low, high := s.d.Limits(); low != -s.largest || high != s.largest {
			t.Errorf("%s: limits %v and %v", s.d, low, high)
		}
		if s.d.HasNaN() != (s.nan != nil) || s.d.HasInfinity() != (s.inf != nil) {
			t.Errorf("%s: NaN %v, infinity %v", s.d, s.d.HasNaN(), s.d.HasInfinity())
		}
	}
}

func TestDecode_EveryScale(t *testing.T) {
	_, got := patterns(E8M0)
	x := 0x1p-127
	for p := range 255 {
		if got[p] != x {
			t.Fatalf("e8m0 %#02x is %v, want %v", p, got[p], x)
		}
		x *= 2
	}
	if !math.IsNaN(got[255]) {
		t.Errorf("e8m0 0xff is %v, want NaN", got[255])
	}
	if low, high := E8M0.Limits(); low != 0x1p-127 || high != 0x1p127 {
		t.Errorf("limits %v and %v", low, high)
	}
}

// Scales round as PyTorch casts to float8_e8m0fnu: to the nearest power of two, ties up,
// whatever the sign; zero becomes the smallest.
func TestEncode_Scales(t *testing.T) {
	for _, tt := range []struct {
		x    float64
		want uint16
	}{
		{1, 127},
		{1.49, 127},
		{1.5, 128},
		{2.9, 128},
		{3, 129},
		{-4, 129},
		{0, 0},
		{0x1p-127, 0},
		{0x1p-200, 0},
		{0x1p-126, 1},
		{0x1p127, 254},
		{0x1.8p127, 255},
		{math.Inf(1), 255},
		{math.NaN(), 255},
	} {
		if got := formats[E8M0].encode(tt.x); got != tt.want {
			t.Errorf("%v encodes as %d, want %d", tt.x, got, tt.want)
		}
	}
}

func TestEncode_WithoutNaN(t *testing.T) {
	for d, want := range map[DType]float64{E3M2: 28, E2M3: 7.5, E2M1: 6, E2M1x2: 6} {
		if got := d.Round(math.NaN()); got != want {
			t.Errorf("NaN becomes %v in %s, want %v", got, d, want)
		}
		if got := d.Round(math.Inf(-1)); got != -want {
			t.Errorf("-infinity becomes %v in %s, want %v", got, d, -want)
		}
	}
}

// The low bits of a byte are the first value.
func TestPackedValues(t *testing.T) {
	x, err := New(Argument{Name: "x", DType: E2M1x2, Shape: []int{2, 2}, Strides: []int{3, 1}})
	if err != nil {
		t.Fatal(err)
	}
	if x.Len() != 8 || len(x.Data) != 5 || !slices.Equal(x.ValueShape(), []int{2, 4}) {
		t.Fatalf("%d values of shape %v in %d bytes", x.Len(), x.ValueShape(), len(x.Data))
	}
	values := []float64{0.5, -1, 1.5, 2, -3, 4, -6, 0}
	x.Write(0, values)
	if want := []byte{0xa1, 0x43, 0, 0x6d, 0x0f}; !slices.Equal(x.Data, want) {
		t.Fatalf("storage %x, want %x", x.Data, want)
	}
	if x.Place(5) != 3 || !slices.Equal(x.Index(5), []int{1, 1}) || x.IsContiguous() {
		t.Errorf("value 5 stands in byte %d, at %v", x.Place(5), x.Index(5))
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 { // any part, also from the middle of a byte
		from := r.IntN(8)
		part := make([]float64, r.IntN(9-from))
		for i := range part {
			part[i] = values[r.IntN(8)]
			values[from+i] = part[i]
		}
		x.Write(from, part)
		got := make([]float64, 8)
		x.Read(got, 0)
		if !slices.Equal(got, values) {
			t.Fatalf("%v, want %v", got, values)
		}
		from = r.IntN(8)
		got = got[:r.IntN(9-from)]
		x.Read(got, from)
		if !slices.Equal(got, values[from:from+len(got)]) {
			t.Fatalf("from %d: %v, want %v", from, got, values[from:])
		}
	}
	if x.Data[2] != 0 {
		t.Error("the gap was written")
	}
}

func TestShapeOfValues(t *testing.T) {
	shape := []int{3, 4}
	if got := E2M1x2.ValueShape(shape); !slices.Equal(got, []int{3, 8}) || !slices.Equal(shape, []int{3, 4}) {
		t.Errorf("%v of %v", got, shape)
	}
	if got := E2M1x2.ValueShape(nil); !slices.Equal(got, []int{2}) {
		t.Errorf("%v of one element", got)
	}
	if got := E2M1.ValueShape(shape); !slices.Equal(got, shape) {
		t.Errorf("%v of %v", got, shape)
	}
}
