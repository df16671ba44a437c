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
	"iter"
	"slices"
	"strings"
)

// Machine is the ELF machine type of a cubin.
const Machine elf.Machine = 190

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

// File is a cubin as an ELF file. A build of untrusted code may have written it.
type File struct {
	*elf.File
	Names   []elf.Symbol    // numbered from 1
	Entries map[string]bool // names of kernels
	Flags   uint32          // of the header
	Broken  bool            // a section that was read is truncated, or sections overlap

	data []byte
	// left is how many bytes may still be read. It keeps overlapping sections from making a
	// small file expensive.
	left int
}

// OpenCubin parses the ELF file of one architecture.
func OpenCubin(data []byte) (*File, error) {
	if len(data) < elfHeader {
		return nil, errors.New("cannot read cubin: it is truncated")
	}
	// NVIDIA uses its own version in the header, which debug/elf would reject.
	data = bytes.Clone(data)
	binary.LittleEndian.PutUint32(data[20:], uint32(elf.EV_CURRENT))
	e, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("cannot read cubin: %w", err)
	}
	if e.Machine != Machine || e.Class != elf.ELFCLASS64 || e.ByteOrder != binary.LittleEndian {
		return nil, fmt.Errorf("cannot read cubin: not a 64-bit little-endian CUDA file (machine %v)", e.Machine)
	}
	f := &File{File: e, Entries: map[string]bool{}, Flags: binary.LittleEndian.Uint32(data[48:]), data: data, left: 2 * len(data)}
	if f.Names, err = e.Symbols(); err != nil && !errors.Is(err, elf.ErrNoSymbols) {
		return nil, fmt.Errorf("cannot read cubin: %w", err)
	}
	for _, s := range f.Names {
		if s.Other&entryFlag != 0 {
			f.Entries[s.Name] = true
		}
	}
	return f, nil
}

// Content returns a section as stored in the file; nil if it is broken.
func (f *File) Content(s *elf.Section) []byte {
	if s.Type == elf.SHT_NOBITS {
		return nil
	}
	if size := uint64(len(f.data)); s.Offset > size || s.FileSize > size-s.Offset || s.FileSize > uint64(f.left) {
		f.Broken = true
		return nil
	}
	f.left -= int(s.FileSize)
	return f.data[s.Offset : s.Offset+s.FileSize]
}

// Relocations yields the entries of a section, each with the symbol it names. The number of a
// symbol changes when another kernel is added.
func (f *File) Relocations(s *elf.Section) iter.Seq2[[]byte, elf.Symbol] {
	step := 16
	if s.Type == elf.SHT_RELA { //nolint:misspell // it is called so
		step = 24
	}
	return func(yield func([]byte, elf.Symbol) bool) {
		for entry := range slices.Chunk(f.Content(s), step) {
			if len(entry) < step {
				f.Broken = true
				return
			}
			to := elf.Symbol{}
			if i := binary.LittleEndian.Uint32(entry[12:]); i > 0 && uint64(i) <= uint64(len(f.Names)) {
				to = f.Names[i-1]
			}
			if !yield(entry, to) {
				return
			}
		}
	}
}

// ReadCubin parses the ELF file of one architecture. The digest of a kernel covers its instructions,
// its literal constants, its static shared memory and the names it refers to. Addresses, notes and
// line information are in other sections and do not count, nor does the kernel's position.
func ReadCubin(data []byte) (Cubin, error) {
	f, err := OpenCubin(data)
	if err != nil {
		return Cubin{}, err
	}
	c := Cubin{Arch: f.arch()}
	shared := sha256.New()
	parts := map[string][]*elf.Section{}
	var kernels []string
	for _, s := range f.Sections {
		if s.Name == ".nv.constant3" || s.Name == ".nv.global.init" {
			f.add(shared, s, s.Name)
			c.Data = sum(shared)
		}
		kind, kernel := PartOf(s.Name)
		parts[kernel] = append(parts[kernel], s)
		if kind == ".text" && s.Type == elf.SHT_PROGBITS && !slices.Contains(kernels[max(0, len(kernels)-1):], kernel) {
			kernels = append(kernels, kernel)
		}
	}
	for _, kernel := range kernels {
		c.Kernels = append(c.Kernels, f.code(kernel, parts[kernel]))
		delete(parts, kernel) // a second section with this name is not a second kernel
	}
	if f.Broken {
		return Cubin{}, errors.New("cannot read cubin: its sections overlap or are truncated")
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

// arch reads the architecture from the flags in the header. It moved by one byte in version 8
// of the ABI.
func (f *File) arch() string {
	flags := f.Flags
	if f.ABIVersion >= 8 {
		flags >>= 8
	}
	return fmt.Sprintf("sm_%d", flags&0xff)
}

func (f *File) code(symbol string, sections []*elf.Section) Code {
	h := sha256.New()
	code := Code{Symbol: symbol, Kernel: f.Entries[symbol]}
	for _, s := range sections {
		switch kind, _ := PartOf(s.Name); kind {
		case ".rel.text", ".rela.text":
			for entry, to := range f.Relocations(s) {
				fmt.Fprintf(h, "relocation %d %d %q", binary.LittleEndian.Uint64(entry), binary.LittleEndian.Uint32(entry[8:]), to.Name)
				h.Write(entry[16:])
			}
		case ".nv.info":
			code.MaxThreads = maxThreads(f.Content(s))
		default:
			f.add(h, s, kind)
		}
	}
	code.Digest = sum(h)
	return code
}

func (f *File) add(h hash.Hash, s *elf.Section, name string) {
	fmt.Fprintf(h, "%s %d\n", name, s.Size)
	h.Write(f.Content(s))
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
