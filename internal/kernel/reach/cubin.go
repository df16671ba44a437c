package reach

import (
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
	f, err := cuda.OpenCubin(data)
	if err != nil {
		return nil, err
	}
	r := cubinReader{File: f}
	shared, own := sha256.New(), map[string]hash.Hash{}
	fmt.Fprintf(shared, "flags %d %d\n", f.Flags, f.ABIVersion)
	for _, s := range f.Sections {
		kind, kernel := cuda.PartOf(s.Name)
		switch {
		case slices.Contains(notCode, s.Name), forDebugger.MatchString(s.Name), s.Type == elf.SHT_NOTE:
		case f.Entries[kernel]:
			if own[kernel] == nil {
				own[kernel] = sha256.New()
			}
			r.add(own[kernel], kind, kernel, s)
		default:
			r.add(shared, s.Name, "", s)
		}
	}
	switch {
	case f.Broken:
		return nil, errors.New("its sections overlap or are truncated")
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
	*cuda.File
	launches string // a kernel that something else refers to; empty if there is none
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
	if s.Type != elf.SHT_REL && s.Type != elf.SHT_RELA { //nolint:misspell // it is called so
		h.Write(r.Content(s))
		return
	}
	for entry, to := range r.Relocations(s) {
		r.refer(kernel, to)
		fmt.Fprintf(h, "relocation %d %d %q %d %x\n", binary.LittleEndian.Uint64(entry), binary.LittleEndian.Uint32(entry[8:]), to.Name, to.Value, entry[16:])
	}
}

// refer notes a kernel that a symbol belongs to, unless it is the one that refers to it.
func (r *cubinReader) refer(kernel string, s elf.Symbol) {
	if int(s.Section) >= len(r.Sections) { // it is not in the file
		return
	}
	if _, other := cuda.PartOf(r.Sections[s.Section].Name); other != kernel && r.Entries[other] {
		r.launches = other
	}
}
