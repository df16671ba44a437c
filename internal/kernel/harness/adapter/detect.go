package adapter

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
)

// outline holds what the head of a source reveals: the paths of the JSON members
// seen ("benchmarks[].states"), with the value if it is a short string, or
// whether it looks like Go benchmark output or a table of nccl-tests.
type outline struct {
	members   map[string]string
	goLines   bool
	ncclTable bool
}

func (o outline) has(paths ...string) bool {
	for _, p := range paths {
		if _, ok := o.members[p]; !ok {
			return false
		}
	}
	return true
}

// recognise returns the format of a source from its head: the first 64 KiB, or all of
// it. It reports ok only if exactly one format matches.
func recognise(head []byte) (found format, ok bool) {
	o := sketch(head)
	for _, f := range formats {
		if f.detect(o) {
			if ok {
				return format{}, false
			}
			found, ok = f, true
		}
	}
	return found, ok
}

var zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}

// isPawlRecord reports whether the source is a pawl record, by its schema or its
// compression: measure compresses large records, and no other tool here does.
func isPawlRecord(head []byte) bool {
	if bytes.HasPrefix(head, zstdMagic) {
		return true
	}
	schema := sketch(head).members["schema"]
	return strings.HasPrefix(schema, "pawl.run/") || strings.HasPrefix(schema, "pawl.journal/")
}

var (
	goResult = lazyregexp.New(`(?m)^Benchmark\S*[ \t]+\d+[ \t]+[0-9][0-9.e+-]*[ \t]+[^\s0-9]`)
	goConfig = lazyregexp.New(`(?m)^(goos|goarch|pkg): \S`)
)

func sketch(head []byte) outline {
	head = bytes.TrimPrefix(head, []byte("\ufeff"))
	head = head[:min(len(head), headBytes)]
	text := bytes.TrimSpace(head)
	if len(text) == 0 {
		return outline{}
	}
	if text[0] != '{' && ncclHeader.Match(text) { // mpirun may tag its lines: "[1,0]<stdout>:"
		return outline{ncclTable: true}
	}
	if text[0] != '{' && text[0] != '[' {
		if goResult.Match(text) || goConfig.Match(text) {
			return outline{goLines: true}
		}
	}
	if text[0] != '{' && !isListStart(text) {
		// A program may print other text before its results.
		i := bytes.Index(text, []byte("\n{"))
		if i < 0 {
			return outline{}
		}
		text = text[i+1:]
	}
	return outline{members: members(text)}
}

// isListStart distinguishes a list of objects from a log line such as "[INFO] ready".
func isListStart(text []byte) bool {
	if len(text) == 0 || text[0] != '[' {
		return false
	}
	rest := bytes.TrimLeft(text[1:], " \t\r\n")
	return len(rest) > 0 && (rest[0] == '{' || rest[0] == ']')
}

const (
	outlineDepth = 4
	outlineValue = 64
)

// members walks the first JSON value of a text that may be cut off anywhere. An
// array adds "[]" to the path of its elements. A list at the top adds nothing, so
// that a list of records looks like a record.
func members(text []byte) map[string]string {
	found := map[string]string{}
	tame, err := sanitizeJSON(text)
	if err != nil {
		return found
	}
	d := jsontext.NewDecoder(bytes.NewReader(tame), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	var stack []string // the path of each open object or array
	at := ""           // the path of the next value
	for {
		token, err := d.ReadToken()
		if err != nil {
			return found
		}
		depth := d.StackDepth()
		switch kind := token.Kind(); kind {
		case '{', '[':
			if kind == '[' && at != "" {
				at += "[]"
			}
			stack = append(stack, at)
		case '}', ']':
			stack = stack[:len(stack)-1]
			if depth == 0 {
				return found
			}
			at = stack[len(stack)-1]
		default:
			parent, length := d.StackIndex(depth)
			if parent == '{' && length%2 == 1 { // a member's name
				at = join(stack[len(stack)-1], token.String())
				if depth <= outlineDepth {
					found[at] = ""
				}
				continue
			}
			if s := token.String(); kind == '"' && depth <= outlineDepth && len(s) <= outlineValue && parent == '{' {
				found[at] = s
			}
			if depth == 0 {
				return found
			}
			at = stack[len(stack)-1]
		}
	}
}

func join(parent, name string) string {
	if parent == "" {
		return name
	}
	return parent + "." + name
}
