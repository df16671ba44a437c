package preflight

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/gpu"
)

// Target is the GPU that kernels are checked for. The zero Target means none: a compiled
// kernel is then checked against the architecture it was compiled for.
type Target struct {
	Arch string `json:"arch,omitempty"` // "sm_89"
	Card string `json:"card,omitempty"` // empty if only the architecture is known
	Here bool   `json:"here,omitempty"` // it is in this machine

	arch *gpu.Arch
	card *gpu.Card
}

// TargetArch returns the target for an architecture as compilers spell it.
func TargetArch(name string) (Target, error) {
	arch, err := gpu.FindArch(name)
	if err != nil {
		return Target{}, err
	}
	return Target{Arch: arch.Name, arch: &arch}, nil
}

// TargetCard returns the target for a card, by its name or the start of it.
func TargetCard(name string) (Target, error) {
	cards := gpu.FindCards(name)
	switch len(cards) {
	case 0:
		return Target{}, fmt.Errorf("unknown card %.60q (`pawl device show` lists the known cards)", name)
	case 1:
	default:
		var names []string
		for _, c := range cards {
			names = append(names, c.Name)
		}
		return Target{}, fmt.Errorf("%q matches several cards: choose one of %s", name, strings.Join(names, ", "))
	}
	t, err := TargetArch(cards[0].Arch)
	if err != nil {
		t.Arch = cards[0].Arch // a card of AMD: only its rates are known
	}
	t.Card, t.card = cards[0].Name, &cards[0]
	return t, nil
}

// TargetDevice returns the target for a GPU of this machine; the zero Target for a CPU.
func TargetDevice(id gpu.Identity) (Target, error) {
	if id.Kind != gpu.NVIDIA {
		return Target{}, nil
	}
	t, err := TargetArch(id.ComputeCapability)
	if err != nil {
		return t, fmt.Errorf("%s: %w", id.Name, err)
	}
	t.Here = true
	if card, ok := gpu.CardOf(id); ok {
		t.Card, t.card = card.Name, &card
	}
	return t, nil
}

// Known reports whether there is a target whose limits are known.
func (t Target) Known() bool { return t.arch != nil }

func (t Target) String() string {
	if t.Card != "" {
		return t.Card + " (" + t.Arch + ")"
	}
	return t.Arch
}

// archOf returns the architecture to check a compiled kernel against: the target if the
// kernel runs there, else the one it was compiled for.
func (t Target) archOf(compiled string) (gpu.Arch, bool) {
	if t.Known() && runsOn(compiled, t.Arch) {
		return *t.arch, true
	}
	a, err := gpu.FindArch(compiled)
	return a, err == nil
}

// runsOn reports whether machine code for one architecture runs on another: within a
// major version, on the same or a later minor version. Code for an architecture with the
// suffix a runs on that one only; the suffix f allows the later ones of the family, which
// is the major version.
func runsOn(compiled, on string) bool {
	a, errA := gpu.FindArch(compiled)
	b, errB := gpu.FindArch(on)
	if errA != nil || errB != nil {
		return false
	}
	if strings.HasSuffix(compiled, "a") {
		return a.Name == b.Name
	}
	major := func(cc string) string { return cc[:len(cc)-2] }
	order := gpu.ArchNames()
	return major(a.ComputeCapability) == major(b.ComputeCapability) && slices.Index(order, a.Name) <= slices.Index(order, b.Name)
}
