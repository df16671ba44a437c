package headertest_test

import (
	"fmt"
	"math"
	"os/exec"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/kernel/tensor"
)

// Every pattern of a byte is read as pawl reads it, and numbers are rounded alike, but
// for those that are too large: a harness draws no infinities.
func TestSmallTypesAreThoseOfPawl(t *testing.T) {
	t.Parallel()
	program := build(t, "gcc", "testdata/values.c", sanitized...)
	bytes := make([]byte, 256)
	for i := range bytes {
		bytes[i] = byte(i)
	}
	for _, d := range tensor.DTypes() {
		if !d.IsFloat() || d.Size() != 1 {
			continue
		}
		values := make([]float64, 256*d.Lanes())
		tensor.Decode(d, values, bytes)
		low, high := d.Limits()
		numbers := []float64{0, 0.1, 0.3, 1e-5, 700, -1e6, 1e30, 2.5, -2.5, 3.5, 5, -0.75, 1.0625}
		for i, x := range values {
			next := values[(i+1)%len(values)]
			if middle := (x + next) / 2; !math.IsNaN(middle) && !math.IsInf(middle, 0) {
				numbers = append(numbers, middle, math.Nextafter(middle, high), x)
			}
		}
		var in strings.Builder
		for _, x := range numbers {
			fmt.Fprintf(&in, "%.17g\n", x)
		}
		cmd := exec.CommandContext(t.Context(), program, string(d))
		cmd.Stdin = strings.NewReader(in.String())
		out, err := cmd.Output()
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		if err != nil || len(lines) != len(values)+len(numbers) {
			t.Fatalf("%s: %v, %d lines", d, err, len(lines))
		}
		for i, x := range values {
			want := fmt.Sprintf("%.17g 0", x)
			if math.IsNaN(x) || math.IsInf(x, 0) {
				want = "0 1"
			}
			if lines[i] != want {
				t.Errorf("%s: value %d of the bytes is %q, want %q", d, i, lines[i], want)
			}
		}
		for i, x := range numbers {
			var want [1]byte
			if low < 0 {
				x = min(max(x, low), high)
			} else {
				x = min(math.Abs(x), high)
			}
			tensor.Encode(d.Lane(), want[:], []float64{x})
			if got := lines[len(values)+i]; got != fmt.Sprint(want[0]) && x != 0 {
				t.Errorf("%s: %v rounds to %s, want %d", d, x, got, want[0])
			}
		}
	}
}
