package measure_test

import (
	"bytes"
	"math"
	"testing"

	"github.com/goatnote-inc/pawl/measure"
)

// FuzzScan: whatever the file, reading ends, and what was read can be written
// and read again.
func FuzzScan(f *testing.F) {
	for _, name := range []string{"run.json", "run.journal", "reordered.json"} {
		f.Add(fuzzSeed(f, "testdata/v1/"+name))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		rounds := map[string][]measure.CaseRound{}
		run, err := measure.Scan(bytes.NewReader(data), func(c *measure.Case, r measure.CaseRound) error {
			for _, v := range r.Samples {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Fatalf("read a sample of %v", v)
				}
			}
			rounds[c.String()] = append(rounds[c.String()], r)
			return nil
		})
		if err != nil {
			return
		}
		var out bytes.Buffer
		if err := measure.Write(&out, run); err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		if _, err := measure.Scan(&out, func(*measure.Case, measure.CaseRound) error { return nil }); err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
	})
}
