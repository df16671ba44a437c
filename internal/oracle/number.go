package oracle

import (
	"fmt"
	"strconv"
	"strings"
)

// Number is a float64 that JSON carries as text, because JSON has no NaN and no
// infinity.
type Number float64

// MarshalText writes six digits, or NaN, Inf, -Inf: it is for people.
func (n Number) MarshalText() ([]byte, error) {
	return []byte(n.String()), nil
}

// UnmarshalText reads what MarshalText writes.
func (n *Number) UnmarshalText(b []byte) error {
	x, err := strconv.ParseFloat(string(b), 64)
	if err != nil {
		return fmt.Errorf("%.40q is no number", b)
	}
	*n = Number(x)
	return nil
}

func (n Number) String() string {
	return strings.TrimPrefix(strconv.FormatFloat(float64(n), 'g', 6, 64), "+")
}
