package device

import (
	"errors"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/gpu"
)

// fleet has two L4s and an A100 cut into two slices.
func fleet() Inventory {
	card := func(index int, name, uuid, parent string) Device {
		return &fakeGPU{id: gpu.Identity{Kind: gpu.NVIDIA, Name: name, UUID: uuid, Parent: parent, Index: index}}
	}
	return Inventory{Reader: "nvml", Devices: []Device{
		card(0, "NVIDIA A100", "GPU-aaaa1111", ""),
		card(0, "NVIDIA A100 MIG 3g", "MIG-bbbb1111", "GPU-aaaa1111"),
		card(1, "NVIDIA A100 MIG 1g", "MIG-cccc1111", "GPU-aaaa1111"),
		card(1, "NVIDIA L4", "GPU-abcd2222", ""),
		card(2, "NVIDIA L4", "GPU-ABEF3333", ""),
		fakeHost{},
	}}
}

func TestSelect(t *testing.T) {
	only := func(visible string) Inventory {
		inv := fleet()
		inv.visible = map[gpu.Kind]string{gpu.NVIDIA: visible}
		return inv
	}
	bare := Inventory{Devices: []Device{fakeHost{}}, None: map[gpu.Kind]string{gpu.NVIDIA: "the driver is not loaded"}}
	tests := []struct {
		name     string
		inv      Inventory
		kind     gpu.Kind
		selector string
		want     string // a UUID, or "cpu"
		err      string
	}{
		{name: "auto takes the first a kernel can run on", inv: fleet(), kind: Auto, want: "MIG-bbbb1111"},
		{name: "no kind is auto", inv: fleet(), want: "MIG-bbbb1111"},
		{name: "auto without GPU is the host", inv: bare, kind: Auto, want: "cpu"},
		{name: "host", inv: fleet(), kind: gpu.CPU, want: "cpu"},
		{name: "host by number", inv: fleet(), kind: gpu.CPU, selector: "0", want: "cpu"},
		{name: "second host", inv: fleet(), kind: gpu.CPU, selector: "1", err: "one host CPU"},
		{name: "index", inv: fleet(), kind: gpu.NVIDIA, selector: "2", want: "GPU-ABEF3333"},
		{name: "index of a card, not of a slice", inv: fleet(), kind: gpu.NVIDIA, selector: "1", want: "GPU-abcd2222"},
		{name: "slice", inv: fleet(), kind: gpu.NVIDIA, selector: "0:1", want: "MIG-cccc1111"},
		{name: "slice of a whole card", inv: fleet(), selector: "1:0", err: `unknown device "1:0"`},
		{name: "index too high", inv: fleet(), selector: "3", err: "(known: NVIDIA A100 (GPU-aaaa1111)"},
		{name: "whole UUID", inv: fleet(), selector: "GPU-abcd2222", want: "GPU-abcd2222"},
		{name: "UUID prefix", inv: fleet(), selector: "GPU-abc", want: "GPU-abcd2222"},
		{name: "UUID prefix without GPU, in other case", inv: fleet(), selector: "abef", want: "GPU-ABEF3333"},
		{name: "slice by UUID prefix", inv: fleet(), selector: "MIG-c", want: "MIG-cccc1111"},
		{name: "ambiguous", inv: fleet(), selector: "GPU-ab", err: "write more of the UUID (matches: NVIDIA L4 (GPU-abcd2222), NVIDIA L4 (GPU-ABEF3333))"},
		{name: "not here", inv: fleet(), selector: "GPU-ffff", err: `unknown device "GPU-ffff"`},
		{name: "negative", inv: fleet(), selector: "-1", err: `unknown device "-1"`},
		{name: "no driver", inv: bare, kind: gpu.NVIDIA, err: "there is no NVIDIA GPU here: the driver is not loaded"},
		{name: "selector without driver", inv: bare, selector: "0", err: "the driver is not loaded"},
		{name: "another vendor", inv: fleet(), kind: "intel", err: `unknown device kind "intel" (known: nvidia, amd, cpu)`},

		{name: "a scheduler left one", inv: only("2"), want: "GPU-ABEF3333"},
		{name: "the first of several", inv: only(" GPU-abcd2222,0"), want: "GPU-abcd2222"},
		{name: "a card under MIG is left", inv: only("0"), want: "MIG-bbbb1111"},
		{name: "none left", inv: only(""), want: "cpu"},
		{name: "none left, and a GPU wanted", inv: only("-1"), kind: gpu.NVIDIA, err: `CUDA_VISIBLE_DEVICES="-1" hides`},
		{name: "a selector reaches past the scheduler", inv: only("2"), selector: "1", want: "GPU-abcd2222"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d, err := tt.inv.Select(tt.kind, tt.selector)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) || !errors.Is(err, ErrNoDevice) {
					t.Fatalf("error %v, want %q", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := d.Identity().UUID
			if got == "" {
				got = string(d.Identity().Kind)
			}
			if got != tt.want {
				t.Errorf("selected %s, want %s", got, tt.want)
			}
		})
	}
}
