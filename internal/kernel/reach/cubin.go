package reach

import (
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"slices"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/kernel/build/cuda"
)

// emCUDA is the ELF machine of a cubin.
const emCUDA elf.Machine = 190

// entryFlag marks the symbol of a kernel.
const entryFlag = 0x10

// cubin is device code for one architecture. A kernel has sections of its own. Everything else is shared: it may be
// called or read by any kernel.
type cubin struct {
	shared  string
	kernels map[string]string // digests of their own sections
}

// notCode lists sections that a device neither executes nor reads: names, line numbers, and tables with an entry for
// every function, of which those of a kernel follow from its own sections.
var notCode = []string{"", ".shstrtab", ".strtab", ".symtab", ".symtab_shndx", ".nv.info", ".nv.callgraph"}

var forDebugger = lazyregexp.New(`^(\.rel[a]?)?\.(nv_)?debug`)

func openCubin(data []byte) (*cubin, error) {
	// NVIDIA uses its own version in the header, which debug/elf would reject.
	plain := bytes.Clone(data)
	binary.LittleEndian.PutUint32(plain[20:], uint32(elf.EV_CURRENT))
	f, err := elf.NewFile(bytes.NewReader(plain))
	if err != nil {
		return nil, err
	}
	r := cubinReader{data: data, sections: f.Sections, entries: map[string]bool{}, budget: 2 * len(data)}
	if r.symbols, err = f.Symbols(); err != nil {
		return nil, err
	}
	for _, s := range r.symbols {
		if s.Other&entryFlag != 0 {
			r.entries[s.Name] = true
		}
	}
	shared, own := sha256.New(), map[string]hash.Hash{}
	const flagsOffset = 48
	fmt.Fprintf(shared, "flags %d %d\n", binary.LittleEndian.Uint32(data[flagsOffset:]), f.ABIVersion)
	for _, s := range f.Sections {
		kind, kernel := cuda.PartOf(s.Name)
		switch {
		case slices.Contains(notCode, s.Name), forDebugger.MatchString(s.Name), s.Type == elf.SHT_NOTE:
		case r.entries[kernel]:
			if own[kernel] == nil {
				own[kernel] = sha256.New()
			}
			r.add(own[kernel], kind, kernel, s)
		default:
			r.add(shared, s.Name, "", s)
		}
	}
	switch {
	case r.budget < 0:
		return nil, errors.New("its sections overlap")
	case r.launches != "":
		return nil, fmt.Errorf("its code or data refers to the kernel %s, which may be launched from the device", r.launches)
	}
	c := &cubin{shared: sum(shared), kernels: map[string]string{}}
	for kernel, h := range own {
		c.kernels[kernel] = sum(h)
	}
	return c, nil
}

func (c *cubin) kernel(symbol string) (string, error) {
	own, ok := c.kernels[symbol]
	if !ok {
		return "", fmt.Errorf("there is no kernel %s", symbol)
	}
	return digestOf(c.shared, own), nil
}

type cubinReader struct {
	data     []byte
	sections []*elf.Section
	symbols  []elf.Symbol
	entries  map[string]bool // names of kernels
	launches string          // a kernel that something else refers to; empty if there is none
	// budget is how many bytes may still be hashed. It keeps overlapping sections from making a small file expensive.
	budget int
}

// registers is the part of a section's info that has the number of registers of a kernel. The rest is the index of its
// symbol, which changes when another kernel is added.
const registers = 0xff << 24

// add hashes a section, of a kernel or, if that is empty, of all of them.
func (r *cubinReader) add(h hash.Hash, name, kernel string, s *elf.Section) {
	info := uint32(0)
	if s.Type == elf.SHT_PROGBITS {
		info = s.Info & registers
	}
	fmt.Fprintf(h, "%s %d %d %d %d %d\n", name, s.Type, s.Flags, s.Size, s.Addralign, info)
	if s.Type == elf.SHT_NOBITS {
		return
	}
	if r.budget -= int(min(s.FileSize, maxFile)); r.budget < 0 || s.Offset > uint64(len(r.data)) || s.FileSize > uint64(len(r.data))-s.Offset {
		r.budget = -1
		return
	}
	content := r.data[s.Offset : s.Offset+s.FileSize]
	step := map[elf.SectionType]int{elf.SHT_REL: 16, elf.SHT_RELA: 24}[s.Type] //nolint:misspell // it is called so
	if step == 0 {
		h.Write(content)
		return
	}
	for entry := range slices.Chunk(content, step) {
		if len(entry) < step {
			r.budget = -1
			return
		}
		info, to := binary.LittleEndian.Uint64(entry[8:]), elf.Symbol{}
		if i := info >> 32; i > 0 && i <= uint64(len(r.symbols)) {
			to = r.symbols[i-1]
			r.refer(kernel, to)
		}
		fmt.Fprintf(h, "relocation %d %d %q %d %x\n", binary.LittleEndian.Uint64(entry), uint32(info), to.Name, to.Value, entry[16:])
	}
}

// refer notes a kernel that a symbol belongs to, unless it is the one that refers to it.
func (r *cubinReader) refer(kernel string, s elf.Symbol) {
	if int(s.Section) >= len(r.sections) { // it is not in the file
		return
	}
	if _, other := cuda.PartOf(r.sections[s.Section].Name); other != kernel && r.entries[other] {
		r.launches = other
	}
}
