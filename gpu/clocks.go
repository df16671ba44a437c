package gpu

import (
	"fmt"
	"strconv"
	"strings"
)

// ClockPolicy says what the SM clock is held at while measuring. It is part of
// the testbed: numbers taken under different policies are not comparable.
type ClockPolicy struct {
	Mode ClockMode
	MHz  int // only with ClocksFixed
}

// ClockMode is the kind of a clock policy.
type ClockMode string

// The clock policies of a suite.
const (
	ClocksFree  ClockMode = "free" // whatever the device does by itself
	ClocksBase  ClockMode = "base" // the highest clock the card sustains at its power cap
	ClocksMax   ClockMode = "max"
	ClocksFixed ClockMode = "fixed"
)

// ParseClockPolicy reads "free", "base", "max" or a frequency such as "1500MHz".
func ParseClockPolicy(s string) (ClockPolicy, error) {
	switch mode := ClockMode(s); mode {
	case ClocksFree, ClocksBase, ClocksMax:
		return ClockPolicy{Mode: mode}, nil
	default:
	}
	mhz, err := strconv.Atoi(strings.TrimSuffix(s, "MHz"))
	if err != nil || !strings.HasSuffix(s, "MHz") || mhz <= 0 {
		return ClockPolicy{}, fmt.Errorf("clock policy %q: want free, base, max or a frequency such as 1500MHz", s)
	}
	return ClockPolicy{Mode: ClocksFixed, MHz: mhz}, nil
}

func (p ClockPolicy) String() string {
	switch p.Mode {
	case "":
		return string(ClocksFree)
	case ClocksFixed:
		return fmt.Sprintf("%dMHz", p.MHz)
	default:
		return string(p.Mode)
	}
}

// MarshalText writes the policy as a suite spells it.
func (p ClockPolicy) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText is ParseClockPolicy.
func (p *ClockPolicy) UnmarshalText(b []byte) error {
	policy, err := ParseClockPolicy(string(b))
	if err == nil {
		*p = policy
	}
	return err
}
