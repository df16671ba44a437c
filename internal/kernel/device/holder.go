package device

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/user"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Holder describes the process that measures on a device. It is read from the lock file,
// which any user may write: it helps users find each other, but it is not trusted.
type Holder struct {
	PID     int       `json:"pid"`
	User    string    `json:"user,omitempty"`
	Command string    `json:"command,omitempty"`
	Host    string    `json:"host,omitempty"` // for a container its name, by which it can be found
	Since   time.Time `json:"since"`
}

func (h Holder) String() string {
	if h.PID == 0 {
		return "another process"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "process %d", h.PID)
	if h.Command != "" {
		fmt.Fprintf(&b, " (%s)", h.Command)
	}
	if h.User != "" {
		fmt.Fprintf(&b, " of %s", h.User)
	}
	if h.Host != "" {
		fmt.Fprintf(&b, " on %s", h.Host)
	}
	if !h.Since.IsZero() {
		fmt.Fprintf(&b, " since %s", h.Since.Format(time.RFC3339))
	}
	return b.String()
}

const maxHolder = 4 << 10

// self returns the Holder of this process.
func self(command string, now time.Time) Holder {
	h := Holder{PID: os.Getpid(), User: strconv.Itoa(os.Getuid()), Command: command, Since: now.UTC().Truncate(time.Second)}
	if u, err := user.Current(); err == nil {
		h.User = u.Username
	}
	h.Host, _ = os.Hostname()
	return h.clean()
}

// write writes the holder into the lock file. It only informs waiting processes, so it
// may fail: a read-only file still locks.
func (h Holder) write(f *os.File) {
	b, err := json.Marshal(h)
	if err == nil && f.Truncate(0) == nil {
		_, _ = f.WriteAt(append(b, '\n'), 0)
	}
}

// readHolder reads the holder of the lock. It is zero while the holder is still writing it.
func readHolder(f *os.File) Holder {
	b := make([]byte, maxHolder)
	n, err := f.ReadAt(b, 0)
	if err != nil && err != io.EOF {
		return Holder{}
	}
	return decodeHolder(b[:n])
}

func decodeHolder(b []byte) Holder {
	var h Holder
	if json.Unmarshal(b, &h) != nil || h.PID < 0 {
		return Holder{}
	}
	return h.clean()
}

// clean removes characters from untrusted text that could affect a terminal.
func (h Holder) clean() Holder {
	h.User, h.Command, h.Host = printable(h.User), printable(h.Command), printable(h.Host)
	return h
}

func printable(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, s)
	if r := []rune(s); len(r) > 120 {
		s = string(r[:120]) + "..."
	}
	return s
}
