package tensor

import (
	"bytes"
	"encoding/binary"
	"math"
	"os/exec"
	"testing"

	"pgregory.net/rapid"
)

// patterns decodes every pattern of a type of at most 16 bits, in order.
func patterns(d DType) ([]byte, []float64) {
	n := 1 << (8 * d.Size())
	data := make([]byte, n*d.Size())
	for i := range n {
		if d.Size() == 1 {
			data[i] = byte(i)
		} else {
			binary.LittleEndian.PutUint16(data[2*i:], uint16(i))
		}
	}
	values := make([]float64, n*d.Lanes())
	Decode(d, values, data)
	return data, values
}

// small are the types of at most 16 bits with a sign.
func small() []DType {
	return []DType{F16, BF16, E4M3, E5M2, E4M3FNUZ, E5M2FNUZ, E3M2, E2M3, E2M1}
}

func TestEveryPatternRoundTrips(t *testing.T) {
	for _, d := range append(small(), E8M0, I8, U8, I16) {
		data, values := patterns(d)
		if f, float := formats[d]; float { // without the bits that the type does not have
			values = values[:int(max(f.sign(), f.magnitudes()/2+1))*2]
		}
		again := make([]byte, len(data))
		Encode(d, again, values)
		for i, x := range values {
			at := i * d.Size()
			if same := bytes.Equal(data[at:at+d.Size()], again[at:at+d.Size()]); !same && x == x {
				t.Fatalf("%s pattern %#x is %v, which encodes as %x", d, i, x, again[at:at+d.Size()])
			}
			if x != x && !math.IsNaN(d.Round(x)) {
				t.Fatalf("%s pattern %#x is NaN, which encodes as a number", d, i)
			}
		}
	}
}

// Between two neighbours the nearest wins, and of a tie the even pattern.
func TestRoundToNearestEven(t *testing.T) {
	for _, d := range small() {
		f := formats[d]
		for p := range f.largest() {
			low, high := f.decode(p), f.decode(p+1)
			middle := (low + high) / 2
			even := p + p&1
			for _, tt := range []struct {
				x    float64
				want uint16
			}{
				{middle, even},
				{math.Nextafter(middle, 0), p},
				{math.Nextafter(middle, math.Inf(1)), p + 1},
			} {
				if got := f.encode(tt.x); got != tt.want {
					t.Fatalf("%s: %v between %v and %v encodes as %#x, want %#x", d, tt.x, low, high, got, tt.want)
				}
				negative := tt.want | f.sign()
				if tt.want == 0 && f.specials == zeroNaN {
					negative = 0
				}
				if got := f.encode(-tt.x); got != negative {
					t.Fatalf("%s: %v encodes as %#x, want %#x", d, -tt.x, got, negative)
				}
			}
		}
	}
}

// The numbers of the OCP specification of 8-bit floats, and the edges of the others.
func TestKnownValues(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, tt := range []struct {
		d       DType
		pattern uint16
		want    float64
	}{
		{E4M3, 0x00, 0},
		{E4M3, 0x01, 0x1p-9},
		{E4M3, 0x07, 0x1.cp-7},
		{E4M3, 0x08, 0x1p-6},
		{E4M3, 0x38, 1},
		{E4M3, 0x7e, 448},
		{E4M3, 0x7f, nan},
		{E4M3, 0xff, nan},
		{E4M3, 0xfe, -448},
		{E4M3, 0xb9, -1.125},
		{E4M3, 0x78, 256},
		{E5M2, 0x01, 0x1p-16},
		{E5M2, 0x03, 0x1.8p-15},
		{E5M2, 0x04, 0x1p-14},
		{E5M2, 0x3c, 1},
		{E5M2, 0x7b, 57344},
		{E5M2, 0x7c, inf},
		{E5M2, 0xfc, -inf},
		{E5M2, 0x7d, nan},
		{E5M2, 0x7f, nan},
		{F16, 0x0001, 0x1p-24},
		{F16, 0x3555, 0.333251953125},
		{F16, 0x7bff, 65504},
		{F16, 0x7c00, inf},
		{BF16, 0x0001, 0x1p-133},
		{BF16, 0x3f80, 1},
		{BF16, 0x4049, 3.140625},
		{BF16, 0x7f7f, 0x1.fep127},
		{BF16, 0xff80, -inf},
	} {
		if got := formats[tt.d].decode(tt.pattern); got != tt.want && !(got != got && tt.want != tt.want) {
			t.Errorf("%s %#x = %v, want %v", tt.d, tt.pattern, got, tt.want)
		}
	}
}

// What is too large: infinity where there is one, NaN where there is that alone, as
// PyTorch casts, and the largest value elsewhere.
func TestOverflow(t *testing.T) {
	for _, tt := range []struct {
		d             DType
		last, first   float64 // the last that stays finite, the first that does not
		finite, above float64
	}{
		{E4M3, 464, math.Nextafter(464, 500), 448, math.NaN()},
		{E5M2, math.Nextafter(61440, 0), 61440, 57344, math.Inf(1)},
		{F16, math.Nextafter(65520, 0), 65520, 65504, math.Inf(1)},
		{BF16, math.Nextafter(0x1.ffp127, 0), 0x1.ffp127, 0x1.fep127, math.Inf(1)},
		{E4M3FNUZ, math.Nextafter(248, 0), 248, 240, math.NaN()},
		{E5M2FNUZ, math.Nextafter(61440, 0), 61440, 57344, math.NaN()},
		{E8M0, math.Nextafter(0x1.8p127, 0), 0x1.8p127, 0x1p127, math.NaN()},
		{E3M2, 30, 31, 28, 28},
		{E2M3, 7.75, 8, 7.5, 7.5},
		{E2M1, 6, 7, 6, 6},
		{E2M1x2, 6, 7, 6, 6},
	} {
		if got := tt.d.Round(tt.last); got != tt.finite {
			t.Errorf("%s: %v rounds to %v, want %v", tt.d, tt.last, got, tt.finite)
		}
		for _, x := range []float64{tt.first, 1e30 * tt.first, math.Inf(1)} {
			if got := tt.d.Round(x); got != tt.above && !(got != got && tt.above != tt.above) {
				t.Errorf("%s: %v rounds to %v, want %v", tt.d, x, got, tt.above)
			}
		}
		if _, high := tt.d.Limits(); high != tt.finite {
			t.Errorf("%s: the greatest value is %v, want %v", tt.d, high, tt.finite)
		}
	}
}

func TestIntegersStayInTheirType(t *testing.T) {
	for _, tt := range []struct {
		d       DType
		x, want float64
	}{
		{I8, 200, 127},
		{I8, -200, -128},
		{I8, 1.5, 2},
		{I8, 2.5, 2},
		{U8, 300, 255},
		{U8, -1, 0},
		{Bool, 7, 1},
		{I16, 40000, 32767},
		{I32, 3e9, 2147483647},
		{I32, -3e9, -2147483648},
		{I64, 1e30, 0x1p63},
		{I64, -1e30, -0x1p63},
		{I64, 1 << 53, 1 << 53},
		{I32, math.NaN(), 0},
		{I32, math.Inf(1), 2147483647},
	} {
		if got := tt.d.Round(tt.x); got != tt.want {
			t.Errorf("%v as %s is %v, want %v", tt.x, tt.d, got, tt.want)
		}
	}
}

// NumPy has its own half, written by others.
func TestF16AgainstNumPy(t *testing.T) {
	const python = "/usr/bin/python3"
	_, values := patterns(F16)
	decoded := run(t, python, `import sys, numpy
sys.stdout.buffer.write(numpy.arange(65536, dtype='<u2').view('<f2').astype('<f8').tobytes())`, nil)
	for i, want := range values {
		if got := math.Float64frombits(binary.LittleEndian.Uint64(decoded[8*i:])); got != want && want == want {
			t.Fatalf("pattern %#x is %v, NumPy says %v", i, want, got)
		}
	}
	// Encoding: the middles of neighbours, and one step of float64 to either side.
	var xs []float64
	for _, x := range values[:0x7c00] {
		next := formats[F16].decode(formats[F16].encode(x) + 1)
		if math.IsInf(next, 0) {
			next = 65536
		}
		middle := (x + next) / 2
		xs = append(xs, middle, math.Nextafter(middle, 0), -math.Nextafter(middle, 1e9), x/3)
	}
	in, want := make([]byte, 8*len(xs)), make([]byte, 2*len(xs))
	Encode(F64, in, xs)
	Encode(F16, want, xs)
	got := run(t, python, `import sys, numpy
numpy.seterr(all='ignore')
sys.stdout.buffer.write(numpy.frombuffer(sys.stdin.buffer.read(), '<f8').astype('<f2').tobytes())`, in)
	for i := range xs {
		if !bytes.Equal(got[2*i:2*i+2], want[2*i:2*i+2]) {
			t.Fatalf("%v encodes as %x, NumPy says %x", xs[i], want[2*i:2*i+2], got[2*i:2*i+2])
		}
	}
}

// run runs a Python script, or skips the test where there is no Python with NumPy.
func run(t *testing.T, python, script string, stdin []byte) []byte {
	t.Helper()
	if exec.CommandContext(t.Context(), python, "-c", "import numpy").Run() != nil {
		t.Skip("no Python with NumPy")
	}
	cmd := exec.CommandContext(t.Context(), python, "-c", script)
	cmd.Stdin = bytes.NewReader(stdin)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("python: %v", err)
	}
	return out
}

func TestTF32(t *testing.T) {
	for x, want := range map[float32]float32{
		1:               1,
		1 + 0x1p-10:     1 + 0x1p-10,
		1 + 0x1p-11:     1 + 0x1p-10, // a tie goes away from zero
		1 + 0x1.fcp-12:  1,
		-1 - 0x1p-11:    -1 - 0x1p-10,
		2 - 0x1p-12:     2,
		0x1p-126:        0x1p-126,
		math.MaxFloat32: float32(math.Inf(1)),
	} {
		if got := RoundTF32(x); got != want {
			t.Errorf("RoundTF32(%v) = %v, want %v", x, got, want)
		}
	}
	if got := RoundTF32(float32(math.NaN())); got == got {
		t.Errorf("NaN became %v", got)
	}
}

func TestULP(t *testing.T) {
	for _, tt := range []struct {
		d    DType
		a, b float64
		want float64
	}{
		{F32, 1, 1 + 0x1p-23, 1},
		{F32, 1, 1 - 0x1p-24, 1},
		{F32, 0x1p-149, -0x1p-149, 2},
		{F16, 1, 1.5, 512},
		{F16, 0, math.Copysign(0, -1), 0},
		{F16, 65504, math.Inf(1), 1},
		{BF16, 1, 1 + 0x1p-7, 1},
		{E4M3, 1, 1.125, 1},
		{E5M2, 1, 2, 4},
		{E4M3FNUZ, 1, 1.125, 1},
		{E8M0, 1, 8, 3},
		{E2M1x2, -6, 6, 14},
		{TF32, 1, 1 + 0x1p-9, 2},
		{F64, -math.MaxFloat64, math.MaxFloat64, 2 * 0x7fefffffffffffff},
		{I32, 5, -2, 7},
		{F32, math.NaN(), math.NaN(), 0},
		{F32, math.NaN(), 1, math.Inf(1)},
	} {
		if got := ULP(tt.d, tt.a, tt.b); got != tt.want {
			t.Errorf("ULP(%s, %v, %v) = %v, want %v", tt.d, tt.a, tt.b, got, tt.want)
		}
	}
}

func TestCodecsAreMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.SampledFrom([]DType{F64, F32, F16, BF16, E5M2, E3M2, E2M3, E2M1, I8, I32, U8}).Draw(t, "dtype")
		a, b := rapid.Float64().Draw(t, "a"), rapid.Float64().Draw(t, "b")
		if a > b {
			a, b = b, a
		}
		if x, y := d.Round(a), d.Round(b); x > y {
			t.Fatalf("%v <= %v, but %s rounds them to %v and %v", a, b, d, x, y)
		}
		if x := d.Round(a); d.Round(x) != x {
			t.Fatalf("%s rounds %v to %v, and that to %v", d, a, x, d.Round(x))
		}
	})
}

func BenchmarkDecodeF16(b *testing.B) {
	data, values := patterns(F16)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		Decode(F16, values, data)
	}
}

func BenchmarkEncodeF16(b *testing.B) {
	data, values := patterns(F16)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		Encode(F16, data, values)
	}
}
