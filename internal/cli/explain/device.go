package explain

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/base/spell"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/internal/kernel/device"
)

// NewDevice returns the command pawl device.
func NewDevice(g *env.Env) *cobra.Command {
	return command.Group(&cobra.Command{
		Use:   "device",
		Short: "Show the limits and peaks of a GPU, and compute occupancy",
		Example: `  pawl device show                 # the GPU of this machine
  pawl device show L4
  pawl device list                 # every card that pawl knows
  pawl device occupancy --arch sm_89 --threads 256 --regs 168 --smem 32K`,
	}, newDeviceShow(g), newDeviceList(g), newOccupancy(g))
}

func newDeviceList(g *env.Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List every card and architecture that pawl knows",
		Example: `  pawl device list
  pawl device list --json | jq -r '.cards[].name'`,
		RunE: func(*cobra.Command, []string) error {
			return showHardware(g, Hardware{Cards: gpu.Cards(), Archs: gpu.Archs()}, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// showHardware prints cards and architectures.
func showHardware(g *env.Env, found Hardware, asJSON bool) error {
	if asJSON {
		return command.WriteJSON(g.Out, found.document())
	}
	return found.write(g.Out, g.Style())
}

func newDeviceShow(g *env.Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show [NAME]",
		Short: "Show the limits and peaks of a GPU",
		Long: `Shows what a card or an architecture can do: SMs, caches, memory, peaks and ridge points
by number format, and the limits used to compute occupancy. Every figure has its source; a
question mark means that it is uncertain.

Without a name it shows the GPU of this machine or, if there is none, all known cards. No
GPU is needed.`,
		Example: `  pawl device show              # the GPU of this machine
  pawl device show L4
  pawl device show a100         # all four A100 cards, side by side
  pawl device show sm_90        # an architecture
  pawl device show L4 --json | jq '.cards[0].ridge.fp16'`,
		Args:      cobra.MaximumNArgs(1),
		ValidArgs: slices.Concat(gpu.CardNames(), gpu.ArchNames()),
		RunE: func(cmd *cobra.Command, args []string) error {
			found, err := RequestedHardware(cmd.Context(), args)
			if err != nil {
				return err
			}
			return showHardware(g, found, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "the figures as JSON")
	return cmd
}

// Hardware is what pawl device show shows: cards with their architectures, or a single architecture.
type Hardware struct {
	Local *localGPU // set only if no name was given
	Cards []gpu.Card
	Archs []gpu.Arch // known architectures of the cards, without duplicates
}

// localGPU is the GPU of this machine that a run would use.
type localGPU struct {
	Identity *gpu.Identity // nil if there is none
	whyNone  string        // why there is none
}

// RequestedHardware returns the hardware that the arguments name, or that of this machine.
func RequestedHardware(ctx context.Context, args []string) (Hardware, error) {
	if len(args) > 0 {
		return FindHardware(args[0])
	}
	h, err := deviceHere(ctx)
	if err != nil {
		return Hardware{}, err
	}
	if h.Identity == nil {
		return Hardware{Local: &h, Cards: gpu.Cards(), Archs: gpu.Archs()}, nil
	}
	found := Hardware{Local: &h}
	if card, ok := gpu.CardFor(*h.Identity); ok {
		found.Cards = []gpu.Card{card}
	}
	arch, err := gpu.FindAnyArch(h.Identity.ComputeCapability)
	switch {
	case err == nil:
		found.Archs = []gpu.Arch{arch}
	case len(found.Cards) == 0:
		return Hardware{}, fmt.Errorf("%s: %w", h.Identity.Name, err)
	}
	return found, nil
}

// deviceHere finds the GPU of this machine. A machine without one is not an error.
func deviceHere(ctx context.Context) (localGPU, error) {
	inventory, err := device.List(ctx, device.Options{})
	if err != nil {
		return localGPU{}, err
	}
	for _, kind := range []gpu.Kind{gpu.NVIDIA, gpu.AMD} {
		if dev, err := inventory.Select(kind, ""); err == nil {
			identity := dev.Identity()
			return localGPU{Identity: &identity}, nil
		}
	}
	none := inventory.None[gpu.NVIDIA]
	if none == "" {
		none = "CUDA_VISIBLE_DEVICES hides it"
	}
	return localGPU{whyNone: "no usable NVIDIA GPU: " + none}, nil
}

// FindHardware finds an architecture, a card, or several cards whose names start with name.
func FindHardware(name string) (Hardware, error) {
	if arch, err := gpu.FindAnyArch(name); err == nil {
		return Hardware{Archs: []gpu.Arch{arch}}, nil
	}
	found := Hardware{Cards: gpu.FindCards(name)}
	for _, c := range found.Cards {
		if slices.ContainsFunc(found.Archs, func(a gpu.Arch) bool { return a.Name == c.Arch }) {
			continue
		}
		if arch, err := gpu.FindAnyArch(c.Arch); err == nil { // those of RDNA have no limits in the table
			found.Archs = append(found.Archs, arch)
		}
	}
	if len(found.Cards) > 0 {
		return found, nil
	}
	hint := "run `pawl device list` to see the cards, or read docs/reference/hardware.md for all figures"
	if near := spell.Nearest(name, slices.Concat(gpu.CardNames(), gpu.ArchNames())); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	return Hardware{}, command.Usage(fmt.Errorf("unknown card or architecture %.60q: %s", name, hint))
}
