package gpu

import (
	"fmt"
	"strconv"
	"strings"
)

// ClockPolicy says how the SM clock is set while measuring. It is part of the testbed: numbers taken
// under different policies are not comparable.
type ClockPolicy struct {
	Mode ClockMode
	MHz  int // set only with ClocksFixed
}

// ClockMode is the kind of clock policy.
type ClockMode string

// The clock policies that a suite can choose.
const (
	ClocksFree  ClockMode = "free" // the device chooses its clock
	ClocksBase  ClockMode = "base" // the highest clock the card sustains at its power cap
	ClocksMax   ClockMode = "max"
	ClocksFixed ClockMode = "fixed"
)

// ParseClockPolicy parses "free", "base", "max" or a frequency such as "1500MHz".
func ParseClockPolicy(s string) (ClockPolicy, error) {
	switch mode := ClockMode(s); mode {
	case ClocksFree, ClocksBase, ClocksMax:
		return ClockPolicy{Mode: mode}, nil
	default:
	}
	mhz, err := strconv.Atoi(strings.TrimSuffix(s, "MHz"))
	if err != nil || !strings.HasSuffix(s, "MHz") || mhz <= 0 {
		return ClockPolicy{}, fmt.Errorf("clock policy %q: must be free, base, max or a frequency such as 1500MHz", s)
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

// MarshalText returns the policy as written in a suite.
func (p ClockPolicy) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText parses the policy as ParseClockPolicy does.
func (p *ClockPolicy) UnmarshalText(b []byte) error {
	policy, err := ParseClockPolicy(string(b))
	if err == nil {
		*p = policy
	}
	return err
}
