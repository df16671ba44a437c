package tensor_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"math"
	"testing"

	"github.com/goatnote-inc/pawl/internal/kernel/tensor"
)

// The SDKs and the launcher write the same bytes: docs/reference/harness-protocol.md
// quotes this line.
func TestPoisonIsFixed(t *testing.T) {
	const want = "f07ff1fff8fff17ffdfff3fff5fffe7f"
	if got := hex.EncodeToString(tensor.Poison(12345, 16)); got != want {
		t.Errorf("poison 12345 begins with %s, want %s", got, want)
	}
}

func TestPoisonIsNaNInEveryFloatType(t *testing.T) {
	b := tensor.Poison(7, 1<<16)
	for i := 0; i < len(b); i += 2 {
		half := binary.LittleEndian.Uint16(b[i:])
		if half&0x7c00 != 0x7c00 || half&0x3ff == 0 {
			t.Fatalf("%#04x at %d is no NaN of F16", half, i)
		}
		if half&0x7f80 != 0x7f80 || half&0x7f == 0 {
			t.Fatalf("%#04x at %d is no NaN of BF16", half, i)
		}
	}
	for i := 0; i < len(b); i += 4 {
		if v := math.Float32frombits(binary.LittleEndian.Uint32(b[i:])); v == v {
			t.Fatalf("%v at %d is no NaN of F32", v, i)
		}
	}
	for i := 0; i < len(b); i += 8 {
		if v := math.Float64frombits(binary.LittleEndian.Uint64(b[i:])); !math.IsNaN(v) {
			t.Fatalf("%v at %d is no NaN of F64", v, i)
		}
	}
}

func TestPoisonDependsOnTheSeedAndNotOnTheLength(t *testing.T) {
	long := tensor.Poison(1, 4096)
	for n := range 40 {
		if got := tensor.Poison(1, n); !bytes.Equal(got, long[:n]) {
			t.Fatalf("%d bytes are not the start of 4096", n)
		}
	}
	same := 0
	for i, v := range tensor.Poison(2, 4096) {
		if v == long[i] {
			same++
		}
	}
	// Half of the bytes keep one bit free, the others four.
	if same > 4096*2/5 {
		t.Errorf("%d of 4096 bytes are equal under two seeds", same)
	}
}
