//go:build linux && (amd64 || arm64)

package nvml

import (
	"errors"
	"fmt"
	"io/fs"
)

// set calls a setter. None of its arguments is a pointer of Go's.
func (b *binding) set(symbol string, args ...uintptr) error {
	if ret := b.call(symbol, args...); ret != success {
		return &callError{symbol, ret}
	}
	return nil
}

// callError is an NVML return code other than success.
type callError struct {
	call string
	ret  code
}

func (e *callError) Error() string {
	return fmt.Sprintf("%s answered %d: %s", e.call, e.ret, describe(e.ret))
}

// Unwrap maps the return code to the error that callers test for.
func (e *callError) Unwrap() error {
	switch e.ret {
	case codeNoPermission:
		return fs.ErrPermission
	case codeNotSupported, codeFunctionNotFound:
		return errors.ErrUnsupported
	default:
		return nil
	}
}

// describe describes a return code. NVML's own texts need a function that a broken
// library may lack, and they do not say what to do.
func describe(r code) string {
	switch r {
	case codeUninitialized:
		return "the library is not initialized"
	case codeInvalidArgument:
		return "an argument is not valid for this device"
	case codeNotSupported:
		return "this device does not support it"
	case codeNoPermission:
		return "no permission"
	case codeDriverNotLoaded:
		return "the driver is not loaded"
	case codeFunctionNotFound:
		return "this driver is too old for it"
	case codeGPULost:
		return "the GPU is lost: it fell off the bus and needs a reset or a reboot"
	case codeResetRequired:
		return "the GPU needs a reset"
	case codeVersionMismatch:
		return "the driver and the library have different versions"
	case codeUnknown:
		return "unknown driver error"
	default:
		return "driver error"
	}
}

// openError says why no NVIDIA GPU is available and what to do about it.
func openError(path string, r code) error {
	if path == "" {
		path = "libnvidia-ml.so.1"
	}
	err := &callError{"nvmlInit", r}
	switch r {
	case codeLibraryNotFound:
		return fmt.Errorf("NVIDIA's management library was not found (%s): no driver is installed, or the container was started without its GPUs", path)
	case codeDriverNotLoaded:
		return fmt.Errorf("the NVIDIA driver is not loaded: load it with \"sudo modprobe nvidia\", or install it (%w)", err)
	case codeNoPermission:
		return fmt.Errorf("no permission to use the NVIDIA driver: check the permissions of /dev/nvidiactl (%w)", err)
	case codeVersionMismatch:
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
