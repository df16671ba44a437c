package adapter

import "fmt"

// limits bounds what this package reads and keeps of one source.
type limits struct {
	stream   int64 // bytes of a source that is read as a stream of records
	document int64 // bytes of a source, or of one record, that is held in memory
	sidecars int64 // total bytes of the sample files that one source names
	cases    int
	warnings int
}

// standard is well above what the tools write and well below what would exhaust memory.
var standard = limits{stream: 1 << 30, document: 64 << 20, sidecars: 256 << 20, cases: 100_000, warnings: 1_000}

// size formats a number of bytes for messages.
func size(n int64) string {
	if n >= 1<<20 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d bytes", n)
}
