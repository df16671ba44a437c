//go:build cgo && linux

package nvml

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
)

// symbols lists the library functions that this package may call.
var symbols = []string{
	"nvmlSystemGetDriverVersion", "nvmlSystemGetCudaDriverVersion_v2",
	"nvmlDeviceGetCount_v2", "nvmlDeviceGetName", "nvmlDeviceGetUUID", "nvmlDeviceGetVbiosVersion",
	"nvmlDeviceGetCudaComputeCapability", "nvmlDeviceGetNumGpuCores", "nvmlDeviceGetMemoryInfo",
	"nvmlDeviceGetMigMode", "nvmlDeviceGetMaxMigDeviceCount", "nvmlDeviceGetMigDeviceHandleByIndex", "nvmlDeviceGetAttributes_v2",
	"nvmlDeviceGetClockInfo", "nvmlDeviceGetMaxClockInfo", "nvmlDeviceGetClock",
	"nvmlDeviceGetTemperature", "nvmlDeviceGetPowerUsage", "nvmlDeviceGetEnforcedPowerLimit",
	"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons",
	"nvmlDeviceGetEccMode", "nvmlDeviceGetPersistenceMode",
	"nvmlDeviceGetComputeRunningProcesses", "nvmlDeviceGetMPSComputeRunningProcesses_v3",
	"nvmlDeviceSetGpuLockedClocks", "nvmlDeviceResetGpuLockedClocks", "nvmlDeviceSetPersistenceMode",
	"nvmlDeviceGetComputeRunningProcesses_v2", "nvmlDeviceGetComputeRunningProcesses_v3",
}

// ask calls a getter if the library has its symbol. Calling a missing one would end
// the process: the binding resolves symbols only when they are called.
func ask[T any](l *Library, symbol string, get func() (T, nvml.Return)) (T, nvml.Return) {
	if !l.has[symbol] {
		var none T
		return none, nvml.ERROR_FUNCTION_NOT_FOUND
	}
	return get()
}

// do calls a setter if the library has its symbol.
func do(l *Library, symbol string, set func() nvml.Return) error {
	ret := nvml.ERROR_FUNCTION_NOT_FOUND
	if l.has[symbol] {
		ret = set()
	}
	if ret != nvml.SUCCESS {
		return &callError{symbol, ret}
	}
	return nil
}

// callError is an NVML return code other than success.
type callError struct {
	call string
	ret  nvml.Return
}

func (e *callError) Error() string {
	return fmt.Sprintf("%s answered %d: %s", e.call, e.ret, describe(e.ret))
}

// Unwrap maps the return code to the error that callers test for.
func (e *callError) Unwrap() error {
	switch e.ret {
	case nvml.ERROR_NO_PERMISSION:
		return fs.ErrPermission
	case nvml.ERROR_NOT_SUPPORTED, nvml.ERROR_FUNCTION_NOT_FOUND:
		return errors.ErrUnsupported
	default:
		return nil
	}
}

// describe describes a return code. NVML's own texts need a function that a broken
// library may lack, and they do not say what to do.
func describe(r nvml.Return) string {
	switch r {
	case nvml.ERROR_UNINITIALIZED:
		return "the library is not initialized"
	case nvml.ERROR_INVALID_ARGUMENT:
		return "an argument is not valid for this device"
	case nvml.ERROR_NOT_SUPPORTED:
		return "this device does not support it"
	case nvml.ERROR_NO_PERMISSION:
		return "no permission"
	case nvml.ERROR_DRIVER_NOT_LOADED:
		return "the driver is not loaded"
	case nvml.ERROR_FUNCTION_NOT_FOUND:
		return "this driver is too old for it"
	case nvml.ERROR_GPU_IS_LOST:
		return "the GPU is lost: it fell off the bus and needs a reset or a reboot"
	case nvml.ERROR_RESET_REQUIRED:
		return "the GPU needs a reset"
	case nvml.ERROR_LIB_RM_VERSION_MISMATCH:
		return "the driver and the library have different versions"
	case nvml.ERROR_UNKNOWN:
		return "unknown driver error"
	default:
		return "driver error"
	}
}

// openError says why no NVIDIA GPU is available and what to do about it.
func openError(path string, r nvml.Return) error {
	if path == "" {
		path = "libnvidia-ml.so.1"
	}
	err := &callError{"nvmlInit", r}
	switch r {
	case nvml.ERROR_LIBRARY_NOT_FOUND:
		return fmt.Errorf("NVIDIA's management library was not found (%s): no driver is installed, or the container was started without its GPUs", path)
	case nvml.ERROR_DRIVER_NOT_LOADED:
		return fmt.Errorf("the NVIDIA driver is not loaded: load it with \"sudo modprobe nvidia\", or install it (%w)", err)
	case nvml.ERROR_NO_PERMISSION:
		return fmt.Errorf("no permission to use the NVIDIA driver: check the permissions of /dev/nvidiactl (%w)", err)
	case nvml.ERROR_LIB_RM_VERSION_MISMATCH:
		return fmt.Errorf("the NVIDIA driver and its library have different versions, for example after an update: reboot, or reload the driver (%w)", err)
	default:
		return fmt.Errorf("cannot initialize NVIDIA's management library (%s): %w", path, err)
	}
}

// joined is errors.Join with the messages on one line.
func joined(errs []error) error {
	if len(errs) == 0 {
		return nil
	}
	err := errs[0]
	for _, e := range errs[1:] {
		err = fmt.Errorf("%w; %w", err, e)
	}
	return err
}
