package codeid

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"iter"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
)

// A function of a linked program has different bytes in two builds: calls and references are
// relative addresses, which change when anything in between moves. So the disassembly is hashed, in
// which they are names. References to data without a name (literal constants) are hashed as "data",
// and the read-only data of the program has its own digest.

// Function is a host function with the digest of its instructions.
type Function struct {
	Name   string // mangled
	Digest string
}

var (
	sectionLine = lazyregexp.New(`^Disassembly of section (\S+):$`)
	symbolLine  = lazyregexp.New(`^[0-9a-f]+ <(.+)>:$`)
	codeLine    = lazyregexp.New(`^\s+[0-9a-f]+:\t(.*)$`)
	toCode      = lazyregexp.New(`\b[0-9a-f]+ <([^>]+)>`)
	toData      = lazyregexp.New(`\s*# [0-9a-f]+ <([^>]+)>`)
	distance    = lazyregexp.New(`-?0x[0-9a-f]+\(%rip\)`)
	relocated   = lazyregexp.New(`\t[0-9a-f]+: (R_\w+\s+)`)
	unnamed     = lazyregexp.New(`(R_\w+\s+)\.\S+`)
	padding     = lazyregexp.New(`^(cs |data16 )*(nop[wl]?\b|xchg   %ax,%ax|int3)`)
)

// compilerFunctions lists functions that the compiler adds to every program.
var compilerFunctions = []string{
	"_start", "_init", "_fini", "deregister_tm_clones", "register_tm_clones", "__do_global_dtors_aux", "frame_dummy", "_dl_relocate_static_pie",
}

const (
	maxFunctions = 200_000
	maxLine      = 16 << 10
)

// ReadDisassembly parses the output of objdump -d -r -w --no-show-raw-insn. Functions with the same
// name, which several files may define locally, are combined into one.
func ReadDisassembly(text string) []Function {
	found := map[string][]string{}
	for name, lines := range functions(text) {
		found[name] = append(found[name], digestOfCode(lines))
	}
	list := make([]Function, 0, len(found))
	for name, digests := range found {
		if len(digests) == 1 {
			list = append(list, Function{name, digests[0]})
			continue
		}
		slices.Sort(digests)
		h := sha256.New()
		h.Write([]byte(strings.Join(digests, "\n")))
		list = append(list, Function{name, digestOf(h)})
	}
	slices.SortFunc(list, func(a, b Function) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// functions yields the name and lines of every function of the program's own code.
func functions(text string) iter.Seq2[string, []string] {
	return func(yield func(string, []string) bool) {
		known := map[string]bool{}
		var lines []string
		name, skip := "", false // skip: a section that is not the program's own code
		for line := range strings.Lines(text) {
			if len(line) > maxLine {
				continue
			}
			line = strings.TrimRight(line, "\r\n")
			section, symbol := sectionLine.FindStringSubmatch(line), symbolLine.FindStringSubmatch(line)
			if section == nil && symbol == nil {
				if name != "" {
					lines = append(lines, line)
				}
				continue
			}
			if name != "" && !yield(name, lines) {
				return
			}
			name, lines = "", lines[:0]
			switch {
			case section != nil:
				skip = !strings.HasPrefix(section[1], ".text")
			case !skip && !slices.Contains(compilerFunctions, symbol[1]) && len(known) < maxFunctions:
				name = symbol[1]
				known[name] = true
			}
		}
		if name != "" {
			yield(name, lines)
		}
	}
}

// digestOfCode returns the digest of a function's instructions, without the padding after the last
// one.
func digestOfCode(lines []string) string {
	h := sha256.New()
	var pending []string // padding, dropped if nothing follows
	for _, line := range lines {
		m := codeLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		code := plain(m[1])
		if padding.MatchString(code) {
			if len(pending) < 64 {
				pending = append(pending, code)
			}
			continue
		}
		for _, p := range append(pending, code) {
			h.Write([]byte(p + "\n"))
		}
		pending = pending[:0]
	}
	return digestOf(h)
}

// plain returns an instruction without the parts that depend on addresses.
func plain(code string) string {
	code = toData.ReplaceAllStringFunc(code, func(s string) string {
		name := toData.FindStringSubmatch(s)[1]
		if strings.Contains(name, "+0x") {
			name = "data" // only the nearest name, not its own
		}
		return " # " + name
	})
	code = distance.ReplaceAllString(code, "(%rip)")
	code = relocated.ReplaceAllString(code, "\t$1")
	code = unnamed.ReplaceAllString(code, "${1}data")
	return strings.TrimRight(toCode.ReplaceAllString(code, "<$1>"), " \t")
}

func digestOf(h hash.Hash) string { return "sha256:" + hex.EncodeToString(h.Sum(nil)) }
