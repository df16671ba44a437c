package codeid

import (
	"cmp"
	"context"
	"crypto/sha256"
	"debug/elf"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/kernel/build/cuda"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/measure/codediff"
)

// Data is the name for data shared by all functions: constants, tables, initial values.
const Data = codediff.Data

// maxText is the maximum size of a host program's code to disassemble, in bytes. More would take
// longer than the explanation is worth.
const maxText = 8 << 20

// Of identifies the machine code in the files: cubins, fatbins, objects, libraries and programs. It
// skips other files, and also host code if objdump is not installed.
func Of(ctx context.Context, files []string) ([]measure.CodeDigest, error) {
	var all collected
	for _, file := range files {
		if cuda.HasCode(file) {
			cubins, err := cuda.Cubins(ctx, file)
			if err != nil {
				return nil, fmt.Errorf("cannot identify the code of %s: %w", file, err)
			}
			for _, c := range cubins {
				for _, k := range c.Kernels {
					all.add(k.Symbol, c.Arch, k.Digest)
				}
				all.add(Data, c.Arch, c.Data)
			}
		}
		if err := all.host(ctx, file); err != nil {
			return nil, fmt.Errorf("cannot identify the code of %s: %w", file, err)
		}
	}
	return all.digests(ctx), nil
}

// Describe adds to the facts of a build what its outputs in dir contain: the kernels and their
// resource usage, and the digest of every function. log is the log of the build.
func Describe(ctx context.Context, dir string, facts *measure.BuildFacts, log string) error {
	var files []string
	for _, o := range facts.Outputs {
		files = append(files, filepath.Join(dir, filepath.FromSlash(o.Path)))
	}
	kernels, err := cuda.Inspect(ctx, files, log)
	if err != nil {
		return err
	}
	code, err := Of(ctx, files)
	if err != nil {
		return err
	}
	facts.Kernels, facts.Code = kernels, code
	return nil
}

// collected holds digests by symbol and architecture. A function with the same code in several files
// counts once.
type collected map[[2]string][]string

func (c *collected) add(symbol, arch, digest string) {
	if *c == nil {
		*c = collected{}
	}
	if key := [2]string{symbol, arch}; digest != "" && !slices.Contains((*c)[key], digest) {
		(*c)[key] = append((*c)[key], digest)
	}
}

// digests returns the digests under readable function names.
func (c collected) digests(ctx context.Context) []measure.CodeDigest {
	keys := slices.SortedFunc(maps.Keys(c), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) })
	symbols := make([]string, len(keys))
	for i, k := range keys {
		symbols[i] = k[0]
	}
	named := collected{}
	for i, name := range cuda.Demangle(ctx, symbols) {
		if name != Data {
			name = cuda.Short(name)
		}
		for _, d := range c[keys[i]] {
			named.add(name, keys[i][1], d)
		}
	}
	var list []measure.CodeDigest
	for key, digests := range named {
		digest := digests[0]
		if len(digests) > 1 { // overloads, and functions that are local to a file
			slices.Sort(digests)
			h := sha256.New()
			h.Write([]byte(strings.Join(digests, "\n")))
			digest = digestOf(h)
		}
		list = append(list, measure.CodeDigest{Kernel: key[0], Arch: key[1], Digest: digest})
	}
	slices.SortFunc(list, func(a, b measure.CodeDigest) int {
		return cmp.Or(strings.Compare(a.Kernel, b.Kernel), strings.Compare(a.Arch, b.Arch))
	})
	return list
}

func (c *collected) host(ctx context.Context, file string) error {
	text, arch, err := disassemble(ctx, file)
	if err != nil || text == "" {
		return err
	}
	data, err := readOnly(file)
	if err != nil {
		return err
	}
	c.add(Data, arch, data)
	for _, fn := range ReadDisassembly(text) {
		c.add(fn.Name, arch, fn.Digest)
	}
	return nil
}

// disassemble returns the output of objdump for the host code of a file. It is empty, without an error,
// if the file has no host code or too much of it, or if objdump is not installed.
func disassemble(ctx context.Context, file string) (text, arch string, err error) {
	f, err := elf.Open(file)
	if err != nil {
		return "", "", nil // a file that is not ELF has no host code
	}
	defer f.Close()
	size := uint64(0)
	for _, s := range f.Sections {
		if s.Flags&elf.SHF_EXECINSTR != 0 {
			size += s.Size
		}
	}
	objdump, err := exec.LookPath("objdump")
	if err != nil || size == 0 || size > maxText {
		return "", "", nil
	}
	arch = strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(f.Machine.String(), "EM_"), "_", "-"))
	text, err = cuda.Output(ctx, objdump, "-d", "-r", "-w", "--no-show-raw-insn", file)
	return text, arch, err
}

// readOnly returns the digest of a program's constants; empty if it has none.
func readOnly(file string) (string, error) {
	f, err := elf.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h, found := sha256.New(), false
	for _, s := range f.Sections {
		if !strings.HasPrefix(s.Name, ".rodata") || s.Type != elf.SHT_PROGBITS || s.Flags&elf.SHF_COMPRESSED != 0 {
			continue
		}
		found = true
		if _, err := io.Copy(h, io.NewSectionReader(s, 0, int64(min(s.FileSize, 1<<30)))); err != nil {
			return "", fmt.Errorf("read %s: %w", s.Name, err)
		}
	}
	if !found {
		return "", nil
	}
	return digestOf(h), nil
}
