package measure

import (
	"time"

	"github.com/goatnote-inc/pawl/gpu"
)

// Round is one fresh process per side, in the order they ran. Rounds, not
// samples, are what statistics may count: samples inside one are correlated.
type Round struct {
	Index int      `json:"round"`
	Seed  uint64   `json:"seed,string"`     // of the inputs and of the case order, the same on every side
	Order []string `json:"order,omitempty"` // implementations as they ran
	Cases []string `json:"cases,omitempty"` // case names as they were measured on every side
	Sides []Side   `json:"sides,omitempty"`

	// Dropped says why the round does not count. Its samples are kept.
	Dropped string `json:"dropped,omitempty"`
}

// Side is one implementation's process in a round.
type Side struct {
	Implementation string     `json:"implementation"`
	Started        time.Time  `json:"started"`
	Seconds        float64    `json:"seconds"`
	Before         *gpu.State `json:"before,omitempty"`
	After          *gpu.State `json:"after,omitempty"` // with the reasons and the highest temperature seen in between
	Error          string     `json:"error,omitempty"`
}
