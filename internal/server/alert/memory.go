package alert

import (
	"encoding/binary"
	"encoding/json"
	"hash/fnv"
	"math"

	"github.com/goatnote-inc/pawl/internal/server/trend"
)

// finderState is the finder's stored state of a series. The digest covers the processed points and the
// settings. If a point was moved, inserted or removed, the digest does not match and the state is
// ignored.
type finderState struct {
	Digest uint64      `json:"digest"`
	Trend  trend.State `json:"trend"`
}

// recall returns the finder's stored state of a history, and whether it is usable.
func recall(h History, s trend.Settings) (trend.State, bool) {
	var m finderState
	if h.Known.Version != trend.Version || json.Unmarshal(h.Known.State, &m) != nil {
		return trend.State{}, false
	}
	if m.Trend.Points > len(h.Points) || m.Trend.Points < 0 || m.Digest != digest(h.Points[:m.Trend.Points], s) {
		return trend.State{}, false
	}
	return m.Trend, true
}

func remember(h History, s trend.Settings, st trend.State) []byte {
	b, err := json.Marshal(finderState{Digest: digest(h.Points, s), Trend: st})
	if err != nil { // cannot happen: it contains only numbers
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
