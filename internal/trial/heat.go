package trial

import "time"

const (
	warmBusy = 300 * time.Millisecond // a device needs this long under load to raise its clocks
	warmFor  = 100 * time.Millisecond // and keeps them for as long as this without any
)

// heat is when the device last worked, whichever side it was for. Nil is a device that is always cold.
type heat struct{ last time.Time }

// needs is how long the device has to work before it is warm.
func (h *heat) needs() time.Duration {
	if h != nil && now().Sub(h.last) < warmFor {
		return 0
	}
	return warmBusy
}

func (h *heat) worked() {
	if h != nil {
		h.last = now()
	}
}
