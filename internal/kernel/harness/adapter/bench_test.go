package adapter

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkRead tells how fast a megabyte of samples is read in each kind of
// source: lines of text, records of a stream, one document.
func BenchmarkRead(b *testing.B) {
	const samples = 50_000
	numbers := make([]string, samples)
	for i := range numbers {
		numbers[i] = fmt.Sprintf("0.0001%05d", i+1)
	}
	list := strings.Join(numbers, ",")
	for format, doc := range map[string]string{
		"go":        "BenchmarkX 1 " + strings.Join(numbers, " sec/op\nBenchmarkX 1 ") + " sec/op\n",
		"triton":    `{"name":"k","unit":"s","samples":[` + list + `]}`,
		"hyperfine": `{"results":[{"command":"k","times":[` + list + `]}]}`,
	} {
		b.Run(format, func(b *testing.B) {
			b.SetBytes(int64(len(doc)))
			for b.Loop() {
				run, err := Read(b.Context(), Source{Data: strings.NewReader(doc)}, Options{})
				if err != nil || len(run.Cases[0].Rounds[0].Samples) != samples {
					b.Fatal(err)
				}
			}
		})
	}
}
