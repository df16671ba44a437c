package measure_test

import (
	"os"
	"testing"

	"github.com/goatnote-inc/pawl/measure"
)

func BenchmarkScan(b *testing.B) {
	dir := b.TempDir()
	run := example()
	long := make(measure.Samples, 200_000)
	for i := range long {
		if long[i] = float64(100_000 + i%977); i%2 == 1 {
			long[i] = float64(float32(long[i]) + float32(i%113)/7)
		}
	}
	run.Cases[0].Rounds[0].Samples = long
	path := dir + "/run.json"
	if err := measure.Save(path, run); err != nil {
		b.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(info.Size())
	for b.Loop() {
		if _, err := measure.ScanFile(path, func(*measure.Case, measure.CaseRound) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}
