package host

import (
	"io"
	"io/fs"
	"math"
	"strconv"
	"strings"
)

// maxFile bounds the bytes read from one file: /proc/cpuinfo of a machine with a
// thousand cores is about 2 MiB.
const maxFile = 8 << 20

// System is the root folder of a machine, with the files of its kernel.
type System struct{ fs.FS }

// Text reads a small file. A missing or unreadable file is empty, because every
// kernel lacks some of them.
func (s System) Text(name string) string {
	f, err := s.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// number reads a file that holds one number; ok is false if there is none.
func (s System) number(name string) (v float64, ok bool) { return number(s.Text(name)) }

// number parses a count or measurement of the kernel: finite and not negative.
func number(text string) (v float64, ok bool) {
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || v < 0 || v > 1e15 || math.IsNaN(v) {
		return 0, false
	}
	return v, true
}

// glob lists paths. fs.Glob fails only on a bad pattern, and these are constants.
func (s System) glob(pattern string) []string {
	names, _ := fs.Glob(s, pattern)
	return names
}

// Field returns the value of the first "key : value" line.
func Field(text, key string) string {
	for line := range strings.Lines(text) {
		k, v, ok := strings.Cut(line, ":")
		if ok && strings.TrimSpace(k) == key {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

// bytes parses a size as the kernel writes it: "36608K", "32M", "24064312 kB".
func bytes(s string) int64 {
	digits := strings.TrimRight(s, "kKmMgGbB \t")
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	unit := strings.ToUpper(strings.TrimSpace(s[len(digits):]))
	shift := 0
	switch strings.TrimSuffix(unit, "B") {
	case "K":
		shift = 10
	case "M":
		shift = 20
	case "G":
		shift = 30
	}
	if n > (1<<62)>>shift {
		return 0
	}
	return n << shift
}
