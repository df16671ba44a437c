package reach

import (
	"cmp"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// dynamicTags is what the loader is told by the file.
type dynamicTags struct {
	value  map[elf.DynTag]uint64
	needed []string
}

// knownTags lists what may be said to the loader. Anything else could load or run more than this package sees.
var knownTags = []elf.DynTag{
	elf.DT_NULL, elf.DT_NEEDED, elf.DT_INIT, elf.DT_FINI, elf.DT_INIT_ARRAY, elf.DT_INIT_ARRAYSZ, elf.DT_FINI_ARRAY, elf.DT_FINI_ARRAYSZ,
	elf.DT_HASH, elf.DT_GNU_HASH, elf.DT_STRTAB, elf.DT_SYMTAB, elf.DT_STRSZ, elf.DT_SYMENT, elf.DT_PLTGOT, elf.DT_PLTRELSZ, elf.DT_PLTREL,
	elf.DT_JMPREL, elf.DT_RELA, elf.DT_RELASZ, elf.DT_RELAENT, elf.DT_RELACOUNT, elf.DT_VERNEED, elf.DT_VERNEEDNUM, elf.DT_VERSYM, //nolint:misspell // likewise
	elf.DT_VERDEF, elf.DT_VERDEFNUM, elf.DT_SONAME, elf.DT_FLAGS, elf.DT_FLAGS_1, elf.DT_BIND_NOW,
}

// knownLibraries are found in the folders of the system, so they are the same for both sides.
var knownLibraries = []string{
	"libc.so.6", "libm.so.6", "libmvec.so.1", "libgcc_s.so.1", "libgomp.so.1", "libpthread.so.0", "libstdc++.so.6", "ld-linux-x86-64.so.2",
}

func readDynamic(f *elf.File) (d dynamicTags, err error) {
	d.value = map[elf.DynTag]uint64{}
	s := f.SectionByType(elf.SHT_DYNAMIC)
	if s == nil {
		return d, errors.New("it has no dynamic section")
	}
	data, err := s.Data()
	if err != nil {
		return d, err
	}
	for entry := range slices.Chunk(data, 16) {
		if len(entry) < 16 {
			break
		}
		tag := elf.DynTag(int32(binary.LittleEndian.Uint64(entry)))
		if !slices.Contains(knownTags, tag) || uint64(tag) != binary.LittleEndian.Uint64(entry) {
			return d, fmt.Errorf("it tells the loader %v", tag)
		}
		if tag == elf.DT_NULL {
			break
		}
		d.value[tag] = binary.LittleEndian.Uint64(entry[8:])
	}
	if d.value[elf.DT_FLAGS]&^uint64(elf.DF_BIND_NOW) != 0 {
		return d, fmt.Errorf("it tells the loader %v", elf.DynFlag(d.value[elf.DT_FLAGS]))
	}
	if d.needed, err = f.ImportedLibraries(); err != nil {
		return d, err
	}
	for _, name := range d.needed {
		if !slices.Contains(knownLibraries, name) {
			return d, fmt.Errorf("it needs the library %s", name)
		}
	}
	return d, nil
}

// checkNames fails if a name could be taken for a line of its own: objdump prints names, and its output is parsed.
func checkNames(f *elf.File) error {
	static, err := f.Symbols()
	if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
		return err
	}
	dynamic, err := f.DynamicSymbols()
	if err != nil {
		return err
	}
	var names []string
	for _, s := range slices.Concat(static, dynamic) {
		names = append(names, s.Name)
	}
	for _, s := range f.Sections {
		names = append(names, s.Name)
	}
	if i := slices.IndexFunc(names, func(name string) bool { return strings.ContainsFunc(name, unicode.IsControl) }); i >= 0 {
		return fmt.Errorf("it has the name %.40q", names[i])
	}
	return nil
}

// loaded returns the sections that are loaded, by address. It fails if they do not describe what the loader loads: tools
// read sections, and the loader does not.
func loaded(f *elf.File, dynamic dynamicTags) ([]*elf.Section, error) {
	var list []*elf.Section
	text := uint64(0)
	for _, s := range f.Sections {
		if s.Flags&elf.SHF_ALLOC == 0 || s.Size == 0 {
			continue
		}
		if s.Flags&(elf.SHF_TLS|elf.SHF_COMPRESSED) != 0 {
			return nil, fmt.Errorf("it has variables of threads (%s)", s.Name)
		}
		if !inSegment(f, s) {
			return nil, fmt.Errorf("its section %s is not what is loaded", s.Name)
		}
		if s.Flags&elf.SHF_EXECINSTR != 0 {
			text += s.Size
		}
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b *elf.Section) int { return cmp.Compare(a.Addr, b.Addr) })
	for i := range list[:max(0, len(list)-1)] {
		if list[i].Addr+list[i].Size > list[i+1].Addr {
			return nil, fmt.Errorf("its sections %s and %s overlap", list[i].Name, list[i+1].Name)
		}
	}
	if text > maxText {
		return nil, fmt.Errorf("it has more than %d MB of code", maxText>>20)
	}
	return list, errors.Join(checkSegments(f), checkTables(f, dynamic))
}

// inSegment reports whether a segment loads the section as the section describes itself.
func inSegment(f *elf.File, s *elf.Section) bool {
	return slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool {
		size := p.Filesz
		if s.Type == elf.SHT_NOBITS {
			size = p.Memsz
		}
		inside := p.Type == elf.PT_LOAD && s.Addr >= p.Vaddr && s.Size <= size && s.Addr-p.Vaddr <= size-s.Size
		return inside && (s.Type == elf.SHT_NOBITS || s.Offset-p.Off == s.Addr-p.Vaddr) &&
			(s.Flags&elf.SHF_EXECINSTR == 0 || p.Flags&elf.PF_X != 0)
	})
}

// checkSegments fails if one segment would replace a part of another.
func checkSegments(f *elf.File) error {
	end := uint64(0)
	for _, p := range f.Progs {
		if p.Type != elf.PT_LOAD {
			continue
		}
		if p.Vaddr/page*page < end || p.Vaddr+p.Memsz < p.Vaddr {
			return errors.New("its segments overlap")
		}
		end = (p.Vaddr + p.Memsz + page - 1) / page * page
	}
	return nil
}

// checkTables fails if the loader does not read the tables that the sections describe.
func checkTables(f *elf.File, dynamic dynamicTags) error {
	at := func(t elf.SectionType, name string) (start, size uint64) {
		for _, s := range f.Sections {
			if s.Type == t && s.Flags&elf.SHF_ALLOC != 0 && (name == "" || s.Name == name) {
				return s.Addr, s.Size
			}
		}
		return 0, 0
	}
	const addends = elf.SHT_RELA //nolint:misspell // it is called so
	for _, table := range []struct {
		kind        elf.SectionType
		name        string
		start, size elf.DynTag
	}{
		{elf.SHT_DYNSYM, "", elf.DT_SYMTAB, 0},
		{elf.SHT_STRTAB, ".dynstr", elf.DT_STRTAB, elf.DT_STRSZ},
		{addends, ".rela.dyn", elf.DT_RELA, elf.DT_RELASZ}, //nolint:misspell // likewise
		{addends, ".rela.plt", elf.DT_JMPREL, elf.DT_PLTRELSZ},
		{elf.SHT_INIT_ARRAY, "", elf.DT_INIT_ARRAY, elf.DT_INIT_ARRAYSZ},
		{elf.SHT_FINI_ARRAY, "", elf.DT_FINI_ARRAY, elf.DT_FINI_ARRAYSZ},
	} {
		start, size := at(table.kind, table.name)
		if start != dynamic.value[table.start] || table.size != 0 && size != dynamic.value[table.size] {
			return fmt.Errorf("its section %s%v is not what the loader reads", table.name, table.kind)
		}
	}
	tables := 0
	for _, p := range f.Progs {
		start, size := at(elf.SHT_DYNAMIC, "")
		if p.Type == elf.PT_DYNAMIC {
			tables++
			if p.Vaddr != start || p.Filesz != size {
				return errors.New("its dynamic section is not what the loader reads")
			}
		}
	}
	if tables != 1 {
		return errors.New("the loader reads no dynamic section, or several")
	}
	return nil
}

// relocate notes what the loader writes where.
func (o *object) relocate() error {
	for _, s := range o.sections {
		switch s.Type {
		case elf.SHT_RELA: //nolint:misspell // it is called so
		case elf.SHT_REL, shtRelr:
			return fmt.Errorf("it has relocations of an unknown form (%s)", s.Name)
		default:
			continue
		}
		data, err := s.Data()
		if err != nil {
			return err
		}
		for entry := range slices.Chunk(data, 24) {
			if len(entry) < 24 {
				return fmt.Errorf("its section %s is truncated", s.Name)
			}
			at := binary.LittleEndian.Uint64(entry)
			if _, twice := o.slots[at]; twice {
				return fmt.Errorf("the loader writes to %#x twice", at)
			}
			o.slots[at] = o.target(binary.LittleEndian.Uint64(entry[8:]), binary.LittleEndian.Uint64(entry[16:]))
			if written := o.sectionAt(at); written == nil || kindOf(written) != isSlots && kindOf(written) != isData {
				return fmt.Errorf("the loader writes to %#x, where no data is", at)
			}
		}
	}
	return nil
}

const shtRelr elf.SectionType = 19

// target returns what a relocation writes.
func (o *object) target(info, addend uint64) target {
	switch form := elf.R_X86_64(uint32(info)); form {
	case elf.R_X86_64_RELATIVE:
		return target{at: addend, inside: true}
	case elf.R_X86_64_GLOB_DAT, elf.R_X86_64_JMP_SLOT, elf.R_X86_64_64:
		i := info >> 32
		if i == 0 || i > uint64(len(o.symbols)) {
			return target{why: "an unknown symbol"}
		}
		s := o.symbols[i-1]
		t := target{name: s.Name, version: s.Version, at: s.Value + addend, inside: s.Section != elf.SHN_UNDEF}
		if of := elf.ST_TYPE(s.Info); t.inside && of != elf.STT_FUNC && of != elf.STT_OBJECT && of != elf.STT_NOTYPE {
			t.why = fmt.Sprintf("%s, which is chosen when the file is loaded (%v)", s.Name, of)
		}
		return t
	default:
		return target{why: fmt.Sprintf("an address that the loader computes (%v)", form)}
	}
}

// kind is what a section is for.
type kind int

const (
	isOther kind = iota // tables for the loader and the unwinder, which no code reads
	isCode
	isStub  // jumps through a slot
	isSlots // addresses that the loader writes
	isData
)

func kindOf(s *elf.Section) kind {
	switch {
	case s.Flags&elf.SHF_EXECINSTR != 0 && slices.Contains([]string{".plt", ".plt.got", ".plt.sec"}, s.Name):
		return isStub
	case s.Flags&elf.SHF_EXECINSTR != 0:
		return isCode
	case s.Name == ".got", s.Name == ".got.plt":
		return isSlots
	case slices.Contains([]string{".eh_frame", ".eh_frame_hdr", ".gcc_except_table"}, s.Name):
		return isOther
	}
	switch s.Type {
	case elf.SHT_PROGBITS, elf.SHT_NOBITS, elf.SHT_INIT_ARRAY, elf.SHT_FINI_ARRAY, elf.SHT_PREINIT_ARRAY:
		return isData
	default:
		return isOther
	}
}
