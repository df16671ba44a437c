package cuda

import (
	"slices"
	"strconv"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
)

// Limits on what is kept of a log. Real logs are far below.
const (
	maxEntries = 100_000
	maxRemarks = 20
	maxLine    = 16 << 10
)

// Log holds what ptxas printed in the log of a build.
type Log struct {
	Entries   []Entry
	Overflows []Overflow
}

// Entry is a kernel as ptxas -v describes it, for one architecture.
type Entry struct {
	Symbol    string
	Arch      string
	Registers int
	Shared    int // static
	Stack     int // its own frame, or including what it calls if ptxas reports that
	Local     int
	Constant  int // of all banks
	Barriers  int
	// SpillStores and SpillLoads include those of functions that are not inlined, which ptxas
	// lists after the kernel: a kernel without spills may call a function that spills.
	SpillStores, SpillLoads int
	Remarks                 []string
	Told                    bool // its properties were printed
}

// Overflow is a kernel that does not compile because it uses too much static shared memory.
type Overflow struct {
	Symbol       string
	Arch         string // empty if unknown
	Bytes, Limit int
}

var (
	entryLine      = lazyregexp.New(`^ptxas info\s*: Compiling entry function '([^']+)' for '(sm_\w+)'`)
	propertiesLine = lazyregexp.New(`^ptxas info\s*: Function properties for '?([^\s']+)`)
	frameLine      = lazyregexp.New(`^\s+(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads`)
	usedLine       = lazyregexp.New(`^ptxas info\s*: Used (\d+) registers(.*)$`)
	usedPart       = lazyregexp.New(`used (\d+) barriers|(\d+) bytes cumulative stack size|(\d+) bytes smem|(\d+) bytes lmem|(\d+) bytes cmem\[\d+\]`)
	remarkLine     = lazyregexp.New(`^ptxas (?:info|warn|warning)\s*: (\(C\d+\) .*)$`)
	warningLine    = lazyregexp.New(`^ptxas warn(?:ing)?\s*: (.*)$`)
	overflowLine   = lazyregexp.New(`^ptxas error\s*: Entry function '([^']+)' uses too much shared data \((0x[0-9a-fA-F]+) bytes, (0x[0-9a-fA-F]+) max\)`)
	quoted         = lazyregexp.New(`'([^']+)'`)
)

// ReadPtxas parses the ptxas lines of a build log and skips all others. Parallel builds may mix their
// lines; what cannot be attributed is left out.
func ReadPtxas(text string) Log {
	r := ptxasReader{entry: -1, owner: -1, known: map[[2]string]int{}}
	for line := range strings.Lines(text) {
		if len(line) <= maxLine && (strings.HasPrefix(line, "ptxas ") || r.frame) {
			r.line(strings.TrimRight(line, "\r\n"))
		}
	}
	r.placeOverflows()
	return r.log
}

type ptxasReader struct {
	log   Log
	known map[[2]string]int // by symbol and architecture
	entry int               // index of the entry being compiled; -1 if none
	owner int               // index of the entry whose properties come next; -1 if none
	frame bool              // the next line describes the stack frame
	own   bool              // the properties are of the entry itself, not of a function it calls
}

func (r *ptxasReader) line(line string) {
	if r.frame {
		r.frame = false
		if m := frameLine.FindStringSubmatch(line); m != nil {
			r.properties(number(m[1]), number(m[2]), number(m[3]))
			return
		}
	}
	switch {
	case !strings.HasPrefix(line, "ptxas "):
	case r.compiling(line), r.function(line), r.used(line), r.overflow(line):
	default:
		r.remark(line)
	}
}

func (r *ptxasReader) compiling(line string) bool {
	m := entryLine.FindStringSubmatch(line)
	if m == nil {
		return false
	}
	key := [2]string{m[1], m[2]}
	i, ok := r.known[key]
	switch {
	case ok: // compiled again, in another file or variant: the last one wins
		r.log.Entries[i] = Entry{Symbol: m[1], Arch: m[2]}
	case len(r.log.Entries) == maxEntries:
		i = -1
	default:
		i = len(r.log.Entries)
		r.known[key] = i
		r.log.Entries = append(r.log.Entries, Entry{Symbol: m[1], Arch: m[2]})
	}
	r.entry, r.owner = i, -1
	return true
}

// function records whose properties come next: those of the entry, or of a function that it calls.
func (r *ptxasReader) function(line string) bool {
	m := propertiesLine.FindStringSubmatch(line)
	if m == nil {
		return false
	}
	r.owner, r.frame = r.entry, true
	if r.entry >= 0 {
		r.own = r.log.Entries[r.entry].Symbol == m[1]
	}
	return true
}

func (r *ptxasReader) properties(stack, stores, loads int) {
	if r.owner < 0 {
		return
	}
	e := &r.log.Entries[r.owner]
	e.Told = true
	if r.own {
		e.Stack = max(e.Stack, stack)
	}
	e.SpillStores += stores
	e.SpillLoads += loads
}

func (r *ptxasReader) used(line string) bool {
	m := usedLine.FindStringSubmatch(line)
	if m == nil {
		return false
	}
	if r.entry < 0 {
		return true
	}
	e := &r.log.Entries[r.entry]
	e.Registers = number(m[1])
	for _, part := range usedPart.FindAllStringSubmatch(m[2], 64) {
		for i, to := range []*int{&e.Barriers, &e.Stack, &e.Shared, &e.Local} {
			if part[i+1] != "" {
				*to = number(part[i+1])
			}
		}
		e.Constant += number(part[5])
	}
	return true
}

func (r *ptxasReader) overflow(line string) bool {
	m := overflowLine.FindStringSubmatch(line)
	if m == nil {
		return false
	}
	if len(r.log.Overflows) < maxEntries {
		r.log.Overflows = append(r.log.Overflows, Overflow{Symbol: m[1], Bytes: number(m[2]), Limit: number(m[3])})
	}
	return true
}

// remark adds a remark of ptxas to the kernel it names, or else to the one being compiled.
func (r *ptxasReader) remark(line string) {
	m := remarkLine.FindStringSubmatch(line)
	if m == nil {
		m = warningLine.FindStringSubmatch(line)
	}
	if m == nil {
		return
	}
	at := r.entry
	for _, q := range quoted.FindAllStringSubmatch(m[1], 8) {
		i := slices.IndexFunc(r.log.Entries, func(e Entry) bool { return e.Symbol == q[1] })
		if i >= 0 && (at < 0 || r.log.Entries[at].Symbol != q[1]) {
			at = i
		}
	}
	if at < 0 {
		return
	}
	if e := &r.log.Entries[at]; len(e.Remarks) < maxRemarks && !slices.Contains(e.Remarks, m[1]) {
		e.Remarks = append(e.Remarks, m[1])
	}
}

// placeOverflows sets the architectures of overflows: ptxas prints the error before the entry.
func (r *ptxasReader) placeOverflows() {
	for i := range r.log.Overflows {
		o := &r.log.Overflows[i]
		j := slices.IndexFunc(r.log.Entries, func(e Entry) bool { return e.Symbol == o.Symbol && e.Shared == o.Bytes })
		if j >= 0 {
			o.Arch = r.log.Entries[j].Arch
		}
	}
}

// maxNumber is the maximum of every number that is read, far above any real value.
const maxNumber = 1 << 40

// number parses decimal digits, or hexadecimal ones after 0x. It limits the result to most.
func number(s string) int {
	if s == "" {
		return 0
	}
	n, err := strconv.ParseUint(s, 0, 63)
	if s[0] == '0' && len(s) > 1 && s[1] != 'x' {
		n, err = strconv.ParseUint(s, 10, 63) // a leading zero does not mean octal
	}
	if err != nil || n > maxNumber {
		return maxNumber
	}
	return int(n)
}
