package ledger

import (
	"os"
	"time"
)

// WriteSlowly lets this process write a few bytes at a time.
func WriteSlowly(chunk int, pause time.Duration) {
	writeAt = func(f *os.File, b []byte, at int64) (int, error) {
		for n := 0; n < len(b); n += chunk {
			if _, err := f.WriteAt(b[n:min(n+chunk, len(b))], at+int64(n)); err != nil {
				return n, err
			}
			time.Sleep(pause)
		}
		return len(b), nil
	}
}
