package cuda

import (
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"slices"
	"strings"
)

// emCUDA is the ELF machine type of a cubin.
const emCUDA elf.Machine = 190

// elfHeader is the size of the header of a 64-bit ELF file.
const elfHeader = 64

// entryFlag marks the symbol of a kernel.
const entryFlag = 0x10

// Cubin is device code for one architecture.
type Cubin struct {
	Arch    string
	Kernels []Code
	// Data is the digest of constants and initial values that all kernels share; empty if
	// there are none.
	Data string
}

// Code is the machine code of one device function.
type Code struct {
	Symbol     string
	Digest     string
	Kernel     bool // can be launched; otherwise it can only be called
	MaxThreads int  // per block, if compiled for a limit; 0 means no limit
}

// ReadCubin parses the ELF file of one architecture. The digest of a kernel covers its instructions,
// its literal constants, its static shared memory and the names it refers to. Addresses, notes and
// line information are in other sections and do not count, nor does the kernel's position.
func ReadCubin(data []byte) (c Cubin, err error) {
	if len(data) < elfHeader {
		return c, errors.New("cannot read cubin: it is truncated")
	}
	// NVIDIA uses its own version in the header, which debug/elf would reject.
	plain := bytes.Clone(data)
	binary.LittleEndian.PutUint32(plain[20:], uint32(elf.EV_CURRENT))
	f, err := elf.NewFile(bytes.NewReader(plain))
	if err != nil {
		return c, fmt.Errorf("cannot read cubin: %w", err)
	}
	if f.Machine != emCUDA || f.Class != elf.ELFCLASS64 || f.ByteOrder != binary.LittleEndian {
		return c, fmt.Errorf("cannot read cubin: not a 64-bit little-endian CUDA file (machine %v)", f.Machine)
	}
	r := cubinReader{data: data, budget: 2 * len(data)}
	r.symbols, err = f.Symbols()
	if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
		return c, fmt.Errorf("cannot read cubin: %w", err)
	}
	r.entries = map[string]bool{}
	for _, s := range r.symbols {
		if s.Other&entryFlag != 0 {
			r.entries[s.Name] = true
		}
	}
	c.Arch = cubinArch(data, f)
	shared := sha256.New()
	parts := map[string][]*elf.Section{}
	var kernels []string
	for _, s := range f.Sections {
		if s.Name == ".nv.constant3" || s.Name == ".nv.global.init" {
			r.add(shared, s, s.Name)
			c.Data = sum(shared)
		}
		kind, kernel := PartOf(s.Name)
		parts[kernel] = append(parts[kernel], s)
		if kind == ".text" && s.Type == elf.SHT_PROGBITS && !slices.Contains(kernels[max(0, len(kernels)-1):], kernel) {
			kernels = append(kernels, kernel)
		}
	}
	for _, kernel := range kernels {
		c.Kernels = append(c.Kernels, r.kernel(kernel, parts[kernel]))
		delete(parts, kernel) // a second section with this name is not a second kernel
	}
	if r.budget < 0 {
		return Cubin{}, errors.New("cannot read cubin: its sections overlap")
	}
	return c, nil
}

// PartOf splits the name of a section that belongs to one kernel into its kind and the kernel's
// symbol, which may contain dots.
func PartOf(section string) (kind, kernel string) {
	for _, k := range []string{".text", ".rel.text", ".rela.text", ".nv.shared", ".nv.info"} {
		if symbol, ok := strings.CutPrefix(section, k+"."); ok {
			return k, symbol
		}
	}
	if rest, ok := strings.CutPrefix(section, ".nv.constant"); ok {
		bank, symbol, ok := strings.Cut(rest, ".")
		if ok {
			return ".nv.constant" + bank, symbol
		}
	}
	return "", ""
}

// cubinArch reads the architecture from the flags in the header. It moved by one byte in version 8
// of the ABI.
func cubinArch(data []byte, f *elf.File) string {
	const flagsOffset = 48
	flags := binary.LittleEndian.Uint32(data[flagsOffset:])
	if f.ABIVersion >= 8 {
		flags >>= 8
	}
	return fmt.Sprintf("sm_%d", flags&0xff)
}

type cubinReader struct {
	data    []byte
	symbols []elf.Symbol
	entries map[string]bool
	// budget is how many bytes may still be hashed. It keeps overlapping sections from making
	// a small file expensive.
	budget int
}

func (r *cubinReader) kernel(symbol string, sections []*elf.Section) Code {
	h := sha256.New()
	code := Code{Symbol: symbol}
	for _, s := range sections {
		switch kind, _ := PartOf(s.Name); kind {
		case ".rel.text", ".rela.text":
			r.relocations(h, s)
		case ".nv.info":
			code.MaxThreads = maxThreads(r.bytes(s))
		default:
			r.add(h, s, kind)
		}
	}
	code.Digest = sum(h)
	code.Kernel = r.entries[symbol]
	return code
}

// bytes returns a section's content as stored in the file; nil if it is incomplete.
func (r *cubinReader) bytes(s *elf.Section) []byte {
	if s.Type == elf.SHT_NOBITS || s.Offset > uint64(len(r.data)) || s.FileSize > uint64(len(r.data))-s.Offset {
		return nil
	}
	if r.budget -= int(s.FileSize); r.budget < 0 {
		return nil
	}
	return r.data[s.Offset : s.Offset+s.FileSize]
}

func (r *cubinReader) add(h hash.Hash, s *elf.Section, name string) {
	fmt.Fprintf(h, "%s %d\n", name, s.Size)
	h.Write(r.bytes(s))
}

// relocations hashes relocations by the names they refer to, not by symbol numbers, which change when
// another kernel is added.
func (r *cubinReader) relocations(h hash.Hash, s *elf.Section) {
	step := 16
	if s.Type == elf.SHT_RELA { //nolint:misspell // it is called so
		step = 24
	}
	for entry := range slices.Chunk(r.bytes(s), step) {
		if len(entry) < step {
			return
		}
		info := binary.LittleEndian.Uint64(entry[8:])
		name := ""
		if i := info >> 32; i > 0 && i <= uint64(len(r.symbols)) {
			name = r.symbols[i-1].Name
		}
		fmt.Fprintf(h, "relocation %d %d %q", binary.LittleEndian.Uint64(entry), uint32(info), name)
		h.Write(entry[16:])
	}
}

// The attributes of .nv.info that limit the threads of a block, and the format of its records: a
// value in the record itself, or a size followed by that many bytes.
const (
	attrMaxThreads = 0x05 // __launch_bounds__
	attrReqThreads = 0x10 // an exact number
	formatSized    = 0x04
)

func maxThreads(info []byte) int {
	for len(info) >= 4 {
		size := 0
		if info[0] == formatSized {
			size = int(binary.LittleEndian.Uint16(info[2:]))
		}
		if size > len(info)-4 {
			return 0
		}
		value := info[4 : 4+size]
		if attr := info[1]; size == 12 && info[0] == formatSized && (attr == attrMaxThreads || attr == attrReqThreads) {
			threads := 1
			for i := range 3 {
				threads *= int(min(binary.LittleEndian.Uint32(value[4*i:]), 1<<16))
			}
			return threads
		}
		info = info[4+size:]
	}
	return 0
}

func sum(h hash.Hash) string { return "sha256:" + hex.EncodeToString(h.Sum(nil)) }
