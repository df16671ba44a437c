package client

import (
	"bytes"
	"fmt"
)

// maxObjects is the maximum number of objects in a report, including the report itself.
const maxObjects = MaxPoints + MaxHistory + MaxBlobs + 16

// maxList is the maximum number of values in a list inside a point or another part.
const maxList = 64

// scan checks a body byte by byte before it is decoded: its nesting depth and the lengths of its strings
// and lists. This bounds what the decoder can be made to allocate. It does not check the JSON syntax, which
// the decoder does. It returns the number of objects.
func scan(body []byte) (objects int, err error) {
	var (
		depth  int
		values [MaxDepth + 1]int // commas at each depth
		array  [MaxDepth + 1]bool
	)
	for i := 0; i < len(body); i++ {
		switch body[i] {
		case '"':
			n, err := scanString(body[i+1:])
			if err != nil {
				return 0, &InvalidError{"", fmt.Sprintf("after byte %d: %s", i, err)}
			}
			i += n
		case '{', '[':
			if depth++; depth > MaxDepth {
				return 0, &InvalidError{"", fmt.Sprintf("after byte %d: nested more than %d levels deep", i, MaxDepth)}
			}
			if values[depth], array[depth] = 0, body[i] == '['; !array[depth] {
				objects++
			}
			if objects > maxObjects {
				return 0, &InvalidError{"", fmt.Sprintf("after byte %d: too many objects", i)}
			}
		case '}', ']':
			depth = max(depth-1, 0)
		case ',':
			values[depth]++
			if most := maxValues(depth); array[depth] && values[depth] >= most {
				return 0, &InvalidError{"", fmt.Sprintf("after byte %d: a list has more than %d values", i, most)}
			}
		case 'n':
			return 0, &InvalidError{"", fmt.Sprintf("after byte %d: null is not allowed: leave out unknown values", i)}
		}
	}
	return objects, nil
}

// maxValues returns the maximum length of a list at a depth: of the report itself, or inside its parts.
func maxValues(depth int) int {
	if depth <= 2 {
		return MaxPoints
	}
	return maxList
}

type scanError string

func (e scanError) Error() string { return string(e) }

// scanString returns the number of bytes up to and including the closing quote.
func scanString(b []byte) (int, error) {
	for i := 0; i < len(b) && i <= MaxText; i++ {
		switch b[i] {
		case '"':
			return i + 1, nil
		case '\\':
			// NUL is valid in JSON, but not in any stored text.
			if bytes.HasPrefix(b[i:], []byte(`\u0000`)) {
				return 0, scanError("a string contains NUL")
			}
			i++
		}
	}
	if len(b) > MaxText {
		return 0, scanError(fmt.Sprintf("a string has more than %d bytes", MaxText))
	}
	return 0, scanError("a string is not terminated")
}
