package devicetest

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// NVML return codes that a test may script.
const (
	OK              = 0
	InvalidArgument = 2
	NotSupported    = 3
	NoPermission    = 4
	DriverNotLoaded = 9
	FunctionMissing = 13
	GPULost         = 15
	VersionMismatch = 18
	UnknownError    = 999
)

// State is a machine with GPUs as NVML reports it.
type State struct {
	Init   int // return code of nvmlInit
	Driver string
	CUDA   int // 12040 is CUDA 12.4
	GPUs   []GPU

	Denied      bool           // setters fail because they need more permission
	NoTDP       bool           // the symbolic base clock is refused, as an old driver does
	Fail        map[string]int // return code by NVML function name
	PauseMicros int            // microseconds that a setter sleeps before and again after it acts
	Die         int            // the process kills itself at this NVML call, counted from 1
}

// GPU is one card. A field with the value Unsupported is not supported.
type GPU struct {
	Name, UUID, VBIOS, Capability string

	Cores       int
	MemoryBytes int64

	SMClock, MemoryClock, MaxClock, DefaultClock int // MHz
	MaxMemoryClock, BusWidth                     int // MHz, bits
	Temperature                                  int // degrees
	Power, PowerCap                              int // milliwatts
	ECC, Persistence                             int // 0 off, 1 on
	Reasons                                      int // bits
	ReasonsAt                                    At  // more bits from the n-th reading of this process onward
	ReasonsAfter                                 At  // more bits n milliseconds after this process's first call

	Locked    int // lowest locked clock in MHz, or TDP, or 0 if free
	Lost      int // return code when getting a handle
	MIG       int
	Slices    []Slice
	Processes []Process
}

// Unsupported is the value of a field that a GPU does not support.
const Unsupported = -1

// TDP is the value of GPU.Locked under the symbolic base clock.
const TDP = 0xffffff01

// At is a moment and the bits that are set from then on.
type At struct{ N, Bits int }

// Slice is a part of a card under MIG.
type Slice struct {
	Name, UUID string
	SMs        int
}

// Process is a process with a context on the GPU.
type Process struct {
	PID         int
	MemoryBytes uint64
}

// L4 returns an idle NVIDIA L4 with persistence off and free clocks.
func L4() GPU {
	return GPU{
		Name: "NVIDIA L4", UUID: "GPU-11111111-2222-3333-4444-555555555555", VBIOS: "95.04.29.00.06", Capability: "8.9",
		Cores: 7424, MemoryBytes: 23034 << 20,
		SMClock: 210, MemoryClock: 405, MaxClock: 2040, DefaultClock: 1590, MaxMemoryClock: 6251, BusWidth: 192,
		Temperature: 41, Power: 16500, PowerCap: 72000, ECC: 1, MIG: Unsupported, Reasons: 0x1,
	}
}

// A100 returns a card with two slices.
func A100() GPU {
	return GPU{
		Name: "NVIDIA A100-SXM4-40GB", UUID: "GPU-aaaaaaaa-2222-3333-4444-555555555555", VBIOS: "92.00.19.00.01", Capability: "8.0",
		Cores: 6912, MemoryBytes: 40960 << 20,
		SMClock: 1095, MemoryClock: 1215, MaxClock: 1410, DefaultClock: 1095, MaxMemoryClock: 1215, BusWidth: 5120,
		Temperature: 35, Power: 48000, PowerCap: 400000, ECC: 1, Persistence: 1, MIG: 1,
		Slices: []Slice{
			{Name: "NVIDIA A100-SXM4-40GB MIG 3g.20gb", UUID: "MIG-bbbbbbbb-0000-0000-0000-000000000001", SMs: 42},
			{Name: "NVIDIA A100-SXM4-40GB MIG 1g.5gb", UUID: "MIG-cccccccc-0000-0000-0000-000000000002", SMs: 14},
		},
	}
}

// numbers maps the numeric fields of a GPU by their names in the stub's file.
func (g *GPU) numbers() map[string]*int {
	return map[string]*int{
		"cores": &g.Cores, "sm_clock": &g.SMClock, "memory_clock": &g.MemoryClock, "max_clock": &g.MaxClock,
		"max_memory_clock": &g.MaxMemoryClock, "bus_width": &g.BusWidth,
		"default_clock": &g.DefaultClock, "temperature": &g.Temperature, "power": &g.Power, "power_cap": &g.PowerCap,
		"ecc": &g.ECC, "persistence": &g.Persistence, "reasons": &g.Reasons, "locked": &g.Locked, "lost": &g.Lost, "mig": &g.MIG,
	}
}

func (s State) encode() []byte {
	var b bytes.Buffer
	line := func(key string, values ...any) { fmt.Fprintf(&b, "%s %s", key, fmt.Sprintln(values...)) }
	if s.Driver == "" {
		s.Driver = "550.54.15"
	}
	if s.CUDA == 0 {
		s.CUDA = 12040
	}
	line("init", s.Init)
	line("driver", s.Driver)
	line("cuda", s.CUDA)
	line("denied", bit(s.Denied))
	line("no_tdp", bit(s.NoTDP))
	line("pause_us", s.PauseMicros)
	line("die", s.Die)
	for _, name := range slices.Sorted(maps.Keys(s.Fail)) {
		line("fail."+name, s.Fail[name])
	}
	line("gpus", len(s.GPUs))
	for i := range s.GPUs {
		s.GPUs[i].encode(i, line)
	}
	return b.Bytes()
}

func (g *GPU) encode(index int, line func(key string, values ...any)) {
	key := func(parts ...any) string {
		return fmt.Sprintf("%d.%s", index, strings.ReplaceAll(strings.TrimSpace(fmt.Sprintln(parts...)), " ", "."))
	}
	for name, text := range map[string]string{"name": g.Name, "uuid": g.UUID, "vbios": g.VBIOS, "capability": g.Capability} {
		if text != "" {
			line(key(name), text)
		}
	}
	for name, v := range g.numbers() {
		if *v != Unsupported {
			line(key(name), *v)
		}
	}
	line(key("memory"), g.MemoryBytes)
	if g.ReasonsAt.Bits != 0 {
		line(key("reasons_at"), g.ReasonsAt.N, fmt.Sprintf("%#x", g.ReasonsAt.Bits))
	}
	if g.ReasonsAfter.Bits != 0 {
		line(key("reasons_after"), g.ReasonsAfter.N, fmt.Sprintf("%#x", g.ReasonsAfter.Bits))
	}
	line(key("slices"), len(g.Slices))
	for i, s := range g.Slices {
		line(key(i, "name"), s.Name)
		line(key(i, "uuid"), s.UUID)
		line(key(i, "sms"), s.SMs)
	}
	line(key("processes"), len(g.Processes))
	for i, p := range g.Processes {
		line(key("processes", i), p.PID, p.MemoryBytes)
	}
}

// decode parses what encode and the stub's setters wrote.
func decode(b []byte) State {
	value := map[string]string{}
	for line := range strings.Lines(string(b)) {
		key, v, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		value[key] = v
	}
	number := func(key string) int {
		n, err := strconv.Atoi(value[key])
		if err != nil {
			return Unsupported
		}
		return n
	}
	s := State{
		Init: number("init"), Driver: value["driver"], CUDA: number("cuda"), Denied: number("denied") == 1,
		NoTDP: number("no_tdp") == 1, PauseMicros: number("pause_us"), Die: number("die"),
	}
	for key, v := range value {
		if name, ok := strings.CutPrefix(key, "fail."); ok {
			if s.Fail == nil {
				s.Fail = map[string]int{}
			}
			s.Fail[name], _ = strconv.Atoi(v)
		}
	}
	for i := range number("gpus") {
		s.GPUs = append(s.GPUs, decodeGPU(fmt.Sprintf("%d.", i), value, number))
	}
	return s
}

func decodeGPU(prefix string, value map[string]string, number func(string) int) GPU {
	g := GPU{
		Name: value[prefix+"name"], UUID: value[prefix+"uuid"], VBIOS: value[prefix+"vbios"],
		Capability: value[prefix+"capability"], MemoryBytes: int64(number(prefix + "memory")),
	}
	for name, field := range g.numbers() {
		*field = number(prefix + name)
	}
	_, _ = fmt.Sscanf(value[prefix+"reasons_at"], "%d %v", &g.ReasonsAt.N, &g.ReasonsAt.Bits)
	_, _ = fmt.Sscanf(value[prefix+"reasons_after"], "%d %v", &g.ReasonsAfter.N, &g.ReasonsAfter.Bits)
	for i := range number(prefix + "slices") {
		p := fmt.Sprintf("%s%d.", prefix, i)
		g.Slices = append(g.Slices, Slice{Name: value[p+"name"], UUID: value[p+"uuid"], SMs: number(p + "sms")})
	}
	for i := range number(prefix + "processes") {
		var p Process
		_, _ = fmt.Sscanf(value[fmt.Sprintf("%sprocesses.%d", prefix, i)], "%d %d", &p.PID, &p.MemoryBytes)
		g.Processes = append(g.Processes, p)
	}
	return g
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}
