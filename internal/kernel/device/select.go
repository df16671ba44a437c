package device

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/kernel/device/vendor"
)

// Auto is the kind for a suite that does not request one: a GPU if there is one,
// else the host.
const Auto gpu.Kind = "auto"

// Select returns the device that a suite requests. The selector is an index ("0"),
// a slice of a card ("0:1"), or the start of a UUID; empty means the first device.
// Without a selector, only the GPUs that a scheduler assigned are considered, as in
// CUDA_VISIBLE_DEVICES. Errors wrap ErrNoDevice.
func (inv Inventory) Select(kind gpu.Kind, selector string) (Device, error) {
	if kind == gpu.CPU {
		if selector != "" && selector != "0" {
			return nil, fmt.Errorf("device %q: there is only one host CPU; leave the selector out: %w", selector, ErrNoDevice)
		}
		return inv.host()
	}
	var none error // of the first vendor that was looked for
	for _, v := range vendors {
		if kind != v.Kind && kind != "" && kind != Auto {
			continue
		}
		if selector != "" && len(inv.gpus(v.Kind)) > 0 {
			return inv.find(v, selector)
		}
		if d := inv.firstGPU(v); d != nil && selector == "" {
			return d, nil
		}
		if none == nil {
			none = inv.missing(v, selector)
		}
	}
	switch {
	case (kind == "" || kind == Auto) && selector == "":
		return inv.host()
	case none != nil:
		return nil, none
	}
	return nil, fmt.Errorf("unknown device kind %q (known: %s, cpu): %w", kind, kinds(), ErrNoDevice)
}

func kinds() string {
	var list []string
	for _, v := range vendors {
		list = append(list, string(v.Kind))
	}
	return strings.Join(list, ", ")
}

func (inv Inventory) missing(v vendor.Vendor, selector string) error {
	err := fmt.Errorf("%s=%q hides the GPUs of this machine: %w", v.Visible, inv.visible[v.Kind], ErrNoDevice)
	if why := inv.None[v.Kind]; why != "" {
		err = fmt.Errorf("there is no %s GPU here: %s: %w", v.Name, why, ErrNoDevice)
	}
	if selector != "" {
		return fmt.Errorf("device %q: %w", selector, err)
	}
	return err
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
func (inv Inventory) firstGPU(v vendor.Vendor) Device {
	if visible, set := inv.visible[v.Kind]; set {
		// CUDA numbers visible devices in this order, and shows none after the first
		// unknown entry.
		first, _, _ := strings.Cut(visible, ",")
		if first = strings.TrimSpace(first); first == "" {
			return nil
		}
		d, err := inv.find(v, first)
		if err != nil {
			return nil
		}
		return inv.usable(d)
	}
	for _, d := range inv.gpus(v.Kind) {
		if d.Identity().Parent == "" {
			return inv.usable(d)
		}
	}
	return nil
}

// usable returns the card itself, or its first slice if it has slices.
func (inv Inventory) usable(card Device) Device {
	for _, d := range inv.Devices {
		if d.Identity().Parent != "" && d.Identity().Parent == card.Identity().UUID {
			return d
		}
	}
	return card
}

func (inv Inventory) gpus(kind gpu.Kind) []Device {
	return slices.DeleteFunc(slices.Clone(inv.Devices), func(d Device) bool { return d.Identity().Kind != kind })
}

func (inv Inventory) find(v vendor.Vendor, selector string) (Device, error) {
	all := inv.gpus(v.Kind)
	if card, slice, ok := indices(selector); ok {
		return byIndex(all, selector, card, slice)
	}
	var found []Device
	for _, d := range all {
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
		return nil, fmt.Errorf("unknown device %q (known: %s): %w", selector, names(all), ErrNoDevice)
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

func byIndex(all []Device, selector string, card, slice int) (Device, error) {
	parent := ""
	for _, d := range all {
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
	return nil, fmt.Errorf("unknown device %q (known: %s): %w", selector, names(all), ErrNoDevice)
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
