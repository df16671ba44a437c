package codeid

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"regexp"
	"slices"
	"strings"
)

// A function of a linked program is not the same bytes in two builds: calls and
// references are distances, which change when anything between moves. So what is
// hashed is the disassembly, in which they are names. References to data that has no
// name of its own (literal constants) are hashed as "data", and the read-only data
// of the program gets a digest of its own.

// Function is a host function with the digest of its instructions.
type Function struct {
	Name   string // mangled
	Digest string
}

var (
	sectionLine = regexp.MustCompile(`^Disassembly of section (\S+):$`)
	symbolLine  = regexp.MustCompile(`^[0-9a-f]+ <(.+)>:$`)
	codeLine    = regexp.MustCompile(`^\s+[0-9a-f]+:\t(.*)$`)
	toCode      = regexp.MustCompile(`\b[0-9a-f]+ <([^>]+)>`)
	toData      = regexp.MustCompile(`\s*# [0-9a-f]+ <([^>]+)>`)
	distance    = regexp.MustCompile(`-?0x[0-9a-f]+\(%rip\)`)
	relocated   = regexp.MustCompile(`\t[0-9a-f]+: (R_\w+\s+)`)
	unnamed     = regexp.MustCompile(`(R_\w+\s+)\.\S+`)
	padding     = regexp.MustCompile(`^(cs |data16 )*(nop[wl]?\b|xchg   %ax,%ax|int3)`)
)

// foreign are functions that come with every program, from the compiler's own files.
var foreign = []string{
	"_start", "_init", "_fini", "deregister_tm_clones", "register_tm_clones", "__do_global_dtors_aux", "frame_dummy", "_dl_relocate_static_pie",
}

const (
	maxFunctions = 200_000
	maxLine      = 16 << 10
)

// ReadDisassembly reads the text of objdump -d -r -w --no-show-raw-insn. Functions of
// one name, as files may have of their own, are joined into one.
func ReadDisassembly(text string) []Function {
	r := disassembly{digests: map[string][]string{}}
	for line := range strings.Lines(text) {
		if len(line) <= maxLine {
			r.line(strings.TrimRight(line, "\r\n"))
		}
	}
	r.end()
	functions := make([]Function, 0, len(r.digests))
	for name, digests := range r.digests {
		if len(digests) == 1 {
			functions = append(functions, Function{name, digests[0]})
			continue
		}
		slices.Sort(digests)
		h := sha256.New()
		h.Write([]byte(strings.Join(digests, "\n")))
		functions = append(functions, Function{name, digestOf(h)})
	}
	slices.SortFunc(functions, func(a, b Function) int { return strings.Compare(a.Name, b.Name) })
	return functions
}

type disassembly struct {
	digests map[string][]string
	skip    bool   // a section that is not the program's own code
	name    string // of the function being read; empty for none
	hash    hash.Hash
	pending []string // padding, if nothing follows
}

func (r *disassembly) line(line string) {
	if m := sectionLine.FindStringSubmatch(line); m != nil {
		r.end()
		r.skip = !strings.HasPrefix(m[1], ".text")
		return
	}
	if m := symbolLine.FindStringSubmatch(line); m != nil {
		r.end()
		if !r.skip && !slices.Contains(foreign, m[1]) && len(r.digests) < maxFunctions {
			r.name, r.hash = m[1], sha256.New()
		}
		return
	}
	m := codeLine.FindStringSubmatch(line)
	if r.name == "" || m == nil {
		return
	}
	code := plain(m[1])
	if padding.MatchString(code) {
		if len(r.pending) < 64 {
			r.pending = append(r.pending, code)
		}
		return
	}
	for _, p := range append(r.pending, code) {
		r.hash.Write([]byte(p + "\n"))
	}
	r.pending = r.pending[:0]
}

// end closes a function. Padding behind its last instruction belongs to whatever
// comes next.
func (r *disassembly) end() {
	if r.name != "" {
		r.digests[r.name] = append(r.digests[r.name], digestOf(r.hash))
	}
	r.name, r.pending = "", r.pending[:0]
}

// plain is an instruction without what depends on where things stand.
func plain(code string) string {
	code = toData.ReplaceAllStringFunc(code, func(s string) string {
		name := toData.FindStringSubmatch(s)[1]
		if strings.Contains(name, "+0x") {
			name = "data" // the nearest name, not its own
		}
		return " # " + name
	})
	code = distance.ReplaceAllString(code, "(%rip)")
	code = relocated.ReplaceAllString(code, "\t$1")
	code = unnamed.ReplaceAllString(code, "${1}data")
	return strings.TrimRight(toCode.ReplaceAllString(code, "<$1>"), " \t")
}

func digestOf(h hash.Hash) string { return "sha256:" + hex.EncodeToString(h.Sum(nil)) }
