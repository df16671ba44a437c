package cuda

import (
	"bytes"
	"cmp"
	"context"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/base/scratch"
	"github.com/goatnote-inc/pawl/measure"
)

// maxFile is the maximum size of a device code file that is read into memory.
const maxFile = 256 << 20

// fatbinMagic starts a file of several cubins and PTX.
const fatbinMagic = 0xBA55ED50

// HasCode reports whether a file contains device code: a cubin, a fatbin, or a program, library or
// object with a fatbin inside.
func HasCode(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, elfHeader)
	if _, err := io.ReadFull(f, head); err != nil {
		return false
	}
	if binary.LittleEndian.Uint32(head) == fatbinMagic || isCubin(head) {
		return true
	}
	if !bytes.HasPrefix(head, []byte(elf.ELFMAG)) {
		return false
	}
	e, err := elf.NewFile(f)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(e.Sections, func(s *elf.Section) bool {
		return s.Name == ".nv_fatbin" || s.Name == "__nv_relfatbin"
	})
}

func isCubin(head []byte) bool {
	return bytes.HasPrefix(head, []byte(elf.ELFMAG)) && elf.Machine(binary.LittleEndian.Uint16(head[18:])) == Machine
}

// Cubins reads all device code of a file.
func Cubins(ctx context.Context, path string) ([]Cubin, error) {
	if c, err := cubinFile(path); err == nil {
		return []Cubin{c}, nil
	}
	tool, err := Tool("cuobjdump")
	if err != nil {
		return nil, err
	}
	folder, err := scratch.New("", "cubins")
	if err != nil {
		return nil, fmt.Errorf("cannot extract the device code of %s: %w", path, err)
	}
	defer folder.Remove()
	dir := folder.Path
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	if _, err := run(ctx, dir, "", tool, "-xelf", "all", path); err != nil {
		return nil, fmt.Errorf("cannot extract the device code: %w", err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.cubin"))
	if err != nil {
		return nil, err
	}
	var list []Cubin
	for _, f := range files {
		c, err := cubinFile(f)
		if err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return list, nil
}

func cubinFile(path string) (Cubin, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Cubin{}, err
	}
	if info.Size() > maxFile {
		return Cubin{}, fmt.Errorf("%s has %d MB; the limit is %d MB", path, info.Size()>>20, maxFile>>20)
	}
	f, err := os.Open(path)
	if err != nil {
		return Cubin{}, err
	}
	defer f.Close()
	head := make([]byte, elfHeader)
	if _, err := io.ReadFull(f, head); err != nil || !isCubin(head) {
		return Cubin{}, errors.New("not a cubin")
	}
	data, err := io.ReadAll(io.MultiReader(bytes.NewReader(head), f))
	if err != nil {
		return Cubin{}, fmt.Errorf("read %s: %w", path, err)
	}
	return ReadCubin(data)
}

// Inspect returns the resource usage of every kernel in the files, sorted by name and architecture.
// log is the log of the build, for spills and remarks; it may be empty. Files without device code are
// skipped.
func Inspect(ctx context.Context, files []string, log string) ([]measure.Kernel, error) {
	var all []measure.Kernel
	seen := map[string]bool{}
	for _, file := range files {
		if !HasCode(file) {
			continue
		}
		kernels, err := inspect(ctx, file)
		if err != nil {
			return nil, err
		}
		for _, k := range kernels {
			// The same kernel may be in two files: an object and the program it is linked into.
			if key := fmt.Sprint(k.Symbol, k.Arch, k.Registers, k.SharedBytes, k.StackBytes); !seen[key] {
				seen[key] = true
				all = append(all, k)
			}
		}
	}
	addFromLog(all, ReadPtxas(log).Entries)
	name(ctx, all)
	slices.SortStableFunc(all, func(a, b measure.Kernel) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Arch, b.Arch))
	})
	return all, nil
}

func inspect(ctx context.Context, file string) ([]measure.Kernel, error) {
	tool, err := Tool("cuobjdump")
	if err != nil {
		return nil, fmt.Errorf("cannot read the kernels of %s: %w", file, err)
	}
	out, err := run(ctx, "", "", tool, "-res-usage", file)
	if err != nil {
		return nil, fmt.Errorf("cannot read the kernels of %s: %w", file, err)
	}
	cubins, err := Cubins(ctx, file)
	if err != nil {
		return nil, err
	}
	var list []measure.Kernel
	for _, u := range ReadUsage(out) {
		if u.Arch == "" && len(cubins) == 1 {
			u.Arch = cubins[0].Arch
		}
		code := find(cubins, u)
		if !code.Kernel {
			continue // a device function: the kernels that call it include its usage
		}
		list = append(list, measure.Kernel{
			Symbol: u.Symbol, Arch: u.Arch, Registers: u.Registers, SharedBytes: u.static(),
			StackBytes: u.Stack, LocalBytes: u.Local, ConstantBytes: u.Constant, MaxThreads: code.MaxThreads,
		})
	}
	return list, nil
}

func find(cubins []Cubin, u Usage) Code {
	for _, c := range cubins {
		if c.Arch != strings.TrimRight(u.Arch, "af") {
			continue
		}
		if i := slices.IndexFunc(c.Kernels, func(k Code) bool { return k.Symbol == u.Symbol }); i >= 0 {
			return c.Kernels[i]
		}
	}
	return Code{}
}

// static returns the shared memory that the kernel itself declares. From sm_90 on, cuobjdump adds
// what the system reserves per block, if the kernel declares any.
func (u Usage) static() int {
	const hopper = 90
	arch, err := gpu.FindArch(u.Arch)
	if err != nil || number(strings.TrimLeft(arch.Name, "sm_")) < hopper {
		return u.Shared
	}
	return max(0, u.Shared-arch.SharedReserved.Value)
}

// addFromLog adds what only the log contains.
func addFromLog(kernels []measure.Kernel, entries []Entry) {
	for i := range kernels {
		k := &kernels[i]
		j := slices.IndexFunc(entries, func(e Entry) bool { return e.Symbol == k.Symbol && e.Arch == k.Arch })
		if j >= 0 && entries[j].Told {
			e := entries[j]
			k.Barriers, k.Remarks = e.Barriers, e.Remarks
			k.Spill = &measure.Spill{StoreBytes: e.SpillStores, LoadBytes: e.SpillLoads}
		}
		if k.Spill == nil && k.StackBytes == 0 && k.LocalBytes == 0 {
			k.Spill = &measure.Spill{} // without a stack, nothing can spill
		}
	}
}

func name(ctx context.Context, kernels []measure.Kernel) {
	symbols := make([]string, len(kernels))
	for i, k := range kernels {
		symbols[i] = k.Symbol
	}
	for i, n := range Demangle(ctx, symbols) {
		kernels[i].Name = Short(n)
		if kernels[i].Name == kernels[i].Symbol {
			kernels[i].Symbol = ""
		}
	}
}
