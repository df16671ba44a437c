package cuda

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/measure"
)

// Sass is the instruction mix of one device function for one architecture.
type Sass struct {
	Symbol string
	Arch   string
	Mix    measure.Mix
}

// maxInstructions is the maximum number of instructions kept of one function. The largest kernels
// have a few hundred thousand.
const maxInstructions = 4 << 20

var (
	sassArch     = lazyregexp.New(`^\s*code for (sm_\w+)\s*$`)
	sassFunction = lazyregexp.New(`^\s*Function : (\S+)\s*$`)
	// An instruction has an address, an optional predicate, a name with suffixes, and operands.
	sassCode   = lazyregexp.New(`^\s*/\*([0-9a-f]{4,16})\*/\s+(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9_.]*)\s*([^;]*);`)
	sassTarget = lazyregexp.New(`(?:^|[\s,(])0x([0-9a-f]+)\)?\s*$`)
)

// Mixes disassembles all device code of a file and counts its instructions.
func Mixes(ctx context.Context, path string) ([]Sass, error) {
	tool, err := Tool("cuobjdump")
	if err != nil {
		return nil, fmt.Errorf("disassemble %s: %w", path, err)
	}
	text, err := run(ctx, "", "", tool, "-sass", path)
	if err != nil {
		return nil, fmt.Errorf("disassemble: %w", err)
	}
	list := ReadSass(text)
	if len(list) == 0 {
		return nil, fmt.Errorf("disassemble %s: %w", path, errors.New("cuobjdump -sass lists no function: compile it for an architecture (-arch=sm_89), not only to PTX"))
	}
	return list, nil
}

// ReadSass parses the output of cuobjdump -sass, which has a block per architecture and in it one
// per function.
func ReadSass(text string) []Sass {
	var r sassReader
	for line := range strings.Lines(text) {
		if len(line) <= maxLine {
			r.line(strings.TrimRight(line, "\r\n"))
		}
	}
	r.end()
	return r.list
}

type sassReader struct {
	list         []Sass
	arch, symbol string
	code         []measure.Instruction
}

func (r *sassReader) line(line string) {
	if m := sassCode.FindStringSubmatch(line); m != nil {
		if r.symbol == "" || len(r.code) == maxInstructions || m[2] == "NOP" {
			return // padding is not part of a function
		}
		at, err := strconv.ParseUint(m[1], 16, 64)
		if err != nil {
			return
		}
		in := measure.Instruction{At: at}
		in.Class, in.Bytes = classify(m[2], m[3])
		if t := sassTarget.FindStringSubmatch(m[3]); t != nil && strings.HasPrefix(m[2], "BRA") {
			in.To, err = strconv.ParseUint(t[1], 16, 64)
			in.Jumps = err == nil
		}
		r.code = append(r.code, in)
		return
	}
	if m := sassFunction.FindStringSubmatch(line); m != nil {
		r.end()
		r.symbol = m[1]
	} else if m := sassArch.FindStringSubmatch(line); m != nil {
		r.end()
		r.arch = m[1]
	}
}

func (r *sassReader) end() {
	if r.symbol != "" && r.arch != "" && len(r.code) > 0 && len(r.list) < maxEntries {
		if n := len(r.code); r.code[n-1].Jumps && r.code[n-1].To == r.code[n-1].At {
			r.code = r.code[:n-1] // a jump to itself follows the last instruction
		}
		r.list = append(r.list, Sass{Symbol: r.symbol, Arch: r.arch, Mix: measure.CountMix(r.code)})
	}
	r.symbol, r.code = "", r.code[:0]
}
