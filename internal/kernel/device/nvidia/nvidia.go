// Package nvidia finds the GPUs of NVIDIA: through the driver's library, or through nvidia-smi if the
// library cannot be loaded.
package nvidia

import (
	"context"
	"errors"
	"fmt"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/kernel/device/nvml"
	"github.com/goatnote-inc/pawl/internal/kernel/device/smi"
	"github.com/goatnote-inc/pawl/internal/kernel/device/vendor"
)

// Vendor reads the GPUs of NVIDIA.
var Vendor = vendor.Vendor{Kind: gpu.NVIDIA, Name: "NVIDIA", Visible: "CUDA_VISIBLE_DEVICES", Find: find}

// libraryVar names the file to load instead of libnvidia-ml.so.1.
const libraryVar = "PAWL_NVML_LIBRARY"

var errNone = errors.New("the NVIDIA driver is loaded but reports no readable GPU: check \"nvidia-smi\" and the kernel log")

func find(ctx context.Context, m vendor.Machine) (vendor.Found, error) {
	found, libErr := findByLibrary(m)
	if libErr == nil {
		return checked(found)
	}
	tool, err := smi.Open(smi.Options{Path: m.SMI, Own: m.Own, Name: m.Name, Now: m.Now})
	if err == nil {
		var devices []*smi.Device
		if devices, err = tool.Devices(ctx); err == nil {
			return checked(vendor.Found{Reader: "nvidia-smi", Devices: asDevices(devices), Notices: []vendor.Notice{{
				Code:    "nvidia_smi",
				Message: fmt.Sprintf("GPUs are read through nvidia-smi, which is slow: %v", libErr),
			}}})
		}
	}
	if nvml.Available {
		err = libErr // nvidia-smi needs the library too, so the library's error is the root cause
	}
	return vendor.Found{}, err
}

func findByLibrary(m vendor.Machine) (found vendor.Found, err error) {
	path, _ := m.LookupEnv(libraryVar)
	lib, err := nvml.Open(nvml.Options{Library: path, Own: m.Own, Name: m.Name, Now: m.Now})
	if err != nil {
		return found, err
	}
	devices, err := lib.Devices()
	if err != nil {
		found.Notices = append(found.Notices, vendor.Notice{Code: "gpu_unreadable", Message: err.Error()})
	}
	found.Reader, found.Devices = "nvml", asDevices(devices)
	return found, nil
}

func checked(found vendor.Found) (vendor.Found, error) {
	if len(found.Devices) == 0 {
		return found, errNone
	}
	return found, nil
}

func asDevices[D vendor.Device](list []D) []vendor.Device {
	devices := make([]vendor.Device, len(list))
	for i, d := range list {
		devices[i] = d
	}
	return devices
}
