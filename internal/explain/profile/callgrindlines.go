package profile

import (
	"cmp"
	"io"
	"slices"
	"strconv"
	"strings"
)

// SourceLine is a line of a source file. Callgrind knows it if the program has debug information.
type SourceLine struct {
	File string
	Line int
}

// HotLine is a line with its share of all instructions, from 0 to 1.
type HotLine struct {
	SourceLine
	Share float64
}

// maxLines is the max number of source lines of a callgrind file that are counted.
const maxLines = 1 << 20

// CallgrindLines returns the n source lines with most instructions, in the output of valgrind --tool=callgrind. The
// list is empty if the program has no debug information.
func CallgrindLines(r io.Reader, n int) ([]HotLine, error) {
	data, err := readAll(r)
	if err != nil {
		return nil, err
	}
	c, err := parseCallgrind(data)
	if err != nil {
		return nil, err
	}
	if len(c.totals) == 0 || c.totals[0] <= 0 {
		return nil, ErrNothingCollected
	}
	var list []HotLine
	for at, instructions := range c.lines {
		list = append(list, HotLine{at, instructions / c.totals[0]})
	}
	slices.SortFunc(list, func(a, b HotLine) int {
		return cmp.Or(cmp.Compare(b.Share, a.Share), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return list[:min(len(list), n)], nil
}

// file returns the name of a file in a line such as fl=(3) kernel.c. A name appears once; later lines have only its
// number.
func (c *callgrind) file(value string) string {
	id, name, ok := strings.Cut(value, ")")
	if !ok || !strings.HasPrefix(id, "(") {
		return knownFile(value)
	}
	if name = strings.TrimSpace(name); name == "" {
		return c.files[id]
	}
	if len(c.files) < maxFunctions {
		c.files[id] = knownFile(name)
	}
	return knownFile(name)
}

// knownFile returns the name of a file; empty for callgrind's mark of an unknown one.
func knownFile(name string) string {
	if name == "???" {
		return ""
	}
	return truncated(name, maxFunctionLen)
}

// move changes the current line, which may be relative to the last one.
func (c *callgrind) move(text string) {
	if text == "*" {
		return
	}
	n, err := strconv.Atoi(text)
	switch {
	case err != nil:
		c.at.Line = 0
	case text[0] == '+' || text[0] == '-':
		c.at.Line += n
	default:
		c.at.Line = n
	}
}
