//go:build linux && (amd64 || arm64)

package nvml

import (
	"unsafe"
)

// Getters calls every getter that a state needs once, and reports how each ended.
func (d *Device) Getters() []Getter {
	var getters []Getter
	add := func(symbol string, get func(symbol string) code) {
		from := d.lib.opts.Now()
		ret := get(symbol)
		getters = append(getters, Getter{
			Symbol: symbol, Code: int(ret), Took: d.lib.opts.Now().Sub(from),
			Unexpected: ret != success && ret != codeNotSupported && ret != codeNoPermission && ret != codeFunctionNotFound && ret != codeNoData,
		})
	}
	number := func(symbol string) code {
		_, ret := d.number(symbol)
		return ret
	}
	numberOf := func(what uint32) func(string) code {
		return func(symbol string) code {
			_, ret := d.lib.numberOf(symbol, d.card, what)
			return ret
		}
	}
	mode := func(symbol string) code {
		_, ret := d.current(symbol)
		return ret
	}
	long := func(symbol string) code {
		_, ret := d.long(symbol)
		return ret
	}
	add("nvmlDeviceGetClockInfo", numberOf(clockSM))
	add("nvmlDeviceGetClockInfo", numberOf(clockMemory))
	add("nvmlDeviceGetMaxClockInfo", numberOf(clockSM))
	add("nvmlDeviceGetTemperature", numberOf(sensorGPU))
	add("nvmlDeviceGetPowerUsage", number)
	add("nvmlDeviceGetEnforcedPowerLimit", number)
	add("nvmlDeviceGetTotalEnergyConsumption", long)
	add(d.lib.first("nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"), long)
	add("nvmlDeviceGetEccMode", mode)
	add("nvmlDeviceGetMigMode", mode)
	add("nvmlDeviceGetPersistenceMode", number)
	add("nvmlDeviceGetMemoryInfo", func(symbol string) code {
		var m memory
		return d.lib.call(symbol, uintptr(d.part), uintptr(unsafe.Pointer(&m)))
	})
	add(d.lib.first("nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2"), func(symbol string) code {
		_, ret := list[process](d.lib.binding, symbol, d.card)
		return ret
	})
	return getters
}
