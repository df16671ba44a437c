package measure

import (
	"time"

	"github.com/goatnote-inc/pawl/gpu"
)

// Round is one fresh process per side, in the order they ran. Statistics must count rounds, not samples:
// samples within a round are correlated.
type Round struct {
	Index int      `json:"round"`
	Seed  uint64   `json:"seed,string"`     // seed of the inputs and the case order, the same for every side
	Order []string `json:"order,omitempty"` // implementations in the order they ran
	Cases []string `json:"cases,omitempty"` // case names in the order they were measured on every side
	Sides []Side   `json:"sides,omitempty"`

	// Dropped is the reason why the round does not count. Its samples are kept.
	Dropped string `json:"dropped,omitempty"`
}

// Side is one implementation's process in a round.
type Side struct {
	Implementation string     `json:"implementation"`
	Started        time.Time  `json:"started"`
	Seconds        float64    `json:"seconds"`
	Before         *gpu.State `json:"before,omitempty"`
	After          *gpu.State `json:"after,omitempty"` // includes reasons and the highest temperature seen in between
	Error          string     `json:"error,omitempty"`
}
