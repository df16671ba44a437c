//go:build linux && (amd64 || arm64)

package nvml

import (
	"bytes"
	"unsafe"

	"github.com/ebitengine/purego"
)

// code is what a function of the library returns.
type code int32

// The codes that this package tells apart, as NVML numbers them.
const (
	success              code = 0
	codeUninitialized    code = 1
	codeInvalidArgument  code = 2
	codeNotSupported     code = 3
	codeNoPermission     code = 4
	codeTooSmall         code = 7
	codeDriverNotLoaded  code = 9
	codeLibraryNotFound  code = 12
	codeFunctionNotFound code = 13
	codeGPULost          code = 15
	codeResetRequired    code = 16
	codeVersionMismatch  code = 18
	codeNoData           code = 21
	codeUnknown          code = 999
)

// The arguments that this package passes, as NVML numbers them.
const (
	clockSM         = 1
	clockMemory     = 2
	clockAppDefault = 2
	sensorGPU       = 0
	enabled         = 1
)

// symbols lists the library functions that this package may call.
var symbols = []string{
	"nvmlInit_v2", "nvmlSystemGetDriverVersion", "nvmlSystemGetCudaDriverVersion_v2",
	"nvmlDeviceGetCount_v2", "nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetName", "nvmlDeviceGetUUID", "nvmlDeviceGetVbiosVersion",
	"nvmlDeviceGetCudaComputeCapability", "nvmlDeviceGetNumGpuCores", "nvmlDeviceGetMemoryInfo", "nvmlDeviceGetMemoryBusWidth",
	"nvmlDeviceGetMigMode", "nvmlDeviceGetMaxMigDeviceCount", "nvmlDeviceGetMigDeviceHandleByIndex", "nvmlDeviceGetAttributes_v2",
	"nvmlDeviceGetClockInfo", "nvmlDeviceGetMaxClockInfo", "nvmlDeviceGetClock",
	"nvmlDeviceGetTemperature", "nvmlDeviceGetPowerUsage", "nvmlDeviceGetEnforcedPowerLimit", "nvmlDeviceGetTotalEnergyConsumption",
	"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons",
	"nvmlDeviceGetEccMode", "nvmlDeviceGetPersistenceMode",
	"nvmlDeviceGetComputeRunningProcesses", "nvmlDeviceGetComputeRunningProcesses_v2", "nvmlDeviceGetComputeRunningProcesses_v3",
	"nvmlDeviceGetMPSComputeRunningProcesses_v3",
	"nvmlDeviceSetGpuLockedClocks", "nvmlDeviceResetGpuLockedClocks", "nvmlDeviceSetPersistenceMode",
}

// binding is a loaded library: the address of each symbol that it has.
type binding struct{ functions map[string]uintptr }

// handle is the library's pointer to a card or a slice. It points to no memory of Go's.
type handle uintptr

// load loads the library and initializes it.
func load(path string) (*binding, code) {
	if path == "" {
		path = "libnvidia-ml.so.1"
	}
	library, err := purego.Dlopen(path, purego.RTLD_LAZY|purego.RTLD_LOCAL)
	if err != nil {
		return nil, codeLibraryNotFound
	}
	b := &binding{functions: map[string]uintptr{}}
	for _, name := range symbols {
		if f, err := purego.Dlsym(library, name); err == nil {
			b.functions[name] = f
		}
	}
	return b, b.call("nvmlInit_v2")
}

// call calls a function, or answers codeFunctionNotFound if this library lacks it. A
// pointer must be converted to uintptr in the call itself: the directive then keeps its
// memory in place and alive until the function returns.
//
//go:uintptrescapes
func (b *binding) call(name string, args ...uintptr) code {
	f, ok := b.functions[name]
	if !ok {
		return codeFunctionNotFound
	}
	ret, _, _ := purego.SyscallN(f, args...)
	return code(int32(ret))
}

// first returns the first name that the library has.
func (b *binding) first(names ...string) string {
	for _, name := range names {
		if b.functions[name] != 0 {
			return name
		}
	}
	return names[0]
}

// number calls name(h, *result).
func (b *binding) number(name string, h handle) (v uint32, ret code) {
	ret = b.call(name, uintptr(h), uintptr(unsafe.Pointer(&v)))
	return v, ret
}

// numberOf calls name(h, what, *result).
func (b *binding) numberOf(name string, h handle, what uint32) (v uint32, ret code) {
	ret = b.call(name, uintptr(h), uintptr(what), uintptr(unsafe.Pointer(&v)))
	return v, ret
}

// pair calls name(h, *first, *second).
func (b *binding) pair(name string, h handle) (first, second uint32, ret code) {
	ret = b.call(name, uintptr(h), uintptr(unsafe.Pointer(&first)), uintptr(unsafe.Pointer(&second)))
	return first, second, ret
}

// part calls name(h, index, *handle).
func (b *binding) part(name string, h handle, index int) (v handle, ret code) {
	ret = b.call(name, uintptr(h), uintptr(index), uintptr(unsafe.Pointer(&v)))
	return v, ret
}

// text calls name(h, buffer, size).
func (b *binding) text(name string, h handle) (string, code) {
	var buffer [96]byte // NVML's largest for a name or a UUID
	ret := b.call(name, uintptr(h), uintptr(unsafe.Pointer(&buffer)), uintptr(len(buffer)))
	return line(buffer[:], ret), ret
}

// line returns the text of a buffer up to its NUL, or "" if the call failed.
func line(buffer []byte, ret code) string {
	if ret != success {
		return ""
	}
	text, _, _ := bytes.Cut(buffer, []byte{0})
	return string(text)
}

// memory is nvmlMemory_t.
type memory struct{ total, free, used uint64 }

// attributes is nvmlDeviceAttributes_t, whose first count is that of multiprocessors.
type attributes struct {
	counts   [8]uint32
	memoryMB uint64
}

// process is nvmlProcessInfo_v2_t, which the second and third version of the calls fill.
type process struct {
	pid    uint32
	memory uint64
	_      [2]uint32 // its slice
}

// process1 is nvmlProcessInfo_v1_t, which the first version fills.
type process1 struct {
	pid    uint32
	memory uint64
}

// maxProcesses bounds what a driver may report.
const maxProcesses = 1 << 16

// list calls name(h, *count, entries), with more entries until all fit.
func list[T any](b *binding, name string, h handle) ([]T, code) {
	for size := 32; ; size *= 2 {
		entries, count := make([]T, size), uint32(size)
		ret := b.call(name, uintptr(h), uintptr(unsafe.Pointer(&count)), uintptr(unsafe.Pointer(unsafe.SliceData(entries))))
		if ret == codeTooSmall && size < maxProcesses {
			continue
		}
		if ret != success {
			return nil, ret
		}
		return entries[:min(int(count), size)], ret
	}
}
