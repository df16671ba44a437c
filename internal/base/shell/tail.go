package shell

import (
	"slices"
	"sync"
)

// Tail keeps the end of what is written to it, at most Max bytes. Several goroutines may write.
type Tail struct {
	Max int

	mu   sync.Mutex
	text []byte
}

// Write never fails.
func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if len(t.text) > 2*t.Max { // not at every write
		t.text = slices.Clone(t.text[len(t.text)-t.Max:])
	}
	return len(p), nil
}

// Bytes returns a copy of what is kept.
func (t *Tail) Bytes() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.text[max(0, len(t.text)-t.Max):])
}
