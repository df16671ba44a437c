// Package mutate feeds mutated inputs to a decoder, many more than coverage-guided fuzzing can. A fuzz
// target finds the paths through the code; Run decodes them a hundred million times. It is only for
// tests.
package mutate

import (
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// hang is the maximum time for one input: a decoder's work is bounded by the size of its input.
const hang = 2 * time.Second

// Run decodes PAWL_HAMMER mutations of the seeds, on all processors. It logs their number, the slowest
// time and the memory in use. Without the variable it runs a thousand, so that it also works as a normal
// test.
func Run(t *testing.T, seeds [][]byte, decode func(t testing.TB, b []byte)) {
	t.Helper()
	n := int64(1000)
	if s := os.Getenv("PAWL_HAMMER"); s != "" {
		var err error
		if n, err = strconv.ParseInt(s, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	var next, done, slowest, heap atomic.Int64
	began := time.Now()
	var wg sync.WaitGroup
	for worker := range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(1, uint64(worker)))
			var b []byte
			for i := next.Add(1); i <= n && !t.Failed(); i = next.Add(1) {
				b = mutate(rng, append(b[:0], seeds[rng.IntN(len(seeds))]...))
				took := timed(t, b, decode)
				for again := 0; again < 3 && took > hang/10; again++ { // another process may have used the CPU
					took = min(took, timed(t, b, decode))
				}
				if int64(took) > slowest.Load() {
					slowest.Store(int64(took))
				}
				if took > hang {
					t.Errorf("%v for %d bytes: %q", took, len(b), b[:min(len(b), 200)])
				}
				done.Add(1)
				if i%100_000 == 0 {
					var m runtime.MemStats
					runtime.ReadMemStats(&m)
					if used := int64(m.HeapInuse); used > heap.Load() {
						heap.Store(used)
					}
				}
			}
		})
	}
	wg.Wait()
	t.Logf("%d executions in %v, the slowest %v, at most %d MiB in use", done.Load(), time.Since(began).Round(time.Second), time.Duration(slowest.Load()), heap.Load()>>20)
}

func timed(t *testing.T, b []byte, decode func(testing.TB, []byte)) time.Duration {
	t.Helper()
	at := time.Now()
	decode(t, b)
	return time.Since(at)
}

// hostileValues lists values that often break decoders.
var hostileValues = []string{"0", "-1", "1e999", "9223372036854775807", "18446744073709551616", "4294967295", "NaN", "null", "{", "[", "\"", "\x00", "\xff\xff\xff\xff"}

// mutate changes an input in one to eight ways.
func mutate(rng *rand.Rand, b []byte) []byte {
	for range 1 + rng.IntN(8) {
		if len(b) == 0 {
			b = append(b, byte(rng.Uint32()))
			continue
		}
		at := rng.IntN(len(b))
		end := min(len(b), at+1+rng.IntN(16))
		switch rng.IntN(8) {
		case 0:
			b[at] ^= 1 << rng.IntN(8)
		case 1:
			b[at] = byte(rng.Uint32())
		case 2:
			b = b[:at]
		case 3:
			b = append(b[:at], b[end:]...)
		case 4:
			b = append(b[:end:end], b[at:]...)
		case 5:
			b = append(append(b[:at:at], hostileValues[rng.IntN(len(hostileValues))]...), b[at:]...)
		case 6:
			other := rng.IntN(len(b))
			copy(b[at:end], b[other:])
		default:
			b[at] += byte(rng.IntN(3)) - 1
		}
		if len(b) > 64<<10 {
			b = b[:64<<10]
		}
	}
	return b
}
