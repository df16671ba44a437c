package adapter

import "fmt"

// limits bounds what one source may make this package read and keep.
type limits struct {
	stream   int64 // bytes of a source that is read record by record
	document int64 // bytes of a source, or of one record, that is held in memory
	sidecars int64 // bytes of all the sample files that one source names
	cases    int
	warnings int
}

// standard is far above what the tools write and far below what hurts.
var standard = limits{stream: 1 << 30, document: 64 << 20, sidecars: 256 << 20, cases: 100_000, warnings: 1_000}

// size writes a number of bytes for people.
func size(n int64) string {
	if n >= 1<<20 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d bytes", n)
}
