package cuda

import (
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
)

// Usage is the resource usage of one device function, as read by cuobjdump -res-usage from a compiled
// file.
type Usage struct {
	Symbol    string
	Arch      string // empty for a bare cubin, for which cuobjdump does not print it
	Registers int
	Stack     int // including what it calls
	Shared    int // static; from sm_90 on including what the system reserves
	Local     int
	Constant  int // of all banks
}

var (
	archLine     = lazyregexp.New(`^arch = (sm_\w+)\s*$`)
	functionLine = lazyregexp.New(`^\s+Function (\S+):\s*$`)
	usagePart    = lazyregexp.New(`\b(REG|STACK|SHARED|LOCAL|CONSTANT)(?:\[\d+\])?:(\d+)`)
)

// ReadUsage parses the output of cuobjdump -res-usage, which has a block per architecture.
func ReadUsage(text string) []Usage {
	var list []Usage
	arch, symbol := "", ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if len(line) > maxLine || len(list) == maxEntries {
			continue
		}
		if strings.HasPrefix(line, "Fatbin ") { // PTX and code are in separate blocks
			arch, symbol = "", ""
			continue
		}
		if m := archLine.FindStringSubmatch(line); m != nil {
			arch = m[1]
			continue
		}
		if m := functionLine.FindStringSubmatch(line); m != nil {
			symbol = m[1]
			continue
		}
		if symbol == "" {
			continue
		}
		u := Usage{Symbol: symbol, Arch: arch}
		symbol = ""
		parts := usagePart.FindAllStringSubmatch(line, 128)
		for _, p := range parts {
			switch n := number(p[2]); p[1] {
			case "REG":
				u.Registers = n
			case "STACK":
				u.Stack = n
			case "SHARED":
				u.Shared = n
			case "LOCAL":
				u.Local = n
			case "CONSTANT":
				u.Constant += n
			}
		}
		if len(parts) > 0 {
			list = append(list, u)
		}
	}
	return list
}
