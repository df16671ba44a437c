package correctness

import (
	"fmt"
	"strconv"
	"strings"
)

// Number is a float64 that is text in JSON, because JSON has no NaN and no infinity.
type Number float64

// MarshalText writes six digits, or NaN, Inf, -Inf, for human readers.
func (n Number) MarshalText() ([]byte, error) {
	return []byte(n.String()), nil
}

// UnmarshalText parses the output of MarshalText.
func (n *Number) UnmarshalText(b []byte) error {
	x, err := strconv.ParseFloat(string(b), 64)
	if err != nil {
		return fmt.Errorf("%.40q is not a number", b)
	}
	*n = Number(x)
	return nil
}

func (n Number) String() string {
	return strings.TrimPrefix(strconv.FormatFloat(float64(n), 'g', 6, 64), "+")
}
