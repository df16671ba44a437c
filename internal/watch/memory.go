package watch

import (
	"encoding/binary"
	"encoding/json"
	"hash/fnv"
	"math"

	"github.com/goatnote-inc/pawl/internal/trend"
)

// memory is what is kept of a series for the finder. The digest is that of the points
// it has seen and of how it looked at them: where one of them moved, came in between or
// went, the memory is of another series, and is left aside.
type memory struct {
	Digest uint64      `json:"digest"`
	Trend  trend.State `json:"trend"`
}

// recall is what the finder remembers of a history, and whether it does.
func recall(h History, s trend.Settings) (trend.State, bool) {
	var m memory
	if h.Known.Version != trend.Version || json.Unmarshal(h.Known.State, &m) != nil {
		return trend.State{}, false
	}
	if m.Trend.Points > len(h.Points) || m.Trend.Points < 0 || m.Digest != digest(h.Points[:m.Trend.Points], s) {
		return trend.State{}, false
	}
	return m.Trend, true
}

func remember(h History, s trend.Settings, st trend.State) []byte {
	b, err := json.Marshal(memory{Digest: digest(h.Points, s), Trend: st})
	if err != nil { // numbers only: it cannot
		return nil
	}
	return b
}

func digest(points []Point, s trend.Settings) uint64 {
	h := fnv.New64a()
	var b [16]byte
	if s.Higher {
		b[0] = 1
	}
	_, _ = h.Write(b[:1])
	for _, p := range points {
		binary.LittleEndian.PutUint64(b[:8], uint64(p.Report))
		binary.LittleEndian.PutUint64(b[8:], math.Float64bits(p.Value))
		_, _ = h.Write(b[:])
	}
	return h.Sum64()
}
