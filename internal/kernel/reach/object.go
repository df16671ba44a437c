package reach

import (
	"bytes"
	"context"
	"crypto/sha256"
	"debug/elf"
	"errors"
	"fmt"
	"slices"
	"sort"
)

// maxText is the max size of a file's code in bytes, and maxReach the max number of functions that a kernel may reach.
// More would take longer than measuring.
const (
	maxText  = 8 << 20
	maxReach = 20_000
)

// page is the size of a page. The same instructions can be slower elsewhere: across two cache lines, or where caches and
// branch predictors mix them up with others. Loading a file keeps positions in pages, and distances, so these count.
const page = 4096

// object is a shared object for x86-64.
type object struct {
	sections []*elf.Section // that are loaded, by address
	blocks   []block        // by address
	slots    map[uint64]target
	symbols  []elf.Symbol
	common   string // digest of what any kernel of the file may read, and of what runs when it is loaded
}

// target is what the loader writes into a slot.
type target struct {
	name, version string // what it looks up; empty for an address of the file
	at            uint64 // address in the file
	inside        bool   // the file defines it
	why           string // why it is not known; empty if it is
}

func openObject(ctx context.Context, path string, data []byte) (*object, error) {
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	if f.Type != elf.ET_DYN {
		return nil, ErrUnsupported
	}
	dynamic, err := readDynamic(f)
	if err != nil {
		return nil, err
	}
	if err := checkNames(f); err != nil {
		return nil, err
	}
	o := &object{slots: map[uint64]target{}}
	if o.symbols, err = f.DynamicSymbols(); err != nil {
		return nil, err
	}
	if o.sections, err = loaded(f, dynamic); err != nil {
		return nil, err
	}
	if err := o.relocate(); err != nil {
		return nil, err
	}
	if o.blocks, err = disassemble(ctx, path, o.limit); err != nil {
		return nil, err
	}
	if o.common, err = o.digestCommon(f, dynamic); err != nil {
		return nil, err
	}
	return o, nil
}

// kernel returns the digest of what the kernel can reach.
func (o *object) kernel(symbol string) (string, error) {
	var found []elf.Symbol
	for _, s := range o.symbols {
		if s.Name == symbol && s.Section != elf.SHN_UNDEF {
			found = append(found, s)
		}
	}
	if len(found) != 1 || elf.ST_TYPE(found[0].Info) != elf.STT_FUNC {
		return "", fmt.Errorf("%s is not one function of the file", symbol)
	}
	w := walk{object: o, h: sha256.New(), kernel: true, start: found[0].Value, number: map[int]int{}}
	if err := errors.Join(w.address(found[0].Value), w.finish()); err != nil {
		return "", fmt.Errorf("%s: %w", symbol, err)
	}
	return digestOf(o.common, sum(w.h)), nil
}

// digestCommon returns the digest of all data, and of all code that it points to: constructors, and functions in tables.
func (o *object) digestCommon(f *elf.File, dynamic dynamicTags) (string, error) {
	w := walk{object: o, h: sha256.New(), number: map[int]int{}}
	fmt.Fprintf(w.h, "%q %d %d\n", dynamic.needed, dynamic.value[elf.DT_FLAGS], dynamic.value[elf.DT_FLAGS_1])
	for _, p := range f.Progs {
		fmt.Fprintf(w.h, "segment %d %d %d\n", p.Type, p.Flags, p.Align)
	}
	for _, s := range o.sections {
		if kindOf(s) != isData {
			continue
		}
		fmt.Fprintf(w.h, "%s %d %d %d %d\n", s.Name, s.Type, s.Flags, s.Size, s.Addralign)
		var content []byte
		if s.Type != elf.SHT_NOBITS {
			var err error
			if content, err = s.Data(); err != nil {
				return "", err
			}
			content = bytes.Clone(content)
		}
		slots := o.slotsOf(s)
		for _, at := range slots {
			if offset := at - s.Addr; offset+8 <= uint64(len(content)) {
				clear(content[offset : offset+8]) // the loader writes it
			}
		}
		w.h.Write(content)
		for _, at := range slots {
			fmt.Fprintf(w.h, "slot %d ", at-s.Addr)
			if err := w.refer(o.slots[at]); err != nil {
				return "", err
			}
		}
	}
	for _, tag := range []elf.DynTag{elf.DT_INIT, elf.DT_FINI} {
		if at := dynamic.value[tag]; at != 0 {
			if err := w.address(at); err != nil {
				return "", err
			}
		}
	}
	if err := w.finish(); err != nil {
		return "", fmt.Errorf("code that runs when it is loaded, or that its data points to: %w", err)
	}
	return sum(w.h), nil
}

// slotsOf returns the addresses in a section that the loader writes, in order.
func (o *object) slotsOf(s *elf.Section) []uint64 {
	var list []uint64
	for at := range o.slots {
		if at >= s.Addr && at-s.Addr < s.Size {
			list = append(list, at)
		}
	}
	slices.Sort(list)
	return list
}

// sectionAt returns the section at an address; nil if there is none.
func (o *object) sectionAt(at uint64) *elf.Section {
	i := sort.Search(len(o.sections), func(i int) bool { return o.sections[i].Addr > at }) - 1
	if i < 0 || at-o.sections[i].Addr >= o.sections[i].Size {
		return nil
	}
	return o.sections[i]
}

func (o *object) limit(at uint64) uint64 {
	if s := o.sectionAt(at); s != nil {
		return s.Addr + s.Size
	}
	return at
}

// blockAt returns the index of the block at an address; -1 if there is none.
func (o *object) blockAt(at uint64) int {
	i := sort.Search(len(o.blocks), func(i int) bool { return o.blocks[i].start > at }) - 1
	if i < 0 || at >= o.blocks[i].end {
		return -1
	}
	return i
}
