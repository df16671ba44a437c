package gpu

import (
	"slices"
	"strings"
)

// Card is a GPU product. Peaks are dense (figures advertised "with sparsity" are twice as high), accumulating
// in FP32. Where sources differ, a cell holds the highest figure. Every cell may be unknown.
type Card struct {
	Name string `json:"name"`
	Arch string `json:"arch"`

	SMs          Cell[int]     `json:"sms,omitzero"`                // streaming multiprocessors, or AMD's compute units
	L2MB         Cell[float64] `json:"l2_mb,omitzero"`              // MiB
	L3MB         Cell[float64] `json:"l3_mb,omitzero"`              // MiB of AMD's Infinity Cache
	BoostMHz     Cell[int]     `json:"boost_mhz,omitzero"`          // the clock at which FP32 is stated
	TensorMHz    Cell[int]     `json:"tensor_mhz,omitzero"`         // the clock at which tensor peaks are stated, if it differs
	MemoryGB     Cell[int]     `json:"memory_gb,omitzero"`          // as advertised
	BusBits      Cell[int]     `json:"bus_bits,omitzero"`           // width of the memory bus
	PinGbps      Cell[float64] `json:"pin_gbps,omitzero"`           // data rate of one bit of the bus
	BandwidthGBs Cell[float64] `json:"bandwidth_gb_per_s,omitzero"` // DRAM bandwidth, in 10^9 bytes per second
	FP64Tensor   bool          `json:"fp64_tensor,omitzero"`        // whether the FP64 peak is that of the tensor cores

	TFLOPS map[DType]Cell[float64] `json:"tflops"`
	// FP16AccumTFLOPS holds the peaks when accumulating in FP16, where they are higher: GeForce cards halve the
	// rate when accumulating in FP32.
	FP16AccumTFLOPS map[DType]Cell[float64] `json:"tflops_fp16_accumulate,omitempty"`

	drivers []string // how drivers call it, besides its name
}

// Cards returns all known cards, NVIDIA's before AMD's, ordered by generation.
func Cards() []Card { return slices.Clone(cardTable()) }

// CardNames returns the names of all known cards.
func CardNames() []string {
	var names []string
	for _, c := range Cards() {
		names = append(names, c.Name)
	}
	return names
}

// FindCards returns the card with the given name or, if there is none, all cards whose names start with
// it: "a100" matches four cards. It ignores spaces, dashes, case and the words NVIDIA, Tesla, GeForce, AMD,
// Instinct and Radeon.
func FindCards(name string) []Card {
	key := cardKey(name)
	if key == "" {
		return nil
	}
	var begins []Card
	for _, c := range cardTable() {
		if slices.Contains(c.keys(), key) {
			return []Card{c}
		}
		if slices.ContainsFunc(c.keys(), func(k string) bool { return strings.HasPrefix(k, key) }) {
			begins = append(begins, c)
		}
	}
	return begins
}

// CardOf returns the card of a device. It returns false for a card that is not in the table, and for a MIG
// slice, which has only a share of the card's SMs and memory.
func CardOf(id Identity) (Card, bool) {
	if id.Parent != "" {
		return Card{}, false
	}
	key := cardKey(id.Name)
	for _, c := range cardTable() {
		if id.Kind == c.Kind() && slices.Contains(c.keys(), key) {
			return c, true
		}
	}
	return Card{}, false
}

// CardFor returns the card of a device or, if it is not in the table, a card with what the driver reports:
// SMs, memory and, where the driver gives clocks and bus, the FP32 peak and the bandwidth. It returns false
// if the driver reports none of these.
func CardFor(id Identity) (Card, bool) {
	if c, ok := CardOf(id); ok {
		return c, true
	}
	if id.Parent != "" || id.Kind == CPU {
		return Card{}, false
	}
	c := Card{Name: id.Name, TFLOPS: map[DType]Cell[float64]{}}
	if arch, err := FindArch(id.ComputeCapability); err == nil {
		c.Arch = arch.Name
	} else if id.Kind == AMD {
		c.Arch = id.ComputeCapability
	}
	if id.Units > 0 {
		c.SMs = certain(id.Units, fromDriver)
	}
	if id.CacheBytes > 0 && id.Kind == NVIDIA {
		c.L2MB = certain(float64(id.CacheBytes)/(kib*kib), fromDriver)
	}
	if id.MaxClockMHz > 0 {
		c.BoostMHz = certain(id.MaxClockMHz, fromDriver)
	}
	if id.MemoryBytes > 0 {
		c.MemoryGB = certain(int((id.MemoryBytes+1<<29)>>30), fromDriver)
	}
	if id.BandwidthGBs > 0 {
		c.BandwidthGBs = certain(id.BandwidthGBs, fromDriver)
	}
	if peak := c.derivedPeak(FP32); peak.Known() {
		c.TFLOPS[FP32] = peak
	}
	return c, c.BandwidthGBs.Known() || len(c.TFLOPS) > 0
}

// Kind returns the family of the card.
func (c Card) Kind() Kind {
	if strings.HasPrefix(c.Arch, "gfx") {
		return AMD
	}
	return NVIDIA
}

func (c Card) keys() []string {
	own := cardKey(c.Name)
	keys := []string{own}
	for _, series := range []string{"rtx", "rx"} {
		if number, ok := strings.CutPrefix(own, series); ok {
			keys = append(keys, number) // "4090" is enough
		}
	}
	for _, d := range c.drivers {
		keys = append(keys, cardKey(d))
	}
	return keys
}

// cardKey returns a card's name without the parts that vary in spelling.
func cardKey(name string) string {
	key := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		default:
			return -1
		}
	}, name)
	for _, word := range []string{"nvidia", "tesla", "geforce", "amd", "instinct", "radeon"} {
		key = strings.TrimPrefix(key, word)
	}
	return key
}
