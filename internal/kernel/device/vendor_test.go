package device

import (
	"context"
	"errors"
	"testing"
	"testing/fstest"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/kernel/device/vendor"
)

type otherGPU struct{}

func (otherGPU) Identity() gpu.Identity {
	return gpu.Identity{Kind: gpu.AMD, Name: "AMD Instinct MI300X", UUID: "GPU-1"}
}
func (otherGPU) State(context.Context) (gpu.State, error) { return gpu.State{}, nil }

// Another vendor is a line in the list of vendors: its GPUs are listed, selected and named.
func TestAnotherVendor(t *testing.T) {
	was := vendors
	defer func() { vendors = was }()
	found := vendor.Found{Devices: []Device{otherGPU{}}, Reader: "amd-smi"}
	var none error
	vendors = []vendor.Vendor{was[0], {
		Kind: gpu.AMD, Name: "AMD", Visible: "ROCR_VISIBLE_DEVICES",
		Find: func(context.Context, vendor.Machine) (vendor.Found, error) { return found, none },
	}}
	inv, err := List(t.Context(), Options{Root: fstest.MapFS{}, LookupEnv: nowhere, SMI: "/nowhere"})
	if err != nil {
		t.Fatal(err)
	}
	for _, request := range []struct {
		kind     gpu.Kind
		selector string
	}{{gpu.AMD, ""}, {gpu.AMD, "0"}, {Auto, ""}, {Auto, "GPU-1"}} {
		if d, err := inv.Select(request.kind, request.selector); err != nil || d.Identity().Kind != gpu.AMD {
			t.Errorf("%+v: %v, %v", request, d, err)
		}
	}
	if _, err := inv.Select(gpu.NVIDIA, ""); !errors.Is(err, ErrNoDevice) {
		t.Errorf("an NVIDIA GPU: %v", err)
	}
	found, none = vendor.Found{}, errors.New("its driver is not loaded")
	if inv, err = List(t.Context(), Options{Root: fstest.MapFS{}, LookupEnv: nowhere, SMI: "/nowhere"}); err != nil {
		t.Fatal(err)
	}
	want := "there is no AMD GPU here: its driver is not loaded: no such device"
	if _, err := inv.Select(gpu.AMD, ""); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if d, err := inv.Select(Auto, ""); err != nil || d.Identity().Kind != gpu.CPU {
		t.Errorf("any device: %v, %v", d, err)
	}
}
