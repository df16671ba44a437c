package shell

import "bytes"

// Head keeps the first bytes that are written to it, and drops the rest without an error, so that a program that prints too
// much does not fail.
type Head struct {
	bytes.Buffer
	Max  int
	Over bool // something was dropped
}

// Write never fails.
func (h *Head) Write(p []byte) (int, error) {
	room := max(0, h.Max-h.Len())
	h.Over = h.Over || len(p) > room
	h.Buffer.Write(p[:min(room, len(p))])
	return len(p), nil
}
