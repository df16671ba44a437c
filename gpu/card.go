package gpu

import (
	"slices"
	"strings"
)

// Card is a GPU product. Peaks are dense (figures advertised "with sparsity" are twice as high), at the
// boost clock, accumulating in FP32. Where sources differ, a cell holds the highest figure.
type Card struct {
	Name string `json:"name"`
	Arch string `json:"arch"`

	SMs          Cell[int]     `json:"sms"`
	L2MB         Cell[float64] `json:"l2_mb"`                // MiB
	BoostMHz     Cell[int]     `json:"boost_mhz,omitzero"`   // the clock at which FP32 is quoted
	MemoryGB     Cell[int]     `json:"memory_gb"`            // as advertised
	BandwidthGBs Cell[float64] `json:"bandwidth_gb_per_s"`   // DRAM bandwidth, in 10^9 bytes per second
	FP64Tensor   bool          `json:"fp64_tensor,omitzero"` // whether the FP64 peak is that of the tensor cores

	TFLOPS map[DType]Cell[float64] `json:"tflops"`
	// FP16AccumTFLOPS holds the peaks when accumulating in FP16, where they are higher: GeForce cards halve the
	// rate when accumulating in FP32.
	FP16AccumTFLOPS map[DType]Cell[float64] `json:"tflops_fp16_accumulate,omitempty"`

	drivers []string // how drivers call it, besides "NVIDIA " and the name
}

// Cards returns all known cards, ordered by architecture.
func Cards() []Card { return cardTable() }

// CardNames returns the names of all known cards.
func CardNames() []string {
	var names []string
	for _, c := range Cards() {
		names = append(names, c.Name)
	}
	return names
}

// FindCards returns the card with the given name or, if there is none, all cards whose names start with
// it: "a100" matches four cards. It ignores spaces, dashes, case and the words NVIDIA, Tesla and GeForce.
func FindCards(name string) []Card {
	key := cardKey(name)
	if key == "" {
		return nil
	}
	var begins []Card
	for _, c := range Cards() {
		if slices.Contains(c.keys(), key) {
			return []Card{c}
		}
		if slices.ContainsFunc(c.keys(), func(k string) bool { return strings.HasPrefix(k, key) }) {
			begins = append(begins, c)
		}
	}
	return begins
}

// CardOf returns the card of a device. It returns false for an unknown card and for a MIG slice, which
// has only a share of the card's SMs and memory.
func CardOf(id Identity) (Card, bool) {
	if id.Kind != NVIDIA || id.Parent != "" {
		return Card{}, false
	}
	key := cardKey(id.Name)
	for _, c := range Cards() {
		if slices.Contains(c.keys(), key) {
			return c, true
		}
	}
	return Card{}, false
}

func (c Card) keys() []string {
	own := cardKey(c.Name)
	keys := []string{own}
	if number, ok := strings.CutPrefix(own, "rtx"); ok {
		keys = append(keys, number) // "4090" is enough
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
	for _, word := range []string{"nvidia", "tesla", "geforce"} {
		key = strings.TrimPrefix(key, word)
	}
	return key
}
