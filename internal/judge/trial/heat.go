package trial

import "time"

const (
	warmBusy = 300 * time.Millisecond // time under load that a device needs to raise its clocks
	warmFor  = 100 * time.Millisecond // time without load for which it keeps them
)

// deviceActivity records when the device last worked, for any side. Nil means a device that is always cold.
type deviceActivity struct{ last time.Time }

// warmUpTime returns how long the device must work before it is warm.
func (h *deviceActivity) warmUpTime() time.Duration {
	if h != nil && now().Sub(h.last) < warmFor {
		return 0
	}
	return warmBusy
}

func (h *deviceActivity) worked() {
	if h != nil {
		h.last = now()
	}
}
