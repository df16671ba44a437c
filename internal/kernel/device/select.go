package device

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/goatnote-inc/pawl/gpu"
)

// Auto is the kind for a suite that does not request one: a GPU if there is one,
// else the host.
const Auto gpu.Kind = "auto"

// Select returns the device that a suite requests. The selector is an index ("0"),
// a slice of a card ("0:1"), or the start of a UUID; empty means the first device.
// Without a selector, only the GPUs in CUDA_VISIBLE_DEVICES are considered. Errors
// wrap ErrNoDevice.
func (inv Inventory) Select(kind gpu.Kind, selector string) (Device, error) {
	switch kind {
	case "", Auto:
		if selector != "" {
			return inv.find(selector)
		}
		if d := inv.firstGPU(); d != nil {
			return d, nil
		}
		return inv.host()
	case gpu.NVIDIA:
		if selector != "" {
			return inv.find(selector)
		}
		if d := inv.firstGPU(); d != nil {
			return d, nil
		}
		return nil, inv.missing()
	case gpu.CPU:
		if selector != "" && selector != "0" {
			return nil, fmt.Errorf("device %q: there is only one host CPU; leave the selector out: %w", selector, ErrNoDevice)
		}
		return inv.host()
	default:
		return nil, fmt.Errorf("unknown device kind %q (known: nvidia, cpu): %w", kind, ErrNoDevice)
	}
}

func (inv Inventory) missing() error {
	if inv.NoNVIDIA != "" {
		return fmt.Errorf("there is no NVIDIA GPU here: %s: %w", inv.NoNVIDIA, ErrNoDevice)
	}
	return fmt.Errorf("%s=%q hides the GPUs of this machine: %w", visibleVar, inv.visible, ErrNoDevice)
}

func (inv Inventory) host() (Device, error) {
	for _, d := range inv.Devices {
		if d.Identity().Kind == gpu.CPU {
			return d, nil
		}
	}
	return nil, fmt.Errorf("the host CPU is not in the inventory: %w", ErrNoDevice)
}

// firstGPU returns the first GPU that a kernel can run on. On a card under MIG that
// is a slice.
func (inv Inventory) firstGPU() Device {
	if inv.visibleSet {
		// CUDA numbers visible devices in this order, and shows none after the first
		// unknown entry.
		first, _, _ := strings.Cut(inv.visible, ",")
		if first = strings.TrimSpace(first); first == "" {
			return nil
		}
		d, err := inv.find(first)
		if err != nil {
			return nil
		}
		return inv.usable(d)
	}
	for _, d := range inv.gpus() {
		if d.Identity().Parent == "" {
			return inv.usable(d)
		}
	}
	return nil
}

// usable returns the card itself, or its first slice if it has slices.
func (inv Inventory) usable(card Device) Device {
	for _, d := range inv.gpus() {
		if d.Identity().Parent != "" && d.Identity().Parent == card.Identity().UUID {
			return d
		}
	}
	return card
}

func (inv Inventory) gpus() []Device {
	return slices.DeleteFunc(slices.Clone(inv.Devices), func(d Device) bool { return d.Identity().Kind == gpu.CPU })
}

func (inv Inventory) find(selector string) (Device, error) {
	if len(inv.gpus()) == 0 {
		return nil, fmt.Errorf("device %q: %w", selector, inv.missing())
	}
	if card, slice, ok := indices(selector); ok {
		return inv.byIndex(selector, card, slice)
	}
	var found []Device
	for _, d := range inv.gpus() {
		uuid, want := strings.ToLower(d.Identity().UUID), strings.ToLower(selector)
		if uuid == want {
			return d, nil
		}
		_, bare, _ := strings.Cut(uuid, "-")
		if strings.HasPrefix(uuid, want) || strings.HasPrefix(bare, want) {
			found = append(found, d)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return nil, fmt.Errorf("unknown device %q (known: %s): %w", selector, names(inv.gpus()), ErrNoDevice)
	default:
		return nil, fmt.Errorf("device %q is ambiguous, write more of the UUID (matches: %s): %w", selector, names(found), ErrNoDevice)
	}
}

// indices parses "2" as card 2 and "2:0" as its first slice.
func indices(selector string) (card, slice int, ok bool) {
	left, right, cut := strings.Cut(selector, ":")
	card, err := strconv.Atoi(left)
	if err != nil {
		return 0, 0, false
	}
	if !cut {
		return card, -1, true
	}
	slice, err = strconv.Atoi(right)
	return card, slice, err == nil && slice >= 0
}

func (inv Inventory) byIndex(selector string, card, slice int) (Device, error) {
	parent := ""
	for _, d := range inv.gpus() {
		id := d.Identity()
		switch {
		case id.Parent == "" && id.Index == card && slice < 0:
			return d, nil
		case id.Parent == "" && id.Index == card:
			parent = id.UUID
		case id.Parent != "" && id.Parent == parent && id.Index == slice:
			return d, nil
		}
	}
	return nil, fmt.Errorf("unknown device %q (known: %s): %w", selector, names(inv.gpus()), ErrNoDevice)
}

// names lists devices in the form that a user can select.
func names(devices []Device) string {
	list := make([]string, len(devices))
	for i, d := range devices {
		id := d.Identity()
		list[i] = fmt.Sprintf("%s (%s)", id.Name, id.UUID)
	}
	return strings.Join(list, ", ")
}
