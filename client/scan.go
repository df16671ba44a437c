package client

import (
	"bytes"
	"fmt"
)

// maxObjects is how many objects all lists of a report have together, and the report itself.
const maxObjects = MaxPoints + MaxHistory + MaxBlobs + 16

// maxList is how many values a list inside a point, or inside another part, may have.
const maxList = 64

// scan looks at a body once, byte by byte, before anything is made of it: how deep it
// nests, how long its strings and lists are. A decoder that only then begins cannot be
// made to build more than the limits allow. Whether it is JSON is left to the decoder. It
// gives how many objects there are.
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
				return 0, &InvalidError{"", fmt.Sprintf("after byte %d: it nests more than %d deep", i, MaxDepth)}
			}
			if values[depth], array[depth] = 0, body[i] == '['; !array[depth] {
				objects++
			}
			if objects > maxObjects {
				return 0, &InvalidError{"", fmt.Sprintf("after byte %d: it has too many objects", i)}
			}
		case '}', ']':
			depth = max(depth-1, 0)
		case ',':
			values[depth]++
			if most := mostValues(depth); array[depth] && values[depth] >= most {
				return 0, &InvalidError{"", fmt.Sprintf("after byte %d: a list has more than %d values", i, most)}
			}
		case 'n':
			return 0, &InvalidError{"", fmt.Sprintf("after byte %d: null is no value: leave out what is not known", i)}
		}
	}
	return objects, nil
}

// mostValues bounds the lists of a report itself, and those inside of its parts.
func mostValues(depth int) int {
	if depth <= 2 {
		return MaxPoints
	}
	return maxList
}

type scanError string

func (e scanError) Error() string { return string(e) }

// scanString gives how many bytes there are up to and with the closing quote.
func scanString(b []byte) (int, error) {
	for i := 0; i < len(b) && i <= MaxText; i++ {
		switch b[i] {
		case '"':
			return i + 1, nil
		case '\\':
			// A NUL is a character of JSON and of no text that is stored anywhere.
			if bytes.HasPrefix(b[i:], []byte(`\u0000`)) {
				return 0, scanError("a string has the character NUL")
			}
			i++
		}
	}
	if len(b) > MaxText {
		return 0, scanError(fmt.Sprintf("a string has more than %d bytes", MaxText))
	}
	return 0, scanError("a string does not end")
}
