package pointcodec

import (
	"encoding/binary"
	"fmt"

	"github.com/goatnote-inc/pawl/client"
)

// PackIDs encodes ascending ids of series as differences. They are small: a run measures the series of a
// suite, and most were added together.
func PackIDs(ids []int64) []byte {
	out := make([]byte, 0, len(ids)+8)
	var last int64
	for _, id := range ids {
		out = binary.AppendUvarint(out, uint64(id-last))
		last = id
	}
	return out
}

// UnpackIDs decodes what PackIDs encoded.
func UnpackIDs(packed []byte) ([]int64, error) {
	var ids []int64
	last := int64(0)
	for len(packed) > 0 {
		d, n := binary.Uvarint(packed)
		if n <= 0 || d > 1<<62 || len(ids) >= client.MaxPoints {
			return nil, fmt.Errorf("the list of its series is damaged after %d entries", len(ids))
		}
		packed, last = packed[n:], last+int64(d)
		ids = append(ids, last)
	}
	return ids, nil
}
