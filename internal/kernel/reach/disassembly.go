package reach

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/kernel/build/cuda"
)

// block is the code from one symbol to the next.
type block struct {
	start, end uint64
	starts     []uint64 // of its instructions
	digest     string   // of its instructions and their offsets, without the addresses that they refer to
	refs       []uint64 // those addresses, in order
	indirect   bool     // a branch of it goes to a computed address
	falls      bool     // its last instruction continues to the next block
	stub       bool     // it starts with a jump to the address in a slot, the first of refs
	unknown    string   // why it is not known what it does; empty if it is
}

var (
	blockLine   = lazyregexp.New(`^([0-9a-f]{16}) <.*>:$`)
	codeLine    = lazyregexp.New(`^ *([0-9a-f]+):\t(.*)$`)
	ripRelative = lazyregexp.New(`(-?0x[0-9a-f]+)\(%rip\)`)
	padding     = lazyregexp.New(`^(cs |data16 )*(nop[wl]?\b|xchg +%ax,%ax$|int3$)`)
)

// prefixes come before the name of an instruction and do not change what it refers to.
var prefixes = []string{"bnd", "notrack", "rep", "repz", "repnz", "lock", "cs", "ds", "es", "ss", "fs", "gs", "data16", "addr32", "rex.W"}

// disassemble returns the code of the file by address. limit returns the end of the section at an address.
func disassemble(ctx context.Context, path string, limit func(uint64) uint64) ([]block, error) {
	objdump, err := exec.LookPath("objdump")
	if err != nil {
		return nil, errors.New("objdump is not installed")
	}
	text, err := cuda.Output(ctx, objdump, "-d", "-z", "-w", "--no-show-raw-insn", path)
	if err != nil {
		return nil, err
	}
	return readBlocks(text, limit)
}

// line is one instruction, without the names that objdump adds to addresses. The names come from the file, so nothing
// is read from them.
type line struct {
	at   uint64
	text string
}

// readBlocks parses the output of objdump.
func readBlocks(text string, limit func(uint64) uint64) ([]block, error) {
	var blocks []block
	var lines []line
	open := false
	finish := func(next uint64) {
		if open {
			b := &blocks[len(blocks)-1]
			if b.end = limit(b.start); next > b.start {
				b.end = min(b.end, next)
			}
			b.read(lines)
		}
		lines, open = nil, false
	}
	for row := range strings.Lines(text) {
		row = strings.TrimRight(row, "\n")
		if m := blockLine.FindStringSubmatch(row); m != nil {
			at, err := strconv.ParseUint(m[1], 16, 64)
			if err != nil {
				return nil, err
			}
			finish(at)
			blocks, open = append(blocks, block{start: at}), true
			continue
		}
		m := codeLine.FindStringSubmatch(row)
		if m == nil {
			if open && strings.TrimSpace(row) == "..." {
				return nil, errors.New("objdump leaves out code")
			}
			continue
		}
		at, err := strconv.ParseUint(m[1], 16, 64)
		if err != nil || !open {
			return nil, fmt.Errorf("objdump prints %.80q", row)
		}
		code := m[2]
		if i := strings.IndexAny(code, "<#"); i >= 0 {
			code = code[:i]
		}
		lines = append(lines, line{at, strings.TrimSpace(code)})
	}
	finish(0)
	slices.SortFunc(blocks, func(a, b block) int { return cmp.Compare(a.start, b.start) })
	return blocks, nil
}

// read fills the block from its instructions.
func (b *block) read(lines []line) {
	lines = b.trim(lines)
	h := sha256.New()
	b.falls = true
	for i, l := range lines {
		next := b.end
		if i+1 < len(lines) {
			next = lines[i+1].at
		}
		b.starts = append(b.starts, l.at)
		text := b.instruction(l, next)
		fmt.Fprintf(h, "%d %s\n", l.at-b.start, text)
		b.falls = !ends(text)
		if first := lines[0].text == "endbr64"; i == 0 && !first || i == 1 && first {
			name, operands := split(text)
			b.stub = name == "jmp" && operands == "*@(%rip)"
		}
	}
	fmt.Fprintf(h, "%d\n", b.end-b.start)
	b.digest = sum(h)
}

// trim drops the padding at the end, which depends on the neighbor. Assemblers start a long one with a jump over it.
func (b *block) trim(lines []line) []line {
	neighbor := fmt.Sprintf("%x", b.end)
	n := len(lines)
	for n > 0 && padding.MatchString(lines[n-1].text) {
		n--
	}
	if n < len(lines) && n > 1 && ends(lines[n-2].text) { // so that nothing runs into the jump
		if name, to := split(lines[n-1].text); name == "jmp" && to == neighbor {
			n--
		}
	}
	if n < len(lines) {
		b.end = lines[n].at
	}
	return lines[:n]
}

// instruction notes what an instruction refers to, and returns its text without addresses. next is the address of
// the instruction after it.
func (b *block) instruction(l line, next uint64) string {
	name, operands := split(l.text)
	switch {
	case strings.Contains(l.text, "(bad)"), strings.HasPrefix(name, "."), strings.Contains(l.text, "(%eip)"), next <= l.at:
		b.unknown = fmt.Sprintf("it has the unknown instruction %.40q", l.text)
	case strings.HasPrefix(name, "sysenter"), strings.HasPrefix(name, "syscall"), name == "int":
		b.unknown = "it calls the operating system"
	}
	if m := ripRelative.FindStringSubmatch(l.text); m != nil {
		distance, err := strconv.ParseInt(m[1], 0, 64)
		if err != nil {
			b.unknown = fmt.Sprintf("it has the unknown instruction %.40q", l.text)
		}
		b.refs = append(b.refs, next+uint64(distance)) // addresses wrap around
		return strings.Replace(l.text, m[0], "@(%rip)", 1)
	}
	if !branches(name) {
		return l.text
	}
	if strings.HasPrefix(operands, "*") {
		b.indirect = true
		return l.text
	}
	at, err := strconv.ParseUint(operands, 16, 64)
	if err != nil {
		b.unknown = fmt.Sprintf("it has the unknown branch %.40q", l.text)
		return l.text
	}
	b.refs = append(b.refs, at)
	return name + " @"
}

// split returns the name of an instruction and its operands, without prefixes.
func split(text string) (name, operands string) {
	for name, operands, _ = strings.Cut(text, " "); slices.Contains(prefixes, name); {
		name, operands, _ = strings.Cut(strings.TrimSpace(operands), " ")
	}
	return name, strings.TrimSpace(operands)
}

func branches(name string) bool {
	return strings.HasPrefix(name, "j") || strings.HasPrefix(name, "call") || strings.HasPrefix(name, "loop") || strings.HasPrefix(name, "xbegin") ||
		strings.HasPrefix(name, "ljmp") || strings.HasPrefix(name, "lcall")
}

// ends reports whether no instruction after this one is reached from it.
func ends(text string) bool {
	name, _ := split(text)
	return strings.HasPrefix(name, "ret") || strings.HasPrefix(name, "jmp") || name == "ud2" || name == "hlt"
}
