package gpu

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Reasons is the set of reasons a device reports for not running at its highest clock, as NVML's bit
// mask. In JSON it is a list of names.
type Reasons uint64

// The bits as NVML defines them (nvmlClocksEventReason*).
const (
	Idle            Reasons = 0x001
	ClocksSetting   Reasons = 0x002
	SWPowerCap      Reasons = 0x004
	HWSlowdown      Reasons = 0x008
	SyncBoost       Reasons = 0x010
	SWThermal       Reasons = 0x020
	HWThermal       Reasons = 0x040
	HWPowerBrake    Reasons = 0x080
	DisplayClock    Reasons = 0x100
	BoardLimit      Reasons = 0x200
	Reliability     Reasons = 0x400
	reasonsSpoiling         = HWSlowdown | SWThermal | HWThermal | HWPowerBrake
)

var reasonNames = []struct {
	bit  Reasons
	name string
}{
	{Idle, "idle"},
	{ClocksSetting, "clocks_setting"},
	{SWPowerCap, "sw_power_cap"},
	{HWSlowdown, "hw_slowdown"},
	{SyncBoost, "sync_boost"},
	{SWThermal, "sw_thermal"},
	{HWThermal, "hw_thermal"},
	{HWPowerBrake, "hw_power_brake"},
	{DisplayClock, "display_clock"},
	{BoardLimit, "board_limit"},
	{Reliability, "reliability"},
}

// firstUnnamed is the lowest bit without a name.
const firstUnnamed = 11

// Invalidating returns the reasons that invalidate a round, because the hardware and not the code determined
// its speed. A software power cap is not one of them: power-capped cards always run at the cap, and the
// code itself draws the power.
func (r Reasons) Invalidating() Reasons { return r & reasonsSpoiling }

// Names returns the names of the reasons, lowest bit first. Unknown bits become "bit_N", so that reasons
// of newer drivers survive storage.
func (r Reasons) Names() []string {
	var names []string
	for _, n := range reasonNames {
		if r&n.bit != 0 {
			names = append(names, n.name)
		}
	}
	for bit := firstUnnamed; bit < 64; bit++ {
		if r&(1<<bit) != 0 {
			names = append(names, fmt.Sprintf("bit_%d", bit))
		}
	}
	return names
}

func (r Reasons) String() string {
	if r == 0 {
		return "none"
	}
	return strings.Join(r.Names(), ", ")
}

// MarshalJSON encodes the reasons as a list of names.
func (r Reasons) MarshalJSON() ([]byte, error) { return json.Marshal(r.Names()) }

// UnmarshalJSON decodes a list of names. An unknown name is an error, because a dropped reason could turn
// a spoiled round into a valid one.
func (r *Reasons) UnmarshalJSON(b []byte) error {
	var names []string
	if err := json.Unmarshal(b, &names); err != nil {
		return fmt.Errorf("clock reasons: %w", err)
	}
	*r = 0
	for _, name := range names {
		bit, err := reasonBit(name)
		if err != nil {
			return err
		}
		*r |= bit
	}
	return nil
}

func reasonBit(name string) (Reasons, error) {
	for _, n := range reasonNames {
		if n.name == name {
			return n.bit, nil
		}
	}
	var bit int
	// Records written before bits 9 and 10 had names call them bit_9 and bit_10.
	if _, err := fmt.Sscanf(name, "bit_%d", &bit); err == nil && bit >= 9 && bit < 64 {
		return 1 << bit, nil
	}
	return 0, fmt.Errorf("clock reasons: unknown reason %q", name)
}
